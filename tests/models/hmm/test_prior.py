"""What a fit takes over from an earlier one, beside the same by plain loops over words."""

import dataclasses

import numpy as np
import pytest

from pairweave.models.hmm import hmm, prior
from pairweave.models.hmm.hmm import HmmConfig, HmmModel, fit
from pairweave.models.hmm.prior import Earlier, evidence_of, joined, prior_of
from pairweave.transforms.kernels.hmm.hmm import JUMPS, bucket_of
from pairweave.transforms.kernels.hmm.model1 import FIXED_POINT
from tests.makers.hmm_corpora import link_rows, plain_table
from tests.makers.real_pairs import real_pairs


@pytest.fixture(scope="module")
def pairs(shared_data):
    """Return real pairs."""
    return real_pairs(shared_data, count=700)


@pytest.fixture(scope="module")
def fitted(pairs):
    """Return a fit on most of them."""
    return fit(plain_table(pairs[:600]), HmmConfig())


@pytest.fixture(scope="module")
def earlier(fitted):
    """Return the parts of this fit."""
    return fitted.parts


@pytest.fixture(scope="module")
def words(pairs):
    """Return the vocabularies of a few other pairs."""
    parts = fit(plain_table(pairs[600:650]), HmmConfig()).parts
    return parts.source, parts.target


def links_by_words(evidence):
    """Return the expected links of each pair of words."""
    sides = [side.words.words.to_pylist() for side in (evidence.source, evidence.target)]
    return {
        (sides[0][row], sides[1][column]): links
        for row, column, links in zip(
            evidence.rows.tolist(), evidence.columns.tolist(), evidence.links.tolist(), strict=True
        )
    }


def test_expected_links_are_those_of_the_fit(earlier):
    evidence = evidence_of(earlier)
    for ends, known in (
        (evidence.rows, earlier.source_words),
        (evidence.columns, earlier.target_words),
    ):
        mass = np.bincount(ends, evidence.links, len(known.mass) - 1)
        # Entries that the back-off replaces are not kept: a word lacks little of its links.
        assert np.abs(mass - known.mass[:-1]).max() < 0.05
        assert mass.sum() == pytest.approx(known.mass.sum(), rel=1e-3)


def test_pseudo_counts_are_what_plain_loops_say(earlier, words):
    evidence = evidence_of(earlier)
    source, target = (
        joined(own, side.words, 10_000)
        for own, side in zip(words, (evidence.source, evidence.target), strict=True)
    )
    made = prior_of(evidence, source, target)
    links = links_by_words(evidence)
    mass = {}
    for pair, count in links.items():
        for side in range(2):
            mass[side, pair[side]] = mass.get((side, pair[side]), 0.0) + count
    names = source.words.to_pylist(), target.words.to_pylist()
    actual = {
        (names[0][key >> 32], names[1][key & 0xFFFFFFFF]): count / FIXED_POINT
        for key, count in zip(made.keys.tolist(), made.links.tolist(), strict=True)
    }
    assert actual.keys() == links.keys()
    for pair, count in links.items():
        most = max(mass[0, pair[0]], mass[1, pair[1]], 10.0)
        assert actual[pair] == pytest.approx(count * 10.0 / most, abs=1e-6)
    assert made.keys.tolist() == sorted(made.keys.tolist())


def test_jumps_after_a_word_are_as_many_as_its_links_and_at_most_ten(earlier, words):
    evidence = evidence_of(earlier)
    source, target = (
        joined(own, side.words, 10_000)
        for own, side in zip(words, (evidence.source, evidence.target), strict=True)
    )
    made = prior_of(evidence, source, target)
    buckets = [0.0] * made.after_source.shape[1]
    for distance in range(-JUMPS, JUMPS + 1):
        buckets[bucket_of(distance)] += float(earlier.jumps[0][distance + JUMPS])
    numbers = {word: number for number, word in enumerate(source.words.to_pylist())}
    for row, word in enumerate(earlier.source.words.to_pylist()):
        weights = [
            share * float(factor)
            for share, factor in zip(buckets, earlier.source_factors[row], strict=True)
        ]
        times = min(float(earlier.source_words.mass[row]), 10.0)
        wanted = [times * weight / sum(weights) for weight in weights]
        assert made.after_source[numbers[word]] / FIXED_POINT == pytest.approx(wanted, abs=1e-5)
    assert not made.after_source[-2:].any()
    new = [numbers[word] for word in words[0].words.to_pylist()]
    unknown = set(new) - {numbers[word] for word in earlier.source.words.to_pylist()}
    assert unknown
    assert not made.after_source[sorted(unknown)].any()


def test_jumps_and_words_without_a_partner_have_a_limit(earlier, words, monkeypatch):
    monkeypatch.setattr(prior, "MAX_JUMPS", 50.0)
    monkeypatch.setattr(prior, "MAX_ALONE", 20.0)
    evidence = evidence_of(earlier)
    source, target = (
        joined(own, side.words, 10_000)
        for own, side in zip(words, (evidence.source, evidence.target), strict=True)
    )
    made = prior_of(evidence, source, target)
    assert made.jumps.sum(axis=1) == pytest.approx([50, 50])
    assert made.jumps[0] / 50 == pytest.approx(earlier.jumps[0] / earlier.jumps[0].sum())
    for null in (made.null_source, made.null_target):
        assert null.sum() / FIXED_POINT == pytest.approx(20, abs=1e-3)


