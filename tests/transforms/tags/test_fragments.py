import dataclasses
import itertools

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.translators.lexical_translator import LexicalTranslator
from pairweave.transforms import ids, schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels.hmm.fragments import Translations
from pairweave.transforms.tags.fragments import FragmentConfig, find_fragments, hash_words
from pairweave.transforms.tags.text_fragments import TextFragments
from pairweave.transforms.text.tokens import TokenConfig, add_tokens, tokenize
from pairweave.transforms.text.whole_words import pair_cuts
from tests.makers import corpora, rows
from tests.oracles.slow_fragments import find_slowly, fold

WORDS = TokenConfig()
BLANKS = TokenConfig("whitespace")


def table_of(pairs, tokens=BLANKS, languages=("en", "fr")):
    """Return TOKENS rows of (source, target)."""
    made = [
        rows.pair(
            number,
            source,
            target,
            id=xxhash.xxh3_128_hexdigest(f"{number}".encode()),
            source_lang=languages[0],
            target_lang=languages[1],
            line=number,
        )
        for number, (source, target) in enumerate(pairs, 1)
    ]
    return add_tokens(pa.Table.from_pylist(made, schema=schemas.PAIRS), tokens)


@dataclasses.dataclass
class Dictionary:
    """A translator that knows what it was told, word by word and best first."""

    entries: dict
    translates_words_cheaply: bool = False
    calls: list = dataclasses.field(default_factory=list)

    def texts(self, words):
        """Return the translations of folded words, as lists."""
        if len(words) == 1:
            return [text.split() for text in self.entries.get(words[0], [])]
        result = self.entries.get(" ".join(words))
        if result is not None:
            return [text.split() for text in result]
        singles = [(self.entries.get(word) or [""])[0].split() for word in words]
        return [list(itertools.chain(*singles))] if all(singles) else []

    def translate(self, fragments, source_lang, target_lang):
        self.calls.append((list(fragments), source_lang, target_lang))
        made = [self.texts([fold(word) for word in text.split()]) for text in fragments]
        columns = pa.array([" ".join(words) for texts in made for words in texts], pa.string())
        words = hash_words(columns, tokenize(columns, BLANKS))[0]
        offsets = np.cumsum([0, *map(len, made)], dtype=np.int64)
        return Translations(offsets, words.offsets, words.hashes)


def boxes_of(found):
    """Return the phrases of each row as (source start, end, target start, end)."""
    return [
        [tuple(box.values())[:4] for box in boxes] for boxes in found.table["phrases"].to_pylist()
    ]


CAT = Dictionary({"the": ["le", "la"], "black": ["noir"], "cat": ["chat"], "sleeps": ["dort"]})


def test_what_is_found_translated_is_a_phrase_pair():
    table = table_of([("cat sleeps", "Chat DORT")])
    actual = find_fragments(table, CAT, FragmentConfig(max_tags=9))
    assert actual.table.schema == schemas.PHRASES
    actual.table.validate(full=True)
    assert sorted(boxes_of(actual)[0]) == [(0, 1, 0, 1), (0, 2, 0, 2), (1, 2, 1, 2)]
    assert actual.tagged.tolist() == [True]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("cat cat", "chat"),
        ("cat", "chat chat"),
        ("the", "le la"),
        ("!", "!"),
        ("dog", "chien"),
        ("", "chat"),
        ("cat", ""),
    ],
)
def test_what_is_not_there_or_there_twice_is_passed_over(source, target):
    actual = find_fragments(table_of([(source, target)]), CAT, FragmentConfig())
    assert boxes_of(actual) == [[]]
    assert not actual.tagged.any()


def test_a_longer_reading_round_a_shorter_one_is_no_second_meaning():
    entries = {"cat": ["petit chat", "chat"]}
    actual = find_fragments(
        table_of([("cat", "un petit chat")]), Dictionary(entries), FragmentConfig()
    )
    assert boxes_of(actual) == [[(0, 1, 1, 3)]]


def test_a_rival_word_makes_a_fragment_doubtful_where_words_are_known():
    entries = {"of": ["de"], "from": ["de"]}
    table = table_of([("of x from", "y de")])
    actual = find_fragments(table, Dictionary(entries), FragmentConfig(max_tags=1))
    assert len(boxes_of(actual)[0]) == 1
    actual = find_fragments(
        table, Dictionary(entries, translates_words_cheaply=True), FragmentConfig()
    )
    assert boxes_of(actual) == [[]]


