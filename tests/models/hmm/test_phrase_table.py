import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from pairweave.models.hmm import hmm_reference, phrase_table
from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.hmm.phrase_table import build_phrase_table, pack, unpack
from pairweave.models.translators.lexical_translator import LexicalTranslator
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.phrase_extraction import PhraseConfig, extract_phrases
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.tags.fragments import FragmentConfig, find_fragments, hash_words
from pairweave.transforms.text.tokens import TokenConfig, tokenize
from tests.makers import corpora
from tests.makers.hmm_corpora import plain_table
from tests.oracles.slow_fragments import fold
from tests.transforms.tags.test_fragments import boxes_of, table_of

BLANKS = TokenConfig("whitespace")
NOTHING = plain_table([("unheard", "unheard")])


@pytest.fixture(scope="module")
def table():
    """Return pairs to fit on."""
    pairs = [corpora.sentence(number) for number in range(300)]
    said = [(f"they kick the bucket {number}", f"ils vont mourir {number}") for number in range(9)]
    return plain_table([*pairs, *said])


@pytest.fixture(scope="module")
def model(table):
    return fit(table, HmmConfig())


def count_slowly(model, table):
    """Return (source words, target words) to (count, weight), by dictionaries."""
    linked = symmetrize(model.align(table), SymmetrizeConfig())
    rows = extract_phrases(linked, PhraseConfig(max_words=6)).to_pylist()
    counts = Counter()
    for row in rows:
        words = {
            side: [fold(row[side][span["start"] : span["end"]]) for span in row[f"{side}_tokens"]]
            for side in ("source", "target")
        }
        for box in row["phrases"]:
            counts[
                tuple(words["source"][box["source_start"] : box["source_end"]]),
                tuple(words["target"][box["target_start"] : box["target_end"]]),
            ] += 1
    sources, targets = Counter(), Counter()
    for (source, target), count in counts.items():
        sources[source] += count
        targets[target] += count
    weights = {
        pair: math.sqrt(count / sources[pair[0]] * count / targets[pair[1]])
        for pair, count in counts.items()
    }
    kept = {}
    for (source, target), count in counts.items():
        weight = weights[source, target]
        if count >= 2 and weight >= 0.3 and max(len(source), len(target)) > 1:
            kept[source, target] = (count, pytest.approx(weight))
    return kept


def entries_of(phrases, model):
    """Return what a table holds, in words."""
    names = [side.words.to_pylist() for side in (model.parts.source, model.parts.target)]
    return {
        tuple(
            tuple(words[number] for number in row[side])
            for words, side in zip(names, ("source", "target"), strict=True)
        ): (row["count"], row["weight"])
        for row in phrases.table.to_pylist()
    }


def test_phrases_are_counted_as_by_dictionaries(model, table):
    actual = entries_of(build_phrase_table(model, table), model)
    assert len(actual) > 100
    assert actual == count_slowly(model, table)


def test_neither_threads_nor_chunks_change_a_byte(model, table, monkeypatch):
    data = pack(build_phrase_table(model, table))
    assert pack(build_phrase_table(model, table, threads=2)) == data
    monkeypatch.setattr(phrase_table, "_CHUNK_PAIRS", 7)
    assert pack(build_phrase_table(model, table, threads=2)) == data
    assert pack(unpack(data, model)) == data


def test_a_table_holds_the_commonest_and_of_a_phrase_the_best(model, table, monkeypatch):
    everything = build_phrase_table(model, table)
    counts = sorted(everything.table["count"].to_pylist(), reverse=True)
    monkeypatch.setattr(phrase_table, "MAX_ENTRIES", 10)
    few = build_phrase_table(model, table)
    assert sorted(few.table["count"].to_pylist(), reverse=True) == counts[:10]
    assert entries_of(few, model).items() <= entries_of(everything, model).items()
    assert np.diff(everything.choice_offsets).max() <= phrase_table.MAX_CHOICES


def test_known_runs_of_words_are_found_and_no_others(model, table):
    phrases = build_phrase_table(model, table)
    rows = phrases.table["source"].to_pylist()
    firsts = phrases.choice_offsets[:-1].tolist()
    wanted = [rows[first] for first in firsts]
    unknown = [[-1], [*wanted[0], -1], [*wanted[0][:-1], wanted[0][-1] + 1], []]
    offsets = np.cumsum([0, *map(len, [*wanted, *unknown])])
    numbers = np.array([word for run in [*wanted, *unknown] for word in run], np.int32)
    expected = [
        *range(len(wanted)),
        *(wanted.index(run) if run in wanted else -1 for run in unknown),
    ]
    assert phrases.find(offsets, numbers).tolist() == expected


