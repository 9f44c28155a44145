import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairweave.models.sentences import document_reading
from pairweave.models.sentences.document_reading import DocumentSettings, read_documents
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.sentences.splitting import Splitting
from pairweave.transforms.text.sentence_splitter import installed_name
from pairweave.transforms.text.tokens import TokenConfig
from pairweave.transforms.units import CorpusInput, ReadLimits

DOCUMENTS = [
    ("http://a", "One.\nTwo.\n\nThree.", "Eins.\nZwei.\n\nDrei."),
    (None, "Four.", ""),
    ("b", "Five. Six.\r\nSeven.", "Fünf.\tSechs."),
]
SETTINGS = DocumentSettings(ReadLimits(), TokenConfig(), 1_000)


def write_jsonl(path):
    rows = [dict(zip(("url", "source", "target"), row, strict=True)) for row in DOCUMENTS]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def write_parquet(path):
    columns = zip(*DOCUMENTS, strict=True)
    pq.write_table(pa.table(dict(zip(("url", "source", "target"), columns, strict=True))), path)


def write_tsv(path):
    escapes = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"})
    lines = ["\t".join((text or "").translate(escapes) for text in row) for row in DOCUMENTS]
    path.write_text("url\tsource\ttarget\n" + "".join(f"{line}\n" for line in lines))


def plan(path, **given):
    corpus = CorpusInput(
        source_lang="en",
        target_lang="de",
        input=(str(path),),
        documents=True,
        **{"source_field": "source", "target_field": "target", "document_field": "url"} | given,
    )
    return make_plan([corpus], documents=True)


@pytest.mark.parametrize(
    ("name", "write"),
    [("d.jsonl", write_jsonl), ("d.parquet", write_parquet), ("d.tsv", write_tsv)],
)
def test_rows_of_a_table_are_documents(tmp_path, name, write):
    write(tmp_path / name)
    (unit,) = plan(tmp_path / name).units
    actual = list(read_documents(unit, SETTINGS, 7))
    assert [document.name.number for document in actual] == [7, 8, 9]
    first, second, third = (document.sides for document in actual)
    assert first[0].texts.to_pylist() == ["One.", "Two.", "Three."]
    assert first[0].paragraphs.tolist() == [0, 0, 1]
    assert set(first[0].lines.tolist()) == {2 if name == "d.tsv" else 1}
    assert (len(second[0]), len(second[1])) == (1, 0)
    assert third[0].texts.to_pylist() == ["Five. Six.", "Seven."]
    assert third[1].texts.to_pylist() == ["Fünf.\tSechs."]
    names = [document.name.id or None for document in actual]
    assert names == ["http://a", None, "b"]


def test_a_row_that_is_no_document_is_a_rejected_row_at_its_place(tmp_path):
    (tmp_path / "d.jsonl").write_text(
        '{"url": "a", "source": "One.", "target": 3}\n'
        '{"url": "b", "source": "A.", "target": "B."}\n'
    )
    (unit,) = plan(tmp_path / "d.jsonl").units
    wrong, right = read_documents(unit, SETTINGS)
    assert wrong.column("reason").to_pylist() == ["wrong_type"]
    assert (right.name.number, right.name.id) == (1, "b")


def test_a_document_of_too_many_sentences_is_a_rejected_row_at_its_place(tmp_path, monkeypatch):
    monkeypatch.setattr(document_reading, "MAX_DOCUMENT_LINES", 2)
    write_jsonl(tmp_path / "d.jsonl")
    (unit,) = plan(tmp_path / "d.jsonl").units
    long, *others = read_documents(unit, SETTINGS)
    (row,) = long.to_pylist()
    assert (row["line"], row["stage"], row["reason"]) == (1, "align", "document_too_long")
    assert row["detail"].startswith("has 3 sentences, but a document")
    assert (row["source"], row["target"]) == DOCUMENTS[0][1:]
    assert [document.name.number for document in others] == [1, 2]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_document_may_have_a_number_as_its_id(tmp_path, kind):
    row = {"id": 17, "source": "One.", "target": "Eins."}
    path = tmp_path / f"d.{kind}"
    if kind == "jsonl":
        path.write_text(json.dumps(row) + "\n" + json.dumps(row | {"id": [1]}) + "\n")
    else:
        pq.write_table(pa.Table.from_pylist([row]), path)
    (unit,) = plan(path, document_field="id").units
    document, *others = read_documents(unit, SETTINGS)
    assert document.name.id == "17"
    details = [other.column("detail").to_pylist() for other in others]
    expected = "document id: field 'id' should be a string or a whole number, is list"
    assert details == [[expected]] * (kind == "jsonl")