def test_a_joined_vocabulary_counts_both_and_keeps_the_commonest(earlier, words):
    own = dict(zip(words[0].words.to_pylist(), words[0].counts.tolist(), strict=True))
    theirs = dict(
        zip(earlier.source.words.to_pylist(), earlier.source.counts.tolist(), strict=True)
    )
    made = joined(words[0], earlier.source, 10_000)
    counts = dict(zip(made.words.to_pylist(), made.counts.tolist(), strict=True))
    assert counts == {
        word: own.get(word, 0) + min(theirs.get(word, 0), 10) for word in own | theirs
    }
    few = joined(words[0], earlier.source, 50)
    assert few.words.to_pylist() == made.words.to_pylist()[:50]
    assert made.counts.tolist() == sorted(made.counts.tolist(), reverse=True)


def test_exchanged_evidence_is_that_of_the_other_direction(earlier):
    evidence = evidence_of(earlier)
    links = links_by_words(evidence)
    exchanged = evidence.exchanged()
    assert links_by_words(exchanged) == {(b, a): count for (a, b), count in links.items()}
    keys = (exchanged.rows << 32) | exchanged.columns
    assert (np.diff(keys) > 0).all()
    assert exchanged.source is evidence.target


def test_words_of_the_earlier_fit_alone_are_linked(pairs, fitted, earlier):
    new = plain_table(pairs[600:603])
    test = plain_table(pairs[:40])
    whole = fitted.align(test)
    few = fit(new, HmmConfig()).align(test)
    started = fit(new, HmmConfig(), earlier=Earlier(earlier, "d")).align(test)

    def shared(made):
        sides = [map(set, link_rows(table, "forward")) for table in (made, whole)]
        return sum(len(one & other) for one, other in zip(*sides, strict=True))

    assert shared(started) > 1.2 * shared(few)
    assert shared(started) > 0.8 * shared(whole)


def test_an_exchanged_fit_serves_the_other_direction(pairs, fitted, earlier):
    new = plain_table([(target, source) for source, target in pairs[600:603]])
    straight, exchanged = (
        fit(new, HmmConfig(), earlier=Earlier(earlier, "d", exchanged=way)) for way in (False, True)
    )
    test = plain_table([(target, source) for source, target in pairs[:40]])
    wanted = [
        {(target, source) for source, target in links}
        for links in link_rows(fitted.align(plain_table(pairs[:40])), "forward")
    ]
    right = [
        sum(
            len(set(actual) & links)
            for actual, links in zip(link_rows(model.align(test), "reverse"), wanted, strict=True)
        )
        for model in (straight, exchanged)
    ]
    assert right[1] > 1.2 * right[0]
    assert exchanged.report["prior"] == {"digest": "d", "exchanged": True, "used": True}


def test_a_vocabulary_with_words_of_the_earlier_fit_has_its_limit_too(pairs, earlier):
    config = HmmConfig(max_vocabulary=30)
    parts = fit(plain_table(pairs[600:603]), config, earlier=Earlier(earlier, "d")).parts
    assert (len(parts.source), len(parts.target)) == (30, 30)


def test_threads_change_no_byte_and_the_earlier_fit_does(pairs, earlier):
    new = plain_table(pairs[600:640])
    one, two = (
        fit(new, HmmConfig(), threads, Earlier(earlier, "d")).to_files() for threads in (1, 3)
    )
    assert one == two
    assert one["lexicon.arrow"] != fit(new, HmmConfig()).to_files()["lexicon.arrow"]


def test_enough_pairs_need_no_earlier_fit(pairs, earlier, monkeypatch):
    new = plain_table(pairs[600:640])
    alone = fit(new, HmmConfig()).to_files()
    monkeypatch.setattr(hmm, "FEW_PAIRS", 0)
    monkeypatch.setattr(hmm, "is_better", lambda *_: True)
    for enough, used in ((40, False), (41, True)):
        monkeypatch.setattr(hmm, "ENOUGH_PAIRS", enough)
        model = fit(new, HmmConfig(), earlier=Earlier(earlier, "d"))
        assert model.report["prior"]["used"] == used
        assert (model.to_files()["lexicon.arrow"] == alone["lexicon.arrow"]) == (not used)


def test_the_earlier_fit_is_used_where_both_directions_agree_better_with_it(
    pairs, earlier, monkeypatch
):
    new = plain_table(pairs[600:640])
    alone = fit(new, HmmConfig()).to_files()["lexicon.arrow"]
    with_it = fit(new, HmmConfig(), earlier=Earlier(earlier, "d")).to_files()["lexicon.arrow"]
    monkeypatch.setattr(hmm, "FEW_PAIRS", 40)
    for better, wanted in ((True, with_it), (False, alone)):
        asked = []
        monkeypatch.setattr(
            hmm, "is_better", lambda *given, to=asked, say=better: to.append(given) or say
        )
        model = fit(new, HmmConfig(), earlier=Earlier(earlier, "d"))
        assert model.to_files()["lexicon.arrow"] == wanted
        report = model.report["prior"]
        assert report["used"] == better
        assert asked == [(report["agreement"], report["agreement_without"])]
        assert all(0 < value <= 1 for value in asked[0])


def test_last_words_are_linked_with_an_earlier_fit_too(pairs):
    stopped = [(f"{source} .", f"{target} .") for source, target in pairs]
    before = Earlier(fit(plain_table(stopped[:600]), HmmConfig()).parts, "d")
    made = fit(plain_table(stopped[600:640]), HmmConfig(), earlier=before)
    by_jumps = HmmModel(dataclasses.replace(made.parts, last_share=0.0))
    source, target = pairs[1]
    turned = plain_table([(f"{source} .", " ".join(reversed(target.split())) + " .")])
    last = len(source.split()), len(target.split())
    with_share, without = (
        {
            (link["source"], link["target"]): link["probability"]
            for link in model.with_soft_links(1e-4).align(turned)["forward"][0].as_py()
        }
        for model in (made, by_jumps)
    )
    assert with_share[last] > without[last]
