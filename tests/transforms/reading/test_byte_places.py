"""Bad bytes are placed in the whole file, in whichever unit they are read."""

import gzip

import pytest

from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import ReadLimits
from tests.makers.reading import moses, read_plan, single

LINES = {
    "tsv": [b"a%d\tb%d\n", b"a\xff\tb\n"],
    "jsonl": [b'{"source": "a%d", "target": "b%d"}\n', b'{"source": "a\xff", "target": "b"}\n'],
    "en": [b"a%d b%d\n", b"a\xff b\n"],
}
GOOD = 5


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("unit_rows", [1, 2, 100])
def test_a_bad_byte_has_its_place_in_the_file_whatever_the_units(
    tmp_path, kind, is_packed, unit_rows
):
    good, bad = LINES[kind]
    text = b"".join(good % (number, number) for number in range(GOOD)) + bad
    path = tmp_path / (f"a.{kind}.gz" if is_packed else f"a.{kind}")
    path.write_bytes(gzip.compress(text) if is_packed else text)
    if kind == "en":
        (tmp_path / "a.de").write_text("t\n" * (GOOD + 1))
        given = moses(path, tmp_path / "a.de")
    else:
        given = single(path)
    plan = make_plan([given], ReadLimits(), unit_rows)
    rows = read_plan(plan)
    assert [row["reason"] for row in rows] == [None] * GOOD + ["invalid_utf8"]
    at = text.index(b"\xff")
    of_line = at - text.rindex(b"\n", 0, at) - 1
    what = "line" if kind == "jsonl" else "source"
    expected = f"{what}: 0xFF at byte {of_line} of the line, byte {at} of the file"
    assert rows[-1]["detail"] == expected
    assert len(plan.units) == (1 if is_packed else -(-(GOOD + 1) // unit_rows))