def test_the_place_must_be_one_where_a_tag_may_stand():
    entries = {"site": ["http"], "end": ["b"]}
    table = table_of([("site end", "http://a.b c")], TokenConfig("words"))
    assert boxes_of(find_fragments(table, Dictionary(entries), FragmentConfig())) == [[]]


def test_a_translation_of_nothing_but_punctuation_is_passed_over():
    table = table_of([("and so", "& also")])
    entries = {"and": ["&"], "so": ["also"]}
    actual = find_fragments(table, Dictionary(entries), FragmentConfig(max_tags=9))
    assert sorted(boxes_of(actual)[0]) == [(0, 2, 0, 2), (1, 2, 1, 2)]
    old = FragmentConfig(max_tags=9, punctuation=True)
    assert (0, 1, 0, 1) in boxes_of(find_fragments(table, Dictionary(entries), old))[0]


def test_elements_of_the_text_itself_are_not_parted():
    entries = {"cat": ["chat"], "black": ["noir"]}
    pairs = [("<b>black cat</b>", "<b>chat noir</b>")]
    words = ["<b>black", "cat</b>", "<b>chat", "noir</b>"]
    entries |= {words[0]: [words[3]], words[1]: [words[2]]}
    actual = find_fragments(table_of(pairs), Dictionary(entries), FragmentConfig())
    assert boxes_of(actual) == [[]]


words = st.lists(st.sampled_from(["A", "b", "c", "é", ",", "d"]), max_size=7).map(" ".join)
dictionaries = st.dictionaries(
    st.sampled_from(["a", "b", "c", fold("é"), "a b", "b c", "c d a"]),
    st.lists(st.sampled_from(["a", "b", "c", fold("é"), "a b", "d c", "b b", ","]), max_size=3),
)


@settings(max_examples=200)
@given(
    st.lists(st.tuples(words, words), min_size=1, max_size=4),
    dictionaries,
    st.booleans(),
    st.builds(
        FragmentConfig,
        max_words=st.integers(1, 4),
        max_tags=st.integers(1, 4),
        nesting=st.sampled_from(["proper", "free"]),
        punctuation=st.booleans(),
        seed=st.integers(0, 5),
    ),
)
def test_what_is_found_is_what_plain_python_finds(pairs, entries, translates_words_cheaply, config):
    table = table_of(pairs)
    translator = Dictionary(entries, translates_words_cheaply)
    actual = boxes_of(find_fragments(table, translator, config))
    keys = ids.pair_keys(table["id"]).tolist()
    cuts = [column.to_pylist() for column in pair_cuts(table)]
    for row, (source, target) in enumerate(pairs):
        pair = {
            "key": keys[row],
            "source": [fold(word) for word in source.split()],
            "target": [fold(word) for word in target.split()],
            "source_cuts": cuts[0][row],
            "target_cuts": cuts[1][row],
        }
        expected = find_slowly(
            pair, translator.texts, config, translates_words_cheaply=translates_words_cheaply
        )
        assert actual[row] == expected


@pytest.mark.parametrize(("nesting", "taken"), [("free", 2), ("proper", 1)])
def test_fragments_may_cross_where_that_is_wanted_however_late_they_are_drawn(nesting, taken):
    entries = {"c d": ["x y"], "d e": ["y z"]}
    table = table_of([("a b c d e f g h", "x y z")])
    crossing = {(2, 4, 0, 2), (3, 5, 1, 3)}
    for seed in range(12):
        config = FragmentConfig(max_tags=9, nesting=nesting, seed=seed)
        (actual,) = boxes_of(find_fragments(table, Dictionary(entries), config))
        assert len(actual) == taken
        assert set(actual) <= crossing


def some_pairs(count):
    return [(f"cat w{n} sleeps", "chat" if n % 3 else "x") for n in range(count)]


def test_a_share_is_reached_exactly_and_holds_every_smaller_one():
    table = table_of(some_pairs(300))
    chosen = []
    for share in (0.01, 0.02, 0.05, 0.1, 0.15, 0.66):
        actual = find_fragments(table, CAT, FragmentConfig(share=share))
        assert actual.tagged.sum() == round(share * 300)
        lengths = np.array([len(boxes) for boxes in boxes_of(actual)])
        assert np.array_equal(lengths > 0, actual.tagged)
        chosen.append({row: boxes_of(actual)[row] for row in np.flatnonzero(actual.tagged)})
    for fewer, more in itertools.pairwise(chosen):
        assert fewer.items() < more.items()


