import copy
import dataclasses
import hashlib
import json
import math
import re
import weakref

import numpy as np
import pyarrow as pa
import pytest

from pairweave.models.hmm import training
from pairweave.models.hmm.hmm import HmmConfig, HmmModel, fit
from pairweave.models.hmm.hmm_vocabulary import build_vocabulary, collect_vocabulary
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.kernels.hmm.hmm import BUCKETS, JUMPS, bucket_of
from pairweave.transforms.kernels.hmm.model1 import FIXED_POINT
from pairweave.transforms.kernels.sampling import mix64
from tests.makers.hmm_corpora import plain_table, tokens_table

WORDS = {
    "the": "das", "house": "haus", "book": "buch", "is": "ist", "small": "klein", "big": "gross",
    "red": "rot", "a": "ein", "tree": "baum", "water": "wasser", "old": "alt", "car": "auto",
}  # fmt: skip


def sentences():
    """Return pairs whose words translate one to one, in order but for the last two."""
    pairs = []
    names = list(WORDS)
    for first in range(12):
        for second in range(12):
            words = [names[first], names[(first + second) % 12], names[(second * 5 + 1) % 12], "."]
            other = [WORDS.get(word, word) for word in words]
            pairs.append((" ".join(words), " ".join([*other[:1], other[2], other[1], other[3]])))
    return pairs


@pytest.fixture(scope="module")
def corpus():
    return plain_table(sentences())


@pytest.fixture(scope="module")
def model(corpus):
    return fit(corpus, HmmConfig())


def long_pair(words):
    """Return a pair of so many words in no order, which translate one to one."""
    names = [list(WORDS)[mix64(np.uint64(number)) % np.uint64(12)] for number in range(words)]
    return " ".join(names), " ".join(WORDS[name] for name in names)


def links(table, column):
    return [[(link["source"], link["target"]) for link in row] for row in table[column].to_pylist()]


def test_words_are_linked_to_their_translations(corpus, model):
    made = model.align(corpus)
    assert made.schema.equals(schemas.LINKED)
    right = total = 0
    for column in ("forward", "reverse"):
        for (source, target), row in zip(sentences(), links(made, column), strict=True):
            for i, j in row:
                word = source.split()[i]
                right += WORDS.get(word, word) == target.split()[j]
                total += 1
    assert total > 0.9 * 2 * 4 * made.num_rows
    assert right > 0.98 * total


def test_links_are_sorted_and_have_probabilities(corpus, model):
    made = model.align(corpus)
    for column in ("forward", "reverse"):
        for row in made[column].to_pylist():
            ends = [(link["source"], link["target"]) for link in row]
            assert ends == sorted(set(ends))
            assert all(0.3 <= link["probability"] <= 1.0 for link in row)


def test_new_words_are_linked_by_their_letters_and_stems(model):
    made = model.align(
        plain_table(
            [
                ("the Zidanes is big .", "das ist Zidane gross ."),
                ("the books 1975 .", "das 1975 bucher ."),
            ]
        )
    )
    for column in ("forward", "reverse"):
        first, second = links(made, column)
        assert (1, 2) in first
        assert {(1, 2), (2, 1)} <= set(second)


def test_case_and_encoding_do_not_matter(model):
    made = model.align(plain_table([("the house is big", "x"), ("THE HOUSE IS BIG", "x")]))
    assert made["forward"][0] == made["forward"][1]


@pytest.mark.parametrize("decode", ["posterior", "viterbi"])
def test_a_pairs_links_depend_on_no_other_pair(corpus, decode):
    model = fit(corpus.slice(0, 60), HmmConfig(decode=decode))
    whole = model.align(corpus)
    parts = [model.align(corpus.slice(start, 37)) for start in range(0, corpus.num_rows, 37)]
    assert pa.concat_tables(parts).combine_chunks().equals(whole.combine_chunks())
    backwards = corpus.take(list(range(corpus.num_rows))[::-1])
    assert model.align(backwards)["forward"].to_pylist() == whole["forward"].to_pylist()[::-1]


def test_viterbi_links_a_word_at_most_once(corpus):
    made = fit(corpus.slice(0, 60), HmmConfig(decode="viterbi")).align(corpus)
    for row in links(made, "forward"):
        assert len({j for _, j in row}) == len(row)
    for row in links(made, "reverse"):
        assert len({i for i, _ in row}) == len(row)


