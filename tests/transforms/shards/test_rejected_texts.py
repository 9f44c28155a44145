import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.markup.markup import HTML, parse_markup
from pairweave.transforms.markup.pair_markup import pair_markup
from pairweave.transforms.output.write import rejects_of
from pairweave.transforms.rejects import Reject, Stage
from pairweave.transforms.screen import ScreenConfig, screen
from pairweave.transforms.shards.merge import mark_rejected, merge_rows
from pairweave.transforms.shards.rejected_texts import REJECTED_TEXT_BYTES, leave_out_long_texts
from tests.makers.rows import batch, row

LONG = "wörd " * 10_000
BYTES = len(LONG.encode())


def left_out(*rows):
    return leave_out_long_texts(batch(*rows)).to_pylist()


def test_a_pair_that_the_screen_turns_away_travels_without_its_long_texts():
    (actual,) = screen(batch(row(LONG, "kurz")), ScreenConfig()).to_pylist()
    assert (actual["stage"], actual["reason"]) == ("screen", "too_long")
    assert actual["source"] is None
    assert actual["target"] == "kurz"
    assert actual["raw"] == LONG.encode()[:4096]
    assert actual["detail"] == (
        f"10000 tokens > 250; source: {BYTES} bytes, left out; raw contains the start of the source"
    )


def test_a_kept_row_and_an_ordinary_rejected_one_stay_as_they_are():
    rows = [
        row(LONG, LONG),
        row("x" * REJECTED_TEXT_BYTES, "t", reason="too_long", detail="why"),
        row(LONG, "t", reason="too_long"),
    ]
    actual = left_out(*rows)
    assert actual[:2] == batch(*rows[:2]).to_pylist()
    assert actual[2]["detail"] == (
        f"source: {BYTES} bytes, left out; raw contains the start of the source"
    )


def test_the_start_of_what_could_not_be_read_stays():
    (actual,) = left_out(
        row(LONG, None, reason="invalid_utf8", detail="target: 0xFF", raw=b"\xff bad")
    )
    assert actual["raw"] == b"\xff bad"
    assert actual["detail"] == f"target: 0xFF; source: {BYTES} bytes, left out"


def test_of_several_long_texts_the_first_one_s_start_is_kept():
    (actual,) = left_out(row("kurz", LONG, translation="z" * 20_000, reason="excluded"))
    assert [actual[side] for side in ("source", "target", "translation")] == ["kurz", None, None]
    assert actual["raw"] == LONG.encode()[:4096]
    assert actual["detail"] == (
        f"target: {BYTES} bytes, left out; translation: 20000 bytes, left out; "
        "raw contains the start of the target"
    )


def test_a_duplicate_s_long_texts_are_left_out_and_the_kept_row_s_are_not():
    parts = [pa.Table.from_batches([batch(row(LONG, "t", line=line))]) for line in (1, 2)]
    kept, rejected = merge_rows(parts)
    assert kept.column("source").to_pylist() == [LONG]
    assert rejected.column("source").to_pylist() == [None]
    assert rejected.column("detail")[0].as_py().startswith("of c f line 1; source: ")


def test_a_row_rejected_after_the_shuffle_loses_its_long_texts_too():
    table = pa.Table.from_batches([batch(row("s", LONG))])
    (actual,) = mark_rejected(table, Stage.TAG, Reject.NO_PHRASE_PAIR, None).to_pylist()
    assert actual["target"] is None
    assert actual["detail"].startswith(f"target: {BYTES} bytes")


def test_texts_whose_own_tags_are_too_many_to_keep_are_not_kept_without_them():
    marked = [parse_markup("<b>w</b> " * 3_000, HTML) for _ in range(2)]
    markup = pair_markup(*marked).to_json()
    assert len(markup) > REJECTED_TEXT_BYTES
    (actual,) = left_out(row(marked[0].text, "kurz", reason="too_long", markup=markup))
    assert [actual[name] for name in ("source", "target", "markup")] == [None, None, None]


def test_tags_are_put_back_into_the_text_that_is_kept():
    long, short = parse_markup(f"<b>{LONG}</b>", HTML), parse_markup("<b>kurz</b>", HTML)
    markup = pair_markup(long, short).to_json()
    rows = leave_out_long_texts(batch(row(long.text, short.text, reason="too_long", markup=markup)))
    table = rejects_of(pa.Table.from_batches([rows], schemas.ROWS))
    assert table.column("source").to_pylist() == [None]
    assert table.column("target").to_pylist() == ["<b>kurz</b>"]