def test_a_phrase_is_translated_as_a_whole_first_then_by_its_words(model):
    phrases = phrases_of(model, {"kick the bucket": "mourir", "they": "ils vont"})
    alone = LexicalTranslator(model.parts, BLANKS)
    both = LexicalTranslator(model.parts, BLANKS, phrases)
    texts = ["kick the bucket", "kick the", "they", "kick unheard"]
    lexical, whole = (each.translate(texts, "en", "fr") for each in (alone, both))
    told = [[("mourir",)], [], [("ils", "vont")], []]
    for number, first in enumerate(told):
        own = [tuple(hashes_of(words)) for words in first]
        assert translations_of(whole, number) == own + translations_of(lexical, number)
    pairs = [("they kick the bucket", "demain mourir")]
    config = FragmentConfig(max_tags=9)
    actual, less = (find_fragments(table_of(pairs), each, config) for each in (both, alone))
    assert (1, 4, 1, 2) in boxes_of(actual)[0]
    assert (1, 4, 1, 2) not in boxes_of(less)[0]


def phrases_of(model, entries):
    """Return a table of some phrases, one translation each."""
    sides = (model.parts.source.words.to_pylist(), model.parts.target.words.to_pylist())
    columns = [
        [[words.index(word) for word in text.split()] for text in texts]
        for words, texts in zip(sides, (entries.keys(), entries.values()), strict=True)
    ]
    ones = [1] * len(entries)
    return phrase_table.PhraseTable(
        pa.table([*columns, ones, ones], schema=build_phrase_table(model, NOTHING).table.schema)
    )


def hashes_of(words):
    texts = pa.array([" ".join(words)])
    return hash_words(texts, tokenize(texts, BLANKS, "fr"))[0].hashes.tolist()


def translations_of(found, number):
    """Return the translations of a fragment as tuples of hashes."""
    offsets = found.word_offsets
    return [
        tuple(found.words[offsets[place] : offsets[place + 1]].tolist())
        for place in range(found.offsets[number], found.offsets[number + 1])
    ]


def test_a_model_directory_keeps_its_phrases_and_can_lack_them(model, table, tmp_path):
    phrases = build_phrase_table(model, table)
    full = hmm_reference.save(
        str(tmp_path / "full"), hmm_reference.pack(model, BLANKS, {}, phrases)
    )
    assert hmm_reference.load(full).phrases.table.equals(phrases.table)
    bare = hmm_reference.save(str(tmp_path / "bare"), hmm_reference.pack(model, BLANKS, {}))
    assert hmm_reference.load(bare).phrases is None
    (tmp_path / "full" / phrase_table.FILE).write_bytes(b"damaged")
    with pytest.raises(
        ConfigError, match=r"phrases\.arrow: its hash differs from the one in about\.json"
    ):
        hmm_reference.STORE.open(full)


def test_no_phrases_are_a_table_all_the_same():
    table = plain_table([("a", "b")])
    model = fit(table, HmmConfig(hmm_iterations=1))
    phrases = unpack(pack(build_phrase_table(model, table)), model)
    assert len(phrases) == 0
    assert phrases.find(np.array([0, 1]), np.array([0], np.int32)).tolist() == [-1]
    made = LexicalTranslator(model.parts, BLANKS, phrases).translate(["a"], "en", "fr")
    assert len(translations_of(made, 0)) == 1


def test_a_phrase_may_be_translated_by_a_single_word(model):
    phrases = phrases_of(model, {"kick the bucket": "mourir", "they": "ils vont"})
    assert unpack(pack(phrases), model).table == phrases.table


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: b"no arrow", "phrases.arrow is damaged"),
        (lambda table: write(table.drop_columns(["count"])), "expected columns"),
        (lambda table: write(with_words(table, 10**6)), "a source names no words of the model"),
        (lambda table: write(with_words(table, -1)), "a source names no words of the model"),
    ],
)
def test_a_damaged_table_is_refused(model, table, change, message):
    phrases = build_phrase_table(model, table)
    with pytest.raises(ConfigError, match=message):
        unpack(change(phrases.table), model)


def with_words(table, number):
    kind = table.schema.field("source").type
    rows = pa.array([[number]] * table.num_rows, kind)
    return table.set_column(0, table.schema.field("source"), rows)


def write(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()
