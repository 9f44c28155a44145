"""Batches hold a bounded amount of text, and their rows have the numbers of their lines."""

import json

import pytest

from pairweave.transforms.errors import InputError
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.reading import rows
from pairweave.transforms.reading.scan import stored_file
from pairweave.transforms.units import ReadLimits
from tests.makers.reading import corpus, read_all, single

TEXT = "word " * 40


def tmx(folder):
    side = '<tuv xml:lang="{}"><seg>' + TEXT + "</seg></tuv>"
    units = f"<tu>{side.format('en')}{side.format('de')}</tu>" * 50
    path = folder / "a.tmx"
    path.write_text(f'<tmx version="1.4"><header srclang="en"/><body>{units}</body></tmx>')
    return single(path)


def po(folder):
    path = folder / "a.po"
    path.write_text(
        "".join(f'msgctxt "{n}"\nmsgid "{TEXT}"\nmsgstr "{TEXT}"\n\n' for n in range(50))
    )
    return single(path)


def lxm(folder):
    texts = {str(number): TEXT for number in range(50)}
    names = []
    for side, lang in (("source", "en"), ("target", "de")):
        names.append(folder / f"{lang}.json")
        names[-1].write_text(json.dumps({"lang": lang, "type": side, "text": texts}))
    return corpus(source_input=(str(names[0]),), target_input=(str(names[1]),), format="lxm")


@pytest.mark.parametrize("make", [tmx, po, lxm])
def test_long_texts_come_in_smaller_batches_and_none_is_lost(tmp_path, monkeypatch, make):
    (unit,) = make_plan([make(tmp_path)]).units
    whole = [row for batch in read_unit(unit, ReadLimits()) for row in batch.to_pylist()]
    monkeypatch.setattr(rows, "BATCH_BYTES", 4 * 1_500)
    batches = list(read_unit(unit, ReadLimits()))
    assert [batch.num_rows for batch in batches] == [4] * 12 + [2]
    assert [row for batch in batches for row in batch.to_pylist()] == whole


def write_rows(folder, kind):
    """Write seven pairs, and return them as a corpus."""
    pairs = [(f"a{n}", f"b{n}") for n in range(7)]
    path = folder / f"a.{kind}"
    if kind == "jsonl":
        lines = [json.dumps({"source": a, "target": b}) for a, b in pairs]
    else:
        lines = [("\t" if kind == "tsv" else ",").join(pair) for pair in pairs]
    path.write_text("".join(f"{line}\n" for line in lines))
    return single(path)


@pytest.mark.parametrize("kind", ["jsonl", "tsv", "csv"])
@pytest.mark.parametrize("batch_rows", [1, 2, 3, 10])
def test_rows_are_numbered_in_every_batch(tmp_path, kind, batch_rows):
    read = read_all(write_rows(tmp_path, kind), batch_rows=batch_rows)
    assert [(row["line"], row["source"], row["target"]) for row in read] == [
        (n + 1, f"a{n}", f"b{n}") for n in range(7)
    ]


def test_a_file_that_cannot_be_read_is_named_once(tmp_path):
    path = str(tmp_path / "gone.en")
    with pytest.raises(InputError) as caught:
        list(stored_file(path, "gone.en"))
    assert str(caught.value) == "gone.en: cannot be read: No such file or directory [unreadable]"