def test_a_lower_threshold_gives_more_links_and_keeps_the_others(corpus, model):
    soft = model.with_threshold(0.05)
    assert soft.digest != model.digest
    assert model.with_threshold(model.config.threshold).digest == model.digest
    strict = model.with_threshold(0.999)
    for name in ("forward", "reverse"):
        actual = zip(*(m.align(corpus)[name].to_pylist() for m in (soft, strict)), strict=True)
        more = 0
        for many, few in actual:
            assert all(link in many for link in few)
            more += len(many) - len(few)
        assert more > 0
    with pytest.raises(ConfigError, match="threshold"):
        model.with_threshold(0)


def test_sides_may_be_empty_or_one_word(model):
    made = model.align(plain_table([("", ""), ("", "das haus"), ("house", ""), ("house", "haus")]))
    assert links(made, "forward") == [[], [], [], [(0, 0)]]
    assert links(made, "reverse") == [[], [], [], [(0, 0)]]
    assert model.align(plain_table([])).num_rows == 0


@pytest.mark.parametrize("pairs", [[("a", "b")], [("", "")], [("a b", ""), ("c", "d"), ("", "e")]])
def test_few_and_empty_pairs_can_be_fitted(pairs):
    model = fit(plain_table(pairs), HmmConfig())
    again = HmmModel.from_files(model.to_files())
    assert again.align(plain_table([("a b", "b c"), *pairs])).num_rows == len(pairs) + 1


def test_long_pairs_are_linked_through_windows(model):
    source, target = long_pair(720)
    made = model.align(plain_table([(source, target), (source, "das haus"), ("house", target)]))
    for column in ("forward", "reverse"):
        first, second, third = links(made, column)
        assert len(set(first) & {(k, k) for k in range(720)}) > 0.8 * 720
        assert all(i < 720 and j < 2 for i, j in second)
        assert all(i == 0 and j < 720 for i, j in third)


@pytest.mark.slow
def test_a_pair_of_32000_words_is_linked(model):
    made = model.align(plain_table([long_pair(32_000)]))
    actual = set(links(made, "forward")[0])
    assert len(actual & {(k, k) for k in range(32_000)}) > 0.8 * 32_000


def test_more_words_than_links_can_number_are_an_error(model):
    table = plain_table([("a", "b"), ("a " * 32_768, "b")])
    with pytest.raises(WorkerError, match=r"source_tokens has 32768 tokens.*32767"):
        model.align(table)


def test_threads_change_no_byte(corpus):
    big = pa.concat_tables([corpus] * 16)
    files = [fit(big, HmmConfig(hmm_iterations=2), threads).to_files() for threads in (1, 2, 3)]
    assert files[0] == files[1] == files[2]


def test_chunks_of_the_table_change_no_byte(corpus, model):
    chunked = pa.concat_tables([corpus.slice(0, 50), corpus.slice(50, 1), corpus.slice(51)])
    assert fit(chunked, HmmConfig()).to_files() == model.to_files()


def test_sides_in_other_chunks_are_the_same_pairs(corpus, model):
    source, target = (
        pa.concat_tables([corpus.slice(0, first), corpus.slice(first)]) for first in (2, 50)
    )
    table = pa.table(
        [(source if name.startswith("source") else target)[name] for name in corpus.column_names],
        schema=corpus.schema,
    )
    whole = model.align(corpus)
    assert model.align(table).combine_chunks().equals(whole.combine_chunks())


def statistics(parts, side):
    """Return how often each word of a side is linked, is linked to nothing, and occurs."""
    words = [*getattr(parts, side).words.to_pylist(), "unseen"]
    known = getattr(parts, f"{side}_words")
    return dict(zip(words, zip(known.mass, known.null, known.unigram, strict=True), strict=True))


def test_a_fit_of_exchanged_sides_has_exchanged_sides(corpus):
    config = HmmConfig(2, 2)
    turned = plain_table([(target, source) for source, target in sentences()])
    straight, exchanged = (fit(table, config).parts for table in (corpus, turned))
    for side, other in (("source", "target"), ("target", "source")):
        actual, expected = statistics(straight, side), statistics(exchanged, other)
        assert actual.keys() == expected.keys()
        for word, numbers in actual.items():
            assert numbers == pytest.approx(expected[word], rel=1e-5), word
    np.testing.assert_allclose(straight.jumps, exchanged.jumps[::-1], rtol=1e-5)


def test_rare_words_beyond_the_limit_are_unseen(corpus):
    model = fit(corpus, HmmConfig(max_vocabulary=5))
    assert model.report["source_vocabulary"] == 5
    assert model.align(corpus).num_rows == corpus.num_rows


