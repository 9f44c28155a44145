from pairweave.transforms import schemas
from pairweave.transforms.markup.markup import parse_markup
from pairweave.transforms.projection.cut_tables import cut_table, token_ranges
from pairweave.transforms.text.text_tables import token_table
from pairweave.transforms.text.tokens import TokenConfig

WORDS = TokenConfig("words")


def test_words_with_a_tag_inside_are_split_and_others_stay():
    sources = [parse_markup(text) for text in ("rate<x/>July", "a <b>cat</b>")]
    targets = ["KursJuli", "eine Katze"]
    table = token_table(([each.text for each in sources], targets), WORDS, ("en", "de"))
    assert token_ranges(table, "source") == [[(0, 8)], [(0, 1), (2, 5)]]
    cut = cut_table(table, sources, targets)
    assert token_ranges(cut, "source") == [[(0, 4), (4, 8)], [(0, 1), (2, 5)]]
    assert token_ranges(cut, "target") == [[(0, 4), (4, 8)], [(0, 4), (5, 10)]]
    schemas.require(cut, schemas.TOKENS)


def test_a_table_without_rows_stays_one():
    table = token_table(([], []), WORDS, ("en", "de"))
    assert cut_table(table, [], []).equals(table)