def test_a_share_that_cannot_be_reached_takes_all_there_are():
    actual = find_fragments(table_of(some_pairs(300)), CAT, FragmentConfig(share=1.0))
    assert actual.tagged.sum() == 200
    assert actual.counts["wanted_pairs"] == actual.counts["tried_pairs"] == 300


def test_what_is_found_of_a_pair_does_not_depend_on_the_others():
    pairs = some_pairs(40)
    table = table_of(pairs)
    together = boxes_of(find_fragments(table, CAT, FragmentConfig()))
    for row in range(0, 40, 7):
        alone = find_fragments(table[row : row + 1], CAT, FragmentConfig())
        assert boxes_of(alone) == [together[row]]


def test_fragments_are_translated_in_batches_and_each_once():
    translator = Dictionary(CAT.entries)
    actual = find_fragments(table_of(some_pairs(300)), translator, FragmentConfig())
    asked = [fragment for call, *_ in translator.calls for fragment in call]
    assert len(asked) == len(set(asked)) == actual.counts["translated_fragments"]
    assert len(translator.calls) == actual.counts["translator_calls"] <= 3
    assert actual.counts["tried_fragments"] <= actual.counts["fragments_in_tried_pairs"] == 300 * 6


def test_a_fragment_is_translated_once_however_many_pairs_are_tried():
    table = table_of([("cat", "chien")] * 30 + [("cat", "chat")] * 2)
    translator = Dictionary(CAT.entries)
    found = find_fragments(table, translator, FragmentConfig(share=0.05))
    assert found.counts["tried_pairs"] > 10
    assert translator.calls == [(["cat"], "en", "fr")]


def test_every_pair_of_languages_is_asked_for_by_itself():
    tables = [table_of([("cat", "chat")]), table_of([("cat", "x")], languages=("en", "de"))]
    translator = Dictionary(CAT.entries)
    actual = find_fragments(pa.concat_tables(tables), translator, FragmentConfig())
    assert [tuple(call[1:]) for call in translator.calls] == [("en", "de"), ("en", "fr")]
    assert actual.tagged.tolist() == [True, False]


def test_an_empty_table_has_no_fragments():
    actual = find_fragments(schemas.TOKENS.empty_table(), CAT, FragmentConfig())
    assert actual.table.schema == schemas.PHRASES
    assert actual.table.num_rows == 0


class Stops:
    """Translates into capitals with a full stop; one text it refuses."""

    def translate(self, texts, _source_lang, _target_lang):
        return [None if text == "no" else f"{text.upper()}." for text in texts]


def test_texts_of_any_translator_are_compared_by_their_words():
    translator = TextFragments(Stops().translate, WORDS)
    assert not translator.translates_words_cheaply
    pairs = [("a small cat", "oh A SMALL CAT !"), ("no", "no.")]
    actual = find_fragments(table_of(pairs, WORDS), translator, FragmentConfig(max_tags=1))
    ((box,), none) = boxes_of(actual)
    assert box[2] == box[0] + 1
    assert box[3] == box[1] + 1
    assert none == []


def test_a_fitted_lexicon_finds_what_a_grammar_says():
    pairs = [corpora.sentence(number) for number in range(300)]
    table = table_of(pairs, WORDS, ("en", "de"))
    model = fit(table, HmmConfig())
    actual = find_fragments(table, LexicalTranslator(model.parts, WORDS), FragmentConfig())
    assert actual.tagged.sum() > 270
    german = {
        english: word
        for entries in (corpora.NOUNS, corpora.ADJECTIVES, corpora.VERBS, corpora.ADVERBS)
        for english, word in entries.items()
    }
    right = known = 0
    sides = [table[name].to_pylist() for name in ("source_tokens", "target_tokens")]
    for row, boxes in enumerate(boxes_of(actual)):
        for a, b, c, d in boxes:
            source, target = (
                pairs[row][side][sides[side][row][first]["start"] : sides[side][row][last]["end"]]
                for side, first, last in ((0, a, b - 1), (1, c, d - 1))
            )
            if source in german:
                known += 1
                right += target == german[source]
    assert known > 100
    assert right / known > 0.98


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_words": 0}, "max_words of a fragment must be 1 to 64, got 0"),
        ({"max_tags": 10}, "max_tags must be 1 to 9, got 10"),
        ({"nesting": "crossed"}, "nesting 'crossed' is unknown"),
        ({"share": 1.1}, r"the share of tagged pairs must be 0 to 1, got 1\.1"),
        ({"seed": -1}, "seed must be 0 to"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ConfigError, match=message):
        FragmentConfig(**settings)