def test_a_text_that_is_no_list_of_paragraphs_is_rejected_with_what_is_expected(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps({"source": ["One.", ["Two.", 3]], "target": "Eins."}) + "\n")
    (unit,) = plan(path).units
    (rejects,) = read_documents(unit, SETTINGS)
    (detail,) = rejects.column("detail").to_pylist()
    assert "should be a string, or a list of paragraphs, each a string or a list" in detail


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_translation_is_not_the_name_of_a_document(tmp_path, kind):
    row = {"source": "One.", "target": "Eins.", "translation": "Ein."}
    path = tmp_path / f"d.{kind}"
    if kind == "jsonl":
        path.write_text(json.dumps(row) + "\n" + json.dumps(row | {"translation": 5}) + "\n")
    else:
        pq.write_table(pa.Table.from_pylist([row]), path)
    (unit,) = plan(path, document_field=None).units
    assert {document.name.id for document in read_documents(unit, SETTINGS)} == {None}


def test_lists_are_paragraphs(tmp_path):
    row = {"source": ["One.\nTwo.", ["Three.", "Four."]], "target": [["Eins."], "Zwei."]}
    (tmp_path / "d.jsonl").write_text(json.dumps(row) + "\n" + '{"source": [1], "target": "x"}\n')
    (unit,) = plan(tmp_path / "d.jsonl", document_field=None).units
    document, wrong = read_documents(unit, SETTINGS)
    source, target = document.sides
    assert source.texts.to_pylist() == ["One.", "Two.", "Three.", "Four."]
    assert source.paragraphs.tolist() == [0, 0, 1, 1]
    assert target.paragraphs.tolist() == [0, 1]
    assert wrong.column("reason").to_pylist() == ["wrong_type"]


@pytest.mark.skipif(installed_name() is None, reason="needs the extra split")
def test_texts_of_a_table_are_split(tmp_path):
    write_jsonl(tmp_path / "d.jsonl")
    (unit,) = plan(tmp_path / "d.jsonl").units
    settings = DocumentSettings(
        ReadLimits(), TokenConfig(), 1_000, Splitting("lines", installed_name())
    )
    third = list(read_documents(unit, settings))[2].sides
    assert third[0].texts.to_pylist() == ["Five.", "Six.", "Seven."]
    assert third[0].paragraphs.tolist() == [0, 0, 1]


def test_a_cell_over_the_limit_is_a_rejected_row(tmp_path):
    (tmp_path / "d.jsonl").write_text(json.dumps({"source": "a " * 600_000, "target": "b"}) + "\n")
    (unit,) = plan(tmp_path / "d.jsonl", document_field=None).units
    (wrong,) = read_documents(unit, SETTINGS)
    assert wrong.column("reason").to_pylist() == ["line_too_long"]


def test_a_file_without_a_counterpart_has_one_side(tmp_path):
    for folder, name in (("en", "a"), ("de", "a"), ("en", "b"), ("de", "c")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.txt").write_text("One.\nTwo.\n")
    corpus = CorpusInput(
        source_lang="en",
        target_lang="de",
        source_input=(f"{tmp_path}/en/**/*.txt",),
        target_input=(f"{tmp_path}/de/**/*.txt",),
        pair_by="name",
    )
    made = make_plan([corpus], documents=True)
    sizes = [
        [tuple(map(len, document.sides)) for document in read_documents(unit, SETTINGS)]
        for unit in made.units
    ]
    assert sizes == [[(2, 2)], [(2, 0)], [(0, 2)]]
    assert [notice.code for notice in made.notices].count("unpaired_document") == 2