def test_a_short_candidate_list_still_aligns(corpus):
    model = fit(corpus, HmmConfig(max_translations=1))
    made = links(model.align(corpus), "forward")
    assert sum(map(len, made)) > 3 * corpus.num_rows


@pytest.mark.parametrize(("most", "entries"), [(1, 3), (2, 6), (3, 9), (1_000, 9)])
def test_a_word_has_no_more_translations_than_the_limit(most, entries):
    config = HmmConfig(1, 1, max_translations=most)
    assert fit(plain_table([("a b c", "x y z")]), config).report["lexicon"] == entries


def test_files_give_the_same_model_back(corpus, model):
    files = model.to_files()
    again = HmmModel.from_files(files)
    assert again.to_files() == files
    assert again.digest == model.digest
    assert again.config == model.config
    assert again.align(corpus).equals(model.align(corpus))
    assert weakref.ref(again)() is again


def test_the_digest_follows_the_settings_that_decide_links(corpus, model):
    other = fit(corpus, HmmConfig(threshold=0.4))
    assert other.digest != model.digest
    assert re.fullmatch("[0-9a-f]{64}", model.digest)


def test_the_report_tells_of_the_fit(corpus, model):
    report = model.report
    assert report["pairs"] == corpus.num_rows
    assert report["source_tokens"] == report["target_tokens"] == 4 * corpus.num_rows
    assert report["source_vocabulary"] == report["target_vocabulary"] == len(WORDS) + 1
    assert len(report["log_likelihoods"]) == 6
    first, last = report["log_likelihoods"][0], report["log_likelihoods"][-1]
    assert last[0] > first[0]
    assert last[1] > first[1]


def replaced(files, name, data):
    return {**files, name: data}


def with_header(files, **changes):
    header = json.loads(files["model.json"])
    for key, value in changes.items():
        header[key] = value
    return replaced(files, "model.json", json.dumps(header).encode())


@pytest.mark.parametrize("words", [6, 20])
def test_last_full_stops_are_linked_after_words_in_another_order(model, words):
    source, target = long_pair(words)
    pair = plain_table([(f"{source} .", " ".join(reversed(target.split())) + " .")])
    by_jumps = HmmModel(dataclasses.replace(model.parts, last_share=0.0))
    for direction in ("forward", "reverse"):
        assert (words, words) in links(model.align(pair), direction)[0]
        assert (words, words) not in links(by_jumps.align(pair), direction)[0]


def test_damaged_files_are_refused_by_name(model):
    files = model.to_files()
    for name, data in files.items():
        if name == "model.json":
            continue
        with pytest.raises(ConfigError, match=f"{name} is damaged"):
            HmmModel.from_files(replaced(files, name, data[:-1] + bytes([data[-1] ^ 1])))
        with pytest.raises(ConfigError, match=f"{name} is missing"):
            HmmModel.from_files({key: files[key] for key in files if key != name})


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (None, "model.json is missing"),
        (b"{", "model.json is damaged"),
        (b"[]", "not the header"),
        (b'{"aligner": "other"}', "not the header"),
        (b'{"aligner": "hmm", "version": 99}', "expected version 5, found 99"),
        (b'{"aligner": "hmm", "version": 1}', "expected version 5, found 1; fit the model again"),
        (b'{"aligner": "hmm", "version": 2}', "config: is missing"),
        (b'{"aligner": "hmm", "version": 5}', "config: is missing"),
    ],
)
def test_a_bad_header_is_refused(model, header, message):
    files = model.to_files()
    if header is None:
        del files["model.json"]
    else:
        files["model.json"] = header
    with pytest.raises(ConfigError, match=message):
        HmmModel.from_files(files)


@pytest.mark.parametrize("share", [None, "0.1", 1.0])
def test_a_damaged_share_of_last_words_is_refused(model, share):
    files = model.to_files()
    header = {**json.loads(files["model.json"]), "last_share": share}
    if share is None:
        del header["last_share"]
    with pytest.raises(ConfigError, match="last_share"):
        HmmModel.from_files({**files, "model.json": json.dumps(header).encode()})


