"""`tags project` with an encoder's probabilities, alone and beside those of hmm."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.neural import load_aligner
from pairweave.models.hmm.hmm import HmmConfig, HmmModel, fit
from pairweave.transforms.kernels.links.projection_points import POINT_EVIDENCE
from pairweave.transforms.kernels.sampling import draws
from pairweave.transforms.markup.markup import XML, parse_markup
from pairweave.transforms.projection.projection_weights import SPAN_NAMES, shipped_weights
from tests.makers.encoders import write_bert
from tests.makers.hmm_corpora import plain_table
from tests.makers.links import confirm_slowly
from tests.makers.runs import run_here, run_well_here
from tests.oracles import slow_projection

WORDS = ("red", "house", "old", "car", "we", "see")
LINES = 30
SOFT = 0.05
LEAST = 1e-4


def draw_words(number):
    """Return the numbers of two to four words."""
    keys = draws(np.uint64(number), np.arange(len(WORDS), dtype=np.uint64), np.uint64(0))
    return np.argsort(keys)[: 2 + number % 3].tolist()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write tagged lines, translations that turn them round, and an encoder."""
    there = tmp_path_factory.mktemp("encoder")
    write_bert(there / "bert", [" ".join(WORDS)], layers=2)
    sources, targets = [], []
    for number in range(LINES):
        order = draw_words(number)
        words = [WORDS[at] for at in order]
        targets.append(" ".join(reversed(words)))
        at = order[0] % len(words)
        words[at] = f"<b>{words[at]}</b>"
        sources.append(" ".join(words))
    for name, lines in (("s", sources), ("t", targets)):
        (there / name).write_text("".join(f"{line}\n" for line in lines))
    return there


def project(folder, *more):
    run_well_here(
        *("tags", "project", "--source_input", folder / "s", "--target_input", folder / "t"),
        *("--syntax", "xml", "--output", folder / "out", *more),
    )
    return (folder / "out").read_text().splitlines()


def texts_of(folder):
    sources = [parse_markup(line, XML) for line in (folder / "s").read_text().splitlines()]
    return sources, (folder / "t").read_text().splitlines()


def plain_links(table):
    """Return {(source, target): [forward, reverse]} of each LINKED row."""
    result = []
    for row in table.to_pylist():
        links = {}
        for number, name in enumerate(("forward", "reverse")):
            for link in row[name]:
                place = link["source"], link["target"]
                links.setdefault(place, [0.0, 0.0])[number] = link["probability"]
        result.append(links)
    return result


def placed_by_twin(source, target, links):
    """Return a line with its element at the best of all places, tried one by one."""
    spans = []
    for text in (source.text, target):
        starts = [0, *(at + 1 for at, char in enumerate(text) if char == " ")]
        spans.append([(start, start + len(text[start:].split(" ")[0])) for start in starts])
    thousandths = {
        place: tuple(round(probability * 1_000) for probability in both)
        for place, both in links.items()
    }
    pair = slow_projection.Pair(source.text, target, *spans, thousandths)
    weights = shipped_weights()
    names = (
        dict(zip(SPAN_NAMES, weights.spans, strict=True)),
        dict(zip(POINT_EVIDENCE, weights.points, strict=True)),
    )
    start, end = (tag.offset for tag in source.tags)
    _, opening, closing = slow_projection.candidates(
        pair, start, end, (False, False, False), *names
    )[0]
    return f"{target[:opening]}<b>{target[opening:closing]}</b>{target[closing:]}"


def encoded(folder, sources, targets):
    config = EncoderConfig(model=str(folder / "bert"), layer=2)
    pairs = [(source.text, target) for source, target in zip(sources, targets, strict=True)]
    return plain_links(load_aligner(config).align(plain_table(pairs)))


def test_an_encoder_s_probabilities_are_evidence_as_those_of_hmm_are(folder):
    sources, targets = texts_of(folder)
    links = encoded(folder, sources, targets)
    assert any(min(both) > 0 and max(both) < 1 for row in links for both in row.values())
    given = ("--aligner", "encoder", "--model", folder / "bert", "--layer", "2")
    assert project(folder, *given) == [
        placed_by_twin(*line) for line in zip(sources, targets, links, strict=True)
    ]


def test_a_second_aligner_confirms_the_links_of_the_first(folder):
    sources, targets = texts_of(folder)
    pairs = plain_table(
        [(source.text, target) for source, target in zip(sources, targets, strict=True)]
    )
    links = plain_links(fit(pairs, HmmConfig(), 1).with_soft_links(LEAST).align(pairs))
    others = encoded(folder, sources, targets)
    expected = [
        placed_by_twin(source, target, confirm_slowly(one, other, SOFT))
        for source, target, one, other in zip(sources, targets, links, others, strict=True)
    ]
    second = ("--second_aligner", f"encoder:{folder / 'bert'}:layer=2")
    sure = ("--confidence", folder / "sure")
    assert project(folder, *second, *sure) == expected
    of_both = (folder / "sure").read_bytes()
    project(folder, *sure)
    assert (folder / "sure").read_bytes() != of_both


@pytest.mark.parametrize(("second", "least"), [(False, SOFT), (True, LEAST)])
def test_a_second_aligner_is_asked_about_unlikely_links_too(folder, monkeypatch, second, least):
    asked = []
    soft_links = HmmModel.with_soft_links
    monkeypatch.setattr(
        HmmModel, "with_soft_links", lambda model, at: asked.append(at) or soft_links(model, at)
    )
    project(folder, *(("--second_aligner", f"encoder:{folder / 'bert'}:layer=2") if second else ()))
    assert asked == [least]


def test_weights_are_learnt_from_confirmed_probabilities_too(folder, tmp_path):
    sources, _ = texts_of(folder)
    for name, lines in (("s", map(str, sources)), ("t", map(str, sources))):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines) * 8)
    given = ("--source_input", tmp_path / "s", "--target_input", tmp_path / "t", "--syntax", "xml")
    out = ("--output", tmp_path / "w.json")
    alone = ("--aligner", "encoder", "--model", folder / "bert", "--layer", "2")
    both = (*alone, "--second_aligner", f"encoder:{folder / 'bert'}:layer=1")
    actual = []
    for more in (alone, both):
        run_well_here("tags", "fit_projection", *given, *out, *more)
        actual.append((tmp_path / "w.json").read_bytes())
    assert actual[0] != actual[1]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--rules", "paper"), "--second_aligner confirms links for --rules best"),
        (("--combine", "union"), "one process and one aligner; leave out --combine"),
        (("--links", "s"), "--second_aligner: applies only to an aligner, but links come from"),
    ],
)
def test_what_a_second_aligner_does_not_go_with_is_refused(folder, more, message):
    status, _, errors = run_here(
        *("tags", "project", "--source_input", folder / "s", "--target_input", folder / "t"),
        *("--syntax", "xml", "--output", folder / "no"),
        *("--second_aligner", f"encoder:{folder / 'bert'}:layer=2", *more),
    )
    assert status == 2
    assert message in errors
    assert not (folder / "no").exists()
