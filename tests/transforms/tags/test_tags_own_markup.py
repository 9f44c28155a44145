import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.kernels.tags.elements import Phrases
from pairweave.transforms.markup.own_markup import keep_whole
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tags import inject_tags
from pairweave.transforms.text.tokens import TokenConfig, tokenize
from tests import check_tagged
from tests.oracles import slow_tag_shapes
from tests.transforms.tags.test_tags import INFINITE, fewest_words, table_of

LINK = "<a href='x'>"


def phrases_of(source, target):
    """Return the phrase pairs left of a pair whose tokens are linked one to one, as texts."""
    count = len(tokenize(pa.array([source]), TokenConfig(), "en")[0])
    table = table_of([(source, target)], [[(i, i) for i in range(count)]], languages=("en", "de"))
    column = table["phrases"].combine_chunks()
    names = [field.name for field in schemas.PHRASE][:4]
    boxes = np.stack([column.values.field(name).to_numpy() for name in names])
    result = keep_whole(table, Phrases(column.offsets.to_numpy().astype(np.int64), boxes, boxes[0]))
    assert result.offsets.tolist() == [0, result.boxes.shape[1]]
    assert np.array_equal(result.weights, result.boxes[0])
    (pair,) = table.to_pylist()
    return {
        source[pair["source_tokens"][a]["start"] : pair["source_tokens"][b - 1]["end"]]
        for a, b, *_ in result.boxes.T.tolist()
    }


def test_a_phrase_holds_both_tags_of_an_element_or_neither():
    actual = phrases_of(f"Go {LINK}home</a> now", f"Geh {LINK}heim</a> jetzt")
    assert actual == {
        *("Go", "home", "now", f"{LINK}home</a>", f"Go {LINK}home</a>"),
        *(f"{LINK}home</a> now", f"Go {LINK}home</a> now"),
    }


def test_a_tag_without_a_partner_is_held_or_not():
    actual = phrases_of("One<br>two", "Eins<br>zwei")
    assert actual == {"One", "<br>", "two", "One<br>", "<br>two", "One<br>two"}


def test_a_comment_is_held_or_not():
    tag = "<!-- b -->"
    actual = phrases_of(f"One {tag} two", f"Eins {tag} zwei")
    assert actual == {"One", tag, "two", f"One {tag}", f"{tag} two", f"One {tag} two"}


def test_markup_of_one_side_alone_counts_too():
    assert phrases_of("Go home now", "<b>Geh heim</b>") == {"home", "now", "home now"}


def test_text_without_markup_keeps_all_phrase_pairs():
    assert len(phrases_of("a b < c > d", "a b < c > d")) == 6 * 7 // 2


def test_tags_that_the_text_has_of_its_own_are_not_crossed():
    sides = (
        f'Click <strong>Save</strong>, then {LINK}the <em class="x">long</em> page</a> below.',
        f'Klick <strong>Sichern</strong>, dann {LINK}die <em class="x">lange</em> Seite</a> unten.',
    )
    count = len(tokenize(pa.array([sides[0]]), TokenConfig(), "en")[0])
    links = [(i, i) for i in range(count)]
    table = table_of([sides] * 300, [links] * 300, languages=("en", "de"))
    rows, without = inject_tags(table, TagConfig(mix=INFINITE, tag_share=0.9))
    assert not without.any()
    crossed = 0
    for row in rows.to_pylist():
        for side in ("source", "target"):
            text, elements = check_tagged.parse_forms(row[side])
            for ((_, start, end),) in elements.values():
                check_tagged.check_own_markup(text, start, end)
                crossed += 1
    assert crossed > 1000


words = st.sampled_from(
    ["the", "<b>", "</b>", "<i>", "</i>", "<br/>", "<a href='x y'>", "</a>", "é"]
)


@given(st.lists(words, min_size=4, max_size=9), st.integers(0, 2**63 - 1))
def test_injection_beside_markup_equals_its_slow_twin(parts, seed):
    source, target = " ".join(parts), " ".join(reversed(parts))
    counts = [len(tokenize(pa.array([text]), TokenConfig(), "en")[0]) for text in (source, target)]
    links = [(i, counts[1] - 1 - i) for i in range(counts[0]) if i < counts[1]]
    table = table_of([(source, target)], [links], languages=("en", "de"))
    config = TagConfig(mix=INFINITE, tag_share=1.0, seed=seed)
    expected = [
        slow_tag_shapes.rows_of(
            pair,
            TagConfig(mix=INFINITE, tag_share=1.0, seed=seed, split_share=1e-300),
            fewest_words(pair),
        )
        for pair in table.to_pylist()
    ]
    rows, without = inject_tags(table, config)
    assert rows.to_pylist() == [row for actual in expected for row in actual]
    assert without.tolist() == [not actual for actual in expected]


def test_slices_of_a_table_keep_their_own_phrases():
    sides = [(f"Go {LINK}home {n}</a> now", f"Geh {LINK}heim {n}</a> jetzt") for n in range(6)]
    table = table_of(sides, [[(i, i) for i in range(6)]] * 6, languages=("en", "de"))
    config = TagConfig(mix=INFINITE, tag_share=1.0)
    whole = inject_tags(table, config)[0].to_pylist()
    parts = [inject_tags(table[start : start + 2], config)[0].to_pylist() for start in (0, 2, 4)]
    assert [row for part in parts for row in part] == whole
    assert len(whole) > 0


@pytest.mark.parametrize("text", ["<b", "a <", "3 < 4 > 2", "<>", "x<y"])
def test_what_is_no_tag_is_no_markup(text):
    table = table_of([(f"{text} w", f"{text} w")], [[]])
    boxes = np.zeros((4, 0), np.int16)
    phrases = Phrases(np.zeros(2, np.int64), boxes, np.zeros(0))
    assert keep_whole(table, phrases) is phrases