def test_a_model_of_an_older_version_has_no_share_of_last_words(model, corpus):
    older = dataclasses.replace(model.parts, last_share=0.0)
    files = HmmModel(older).to_files()
    header = json.loads(files["model.json"])
    del header["last_share"], header["syllables"]
    header["version"] = 2
    header["last_share"] = "unknown to older versions"
    again = HmmModel.from_files({**files, "model.json": json.dumps(header).encode()})
    assert again.parts.last_share == 0.0
    assert again.align(corpus).equals(HmmModel(older).align(corpus))
    assert not again.align(corpus).equals(model.align(corpus))


@pytest.mark.parametrize(("version", "syllables"), [(2, False), (3, False), (4, True)])
def test_of_the_older_versions_the_last_one_spells_out_syllables(model, version, syllables):
    files = with_header(model.to_files(), version=version)
    assert HmmModel.from_files(files).parts.syllables is syllables


def test_an_unknown_setting_in_the_header_is_refused(model):
    files = model.to_files()
    config = {**json.loads(files["model.json"])["config"], "magic": 1}
    with pytest.raises(ConfigError, match="magic"):
        HmmModel.from_files(with_header(files, config=config))


@pytest.mark.parametrize(
    "settings",
    [
        {"model1_iterations": 0},
        {"hmm_iterations": True},
        {"max_vocabulary": 1.5},
        {"decode": "best"},
        {"threshold": 0.00001},
        {"threshold": float("nan")},
        {"null_probability": 1},
        {"word_prior": "10"},
        {"word_prior": True},
        {"model1_iterations": 101},
        {"threshold": 1.01},
    ],
)
def test_settings_are_checked_when_made(settings):
    with pytest.raises(ConfigError, match=next(iter(settings))):
        HmmConfig(**settings)


def test_settings_may_have_the_values_at_their_limits():
    HmmConfig(model1_iterations=1, hmm_iterations=100, threshold=1.0, word_prior=0.01)
    HmmConfig(model1_iterations=100, hmm_iterations=1, threshold=1e-4, word_prior=1e4)


def test_settings_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        HmmConfig().threshold = 0.5


def test_nothing_to_fit_is_refused(corpus):
    with pytest.raises(ConfigError, match="got none"):
        fit(plain_table([]), HmmConfig())
    with pytest.raises(ConfigError, match="threads"):
        fit(corpus, HmmConfig(), threads=0)


def test_a_table_of_another_kind_is_refused(corpus, model):
    with pytest.raises(WorkerError, match="source_tokens"):
        model.align(corpus.drop_columns("source_tokens"))


def test_the_text_is_left_as_it_is(corpus, model):
    before = copy.deepcopy(corpus.to_pylist())
    made = model.align(corpus)
    assert made.drop_columns(["forward", "reverse"]).equals(corpus)
    assert corpus.to_pylist() == before


def test_words_are_counted_over_all_chunks_the_commonest_first():
    table = tokens_table([("b a a", [(0, 1), (2, 3), (4, 5)], "x", [(0, 1)])])
    other = tokens_table([("A c", [(0, 1), (2, 3)], "x", [(0, 1)])])
    actual = collect_vocabulary(pa.concat_tables([table, other]), "source", 10)
    assert actual.words.to_pylist()[0] == "a"
    assert actual.counts.tolist() == [3, 1, 1]
    assert sorted(actual.words.to_pylist()) == ["a", "b", "c"]


def test_a_vocabulary_with_one_word_twice_is_refused():
    with pytest.raises(ConfigError, match="'a' is twice"):
        build_vocabulary(pa.array(["a", "b", "a"]), pa.array([1, 1, 1]).to_numpy())


def resealed(files, name, change):
    """Return a model's files with one table changed, and the header's hash of it, too."""
    table = change(pa.ipc.open_file(pa.BufferReader(files[name])).read_all())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    data = sink.getvalue().to_pybytes()
    header = json.loads(files["model.json"])
    header["files"][name]["sha256"] = hashlib.sha256(data).hexdigest()
    return {**files, name: data, "model.json": json.dumps(header).encode()}


def without_first(table):
    return table.slice(1)


def turned(table):
    return table.take(pa.array(range(table.num_rows))[::-1])


def twice(table):
    return pa.concat_tables([table.slice(0, 1), table])


def with_zero(table):
    first = pa.array([0.0, *table.column(0).to_pylist()[1:]], pa.float32())
    return table.set_column(0, table.schema.field(0), first)


def with_null(table):
    name = table.column_names[-1]
    empty = pa.nulls(1, table.schema.field(name).type)
    column = pa.concat_arrays([empty, table[name].combine_chunks().slice(1)])
    return table.set_column(table.num_columns - 1, table.schema.field(name), column)


