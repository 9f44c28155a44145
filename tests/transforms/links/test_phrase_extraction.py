import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.links.phrase_extraction import PhraseConfig, extract_phrases
from tests.makers.linked_tables import symmetrized

LENGTHS = [(2, 2), (0, 0), (3, 3), (1, 2)]
LINKS = [[(0, 1), (1, 0)], [], [(0, 0), (2, 1)], [(0, 1)]]
PHRASES = [
    [(0, 1, 1, 2), (0, 2, 0, 2), (1, 2, 0, 1)],
    [],
    [(0, 1, 0, 1), (2, 3, 1, 2)],
    [(0, 1, 1, 2)],
]


def phrases_of(table):
    return [
        [tuple(phrase.values())[:4] for phrase in phrases]
        for phrases in table.column("phrases").to_pylist()
    ]


def test_phrases_are_added_as_a_column():
    table = symmetrized(LENGTHS, LINKS)
    actual = extract_phrases(table, PhraseConfig())
    assert actual.schema == schemas.PHRASES
    actual.validate(full=True)
    assert actual.drop_columns(["phrases"]) == table
    assert phrases_of(actual) == PHRASES


def test_slices_and_chunks_give_the_same_rows():
    table = symmetrized(LENGTHS, LINKS)
    for start in range(len(LENGTHS) + 1):
        assert phrases_of(extract_phrases(table[start:], PhraseConfig())) == PHRASES[start:]
    chunked = pa.concat_tables([table[2:], table[:0], table[:2]])
    assert phrases_of(extract_phrases(chunked, PhraseConfig())) == [*PHRASES[2:], *PHRASES[:2]]


def test_an_empty_table_stays_empty():
    actual = extract_phrases(schemas.SYMMETRIZED.empty_table(), PhraseConfig())
    assert actual.schema == schemas.PHRASES
    assert actual.num_rows == 0


def test_unaligned_words_and_the_limit_are_settings():
    table = symmetrized(LENGTHS, LINKS)
    assert phrases_of(extract_phrases(table, PhraseConfig(max_words=1)))[0] == [
        (0, 1, 1, 2),
        (1, 2, 0, 1),
    ]
    allowed = phrases_of(extract_phrases(table, PhraseConfig(unaligned_words="allow")))
    assert allowed[3] == [(0, 1, 0, 2), (0, 1, 1, 2)]


def cut_into(lengths, text):
    """Return tokens of these lengths, which touch unless a blank parts them."""
    tokens, start = [], 0
    for length in lengths:
        start += text[start] == " "
        tokens.append({"start": start, "end": start + length})
        start += length
    return tokens


def with_texts(rows, links):
    """Return a SYMMETRIZED table of (source, its token lengths, target, its token lengths)."""
    table = symmetrized([(len(row[1]), len(row[3])) for row in rows], links)
    for side, text in (("source", 0), ("target", 2)):
        tokens = [cut_into(row[text + 1], row[text]) for row in rows]
        for name, values in ((side, [row[text] for row in rows]), (f"{side}_tokens", tokens)):
            field = schemas.SYMMETRIZED.field(name)
            column = pa.array(values, field.type)
            table = table.set_column(table.schema.get_field_index(name), field, column)
    return table


def test_no_phrase_splits_a_word_on_either_side():
    links = [(0, 0), (1, 1), (2, 2)]
    table = with_texts(
        [
            ("unhappy cat", [2, 5, 3], "un chat triste", [2, 4, 6]),
            ("a sad cat", [1, 3, 3], "unglück lich", [2, 5, 4]),
        ],
        [links, links],
    )
    assert phrases_of(extract_phrases(table, PhraseConfig())) == [
        [(0, 2, 0, 2), (0, 3, 0, 3), (2, 3, 2, 3)],
        [(0, 2, 0, 2), (0, 3, 0, 3), (2, 3, 2, 3)],
    ]
    last = extract_phrases(table[1:], PhraseConfig())
    assert phrases_of(last) == [[(0, 2, 0, 2), (0, 3, 0, 3), (2, 3, 2, 3)]]


def test_no_phrase_splits_a_url_a_number_or_a_placeholder():
    table = with_texts(
        [("see http://a.b/c 1,000 {name}", [3, 4, 8, 2, 3, 1, 5], "x y z w", [1, 1, 1, 1])],
        [[(0, 0), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3)]],
    )
    actual = phrases_of(extract_phrases(table, PhraseConfig()))[0]
    assert {phrase[0] for phrase in actual} == {0, 1, 3, 5}
    assert {phrase[1] for phrase in actual} == {1, 3, 5, 7}
    assert len(actual) == 10


def test_wrong_links_name_their_pair():
    with pytest.raises(WorkerError, match=r"pair 0{31}1: the links in column links are outside"):
        extract_phrases(symmetrized([(1, 1), (1, 1)], [[], [(0, 1)]]), PhraseConfig())


@pytest.mark.parametrize("max_words", [0, -1, 513])
def test_the_limit_has_limits(max_words):
    with pytest.raises(ConfigError, match=f"max_words must be 1 to 512, got {max_words}"):
        PhraseConfig(max_words=max_words)


def test_an_unknown_value_names_the_nearest():
    with pytest.raises(ConfigError, match=r"unaligned_words 'forbidden' is unknown.*'forbid'"):
        PhraseConfig(unaligned_words="forbidden")
