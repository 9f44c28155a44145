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
    (found,) = screen(batch(row(LONG, "kurz")), ScreenConfig()).to_pylist()
    assert (found["stage"], found["reason"]) == ("screen", "too_long")
    assert found["source"] is None
    assert found["target"] == "kurz"
    assert found["raw"] == LONG.encode()[:4096]
    assert found["detail"] == (
        f"10000 tokens > 250; source: {BYTES} bytes, left out; raw contains the start of the source"
    )


def test_a_kept_row_and_an_ordinary_rejected_one_stay_as_they_are():
    rows = [
        row(LONG, LONG),
        row("x" * REJECTED_TEXT_BYTES, "t", reason="too_long", detail="why"),
        row(LONG, "t", reason="too_long"),
    ]
    found = left_out(*rows)
    assert found[:2] == batch(*rows[:2]).to_pylist()
    assert found[2]["detail"] == (
        f"source: {BYTES} bytes, left out; raw contains the start of the source"
    )


def test_the_start_of_what_could_not_be_read_stays():
    (found,) = left_out(
        row(LONG, None, reason="invalid_utf8", detail="target: 0xFF", raw=b"\xff bad")
    )
    assert found["raw"] == b"\xff bad"
    assert found["detail"] == f"target: 0xFF; source: {BYTES} bytes, left out"


def test_of_several_long_texts_the_first_one_s_start_is_kept():
    (found,) = left_out(row("kurz", LONG, translation="z" * 20_000, reason="excluded"))
    assert [found[side] for side in ("source", "target", "translation")] == ["kurz", None, None]
    assert found["raw"] == LONG.encode()[:4096]
    assert found["detail"] == (
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
    (found,) = mark_rejected(table, Stage.TAG, Reject.NO_PHRASE_PAIR, None).to_pylist()
    assert found["target"] is None
    assert found["detail"].startswith(f"target: {BYTES} bytes")


def test_texts_whose_own_tags_are_too_many_to_keep_are_not_kept_without_them():
    marked = [parse_markup("<b>w</b> " * 3_000, HTML) for _ in range(2)]
    markup = pair_markup(*marked).to_json()
    assert len(markup) > REJECTED_TEXT_BYTES
    (found,) = left_out(row(marked[0].text, "kurz", reason="too_long", markup=markup))
    assert [found[name] for name in ("source", "target", "markup")] == [None, None, None]


def test_tags_are_put_back_into_the_text_that_is_kept():
    long, short = parse_markup(f"<b>{LONG}</b>", HTML), parse_markup("<b>kurz</b>", HTML)
    markup = pair_markup(long, short).to_json()
    rows = leave_out_long_texts(batch(row(long.text, short.text, reason="too_long", markup=markup)))
    table = rejects_of(pa.Table.from_batches([rows], schemas.ROWS))
    assert table.column("source").to_pylist() == [None]
    assert table.column("target").to_pylist() == ["<b>kurz</b>"]