def with_first(value, column=-1):
    """Return a change of the first number of a column, by default of the last one."""

    def changed(table):
        number = column % table.num_columns
        field = table.schema.field(number)
        values = pa.array([value, *table.column(number).to_pylist()[1:]], field.type)
        return table.set_column(number, field, values)

    return changed


def with_unknown_target(table):
    beyond = pa.array([*table.column("target").to_pylist()[:-1], 1_000], pa.int32())
    return table.set_column(1, table.schema.field(1), beyond)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("jumps.arrow", with_zero, "jumps.arrow is damaged: a jump's weight is not above 0"),
        (
            "jumps.arrow",
            lambda table: table.rename_columns(["a", "b"]),
            "jumps.arrow: expected col",
        ),
        ("source_words.arrow", with_first(-1.0), "source_words.arrow .* column null has"),
        ("target_words.arrow", with_first(math.nan, 2), "target_words.arrow .* column mass has"),
        ("source_words.arrow", lambda table: table[:0], "source_words.arrow has no row for unseen"),
        ("lexicon.arrow", with_unknown_target, "lexicon.arrow: entries .* name no word"),
        ("jumps.arrow", without_first, "jumps.arrow: expected 129 rows, found 128"),
        ("jumps.arrow", twice, "jumps.arrow: expected 129 rows, found 130"),
        ("source_factors.arrow", without_first, "source_factors.arrow: expected 15 rows, found 14"),
        ("target_factors.arrow", with_zero, "target_factors.arrow is damaged: a factor is not"),
        ("lexicon.arrow", turned, "lexicon.arrow: entries are not sorted"),
        ("lexicon.arrow", twice, "lexicon.arrow: entries are not sorted"),
        ("stem_lexicon.arrow", turned, "stem_lexicon.arrow: entries are not sorted"),
        ("source_stems.arrow", without_first, "source_stems.arrow: expected .* stems"),
        *(
            (f"{name}.arrow", with_null, f"{name}.arrow has empty cells")
            for name in ("jumps", "lexicon", "stem_lexicon", "source_words", "target_stems")
        ),
    ],
)
def test_a_table_that_is_wrong_under_a_right_hash_is_refused(model, name, change, message):
    with pytest.raises(ConfigError, match=message):
        HmmModel.from_files(resealed(model.to_files(), name, change))


def test_a_fit_begins_and_is_smoothed_as_its_constants_say():
    jumps = training._first_jumps()
    at = JUMPS  # the place of distance 0
    assert jumps[0, at + 1] == jumps[1, at + 1] == 1.0
    assert jumps[0, at + 9] == jumps[0, at - 7] == pytest.approx(np.exp(-1.0))
    assert training.JUMP_PRIOR == 0.5
    assert training.WORD_JUMP_PRIOR == 10.0
    assert training.MIN_COUNT * 1024 == FIXED_POINT
    words = collect_vocabulary(plain_table([("a a a b", "x")]), "source", 10)
    # Three of four tokens are a, one is b; 60 links to nothing, all of a.
    counts = np.array([60, 0]) * FIXED_POINT
    expected = [(60 + 100 * 3 / 4) / 160, (100 / 4) / 160, (100 / 4) / 160]
    assert training._null(words, counts).tolist() == pytest.approx(expected)


def test_jumps_after_a_word_are_smoothed_by_those_after_all_words():
    shares = np.zeros(2 * JUMPS + 1)
    shares[[0, JUMPS, JUMPS + 1, 2 * JUMPS]] = 0.1, 0.2, 0.5, 0.2  # far back, 0, 1, far ahead
    shares += 1e-9
    row = np.zeros(BUCKETS, np.int64)
    row[bucket_of(0)] = 30 * FIXED_POINT  # thirty times the next word had the same state
    factors = training._factors(np.stack([row, 0 * row, row, row]), shares)
    # (30 + 10 * 0.2) / (30 + 10) of 0.2, and the others lose in the same proportion.
    same, other = 32 / 40 / 0.2, 10 / 40
    for index in (0, 3):
        assert factors[index, bucket_of(0)] == pytest.approx(same, rel=1e-5)
        assert factors[index, bucket_of(1)] == pytest.approx(other, rel=1e-5)
        assert factors[index, 0] == pytest.approx(other, rel=1e-5)
    assert factors[1].tolist() == pytest.approx([1.0] * BUCKETS)  # a word with no jumps
    assert factors[2].tolist() == [1.0] * BUCKETS  # an unseen word
