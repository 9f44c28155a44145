import itertools
import json
import shutil

import pyarrow.parquet as pq
import pytest

from pairweave.models.sentences import sentence_aligner
from pairweave.transforms.metrics.sentence_metrics import score_beads
from pairweave.transforms.sentences.bead_lines import Bead, read_beads
from pairweave.transforms.text import sentence_splitter
from pairweave.transforms.text.sentence_splitter import installed_name
from tests.makers import runs
from tests.makers.corpora import sentence
from tests.makers.documents import write_documents

COUNTS = (60, 40)
PARALLEL = ("--parallel_source_input", "a", "--parallel_target_input", "c")
pytestmark = pytest.mark.slow
needs_splitter = pytest.mark.skipif(
    installed_name() is None, reason="needs the extra split: pip install 'pairweave[split]'"
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the directory of documents and of a run on them, and the gold beads."""
    directory = tmp_path_factory.mktemp("documents")
    gold = write_documents(directory, COUNTS)
    for side, name in enumerate(("en", "de")):
        lines = "".join(f"{sentence(number)[side]}\n" for number in range(400))
        (directory / f"parallel.{name}").write_text(lines)
    runs.run_well_here(*command(), "--output", "out", "--beads", "beads", cwd=directory)
    return directory, gold


def command():
    return (
        *("bitext", "--source_input", "[0-9].en", "--target_input", "[0-9].de"),
        *("--source_lang", "en", "--target_lang", "de", "--workers", "1"),
        *("--parallel_source_input", "parallel.en", "--parallel_target_input", "parallel.de"),
    )


def rows_of(output, kind):
    return [
        row for path in sorted((output / kind).iterdir()) for row in pq.read_table(path).to_pylist()
    ]


def test_beads_and_rows_say_the_same_and_hold_every_sentence_once(finished):
    directory, _ = finished
    documents = read_beads(str(directory / "beads"))
    assert len(documents) == len(COUNTS)
    rows = rows_of(directory / "out", "data")
    beads = {
        (number, bead.source, bead.target)
        for number, actual in enumerate(documents)
        for bead in actual
    }
    for row in rows:
        place = tuple(row["source_sentences"]), tuple(row["target_sentences"])
        assert (row["document"], *place) in beads
        assert row["bead"] == f"{len(place[0])}-{len(place[1])}"
    for number, actual in enumerate(documents):
        for side, name in enumerate(("en", "de")):
            text = (directory / f"{number}.{name}").read_text().splitlines()
            sentences = [line for line in text if line]
            used = [sentence for bead in actual for sentence in bead[side]]
            assert used == list(range(len(sentences)))
            for row in rows:
                if row["document"] == number:
                    key = ("source", "target")[side]
                    wanted = " ".join(sentences[place] for place in row[f"{key}_sentences"])
                    assert row[key] == wanted


def test_every_bead_is_kept_or_rejected_for_a_reason(finished):
    directory, gold = finished
    manifest = json.loads((directory / "out/_manifest.json").read_text())
    documents = read_beads(str(directory / "beads"))
    actual = manifest["rows"]
    assert actual["read"] == sum(map(len, documents)) == actual["kept"] + actual["rejected"]
    rejected = rows_of(directory / "out", "rejects")
    assert {row["reason"] for row in rejected} <= {"unaligned", "low_score", "duplicate"}
    assert manifest["rejected"]["unaligned"] == sum(
        not (bead.source and bead.target) for beads in documents for bead in beads
    )
    hits = sum(
        len(set(map(tuple, beads)) & set(wanted))
        for beads, wanted in zip(documents, gold, strict=True)
    )
    # All sentences of this corpus have one shape and 24 words: others are told apart more easily.
    assert hits > 0.6 * sum(map(len, gold))


@pytest.mark.parametrize("damage", ["cut", "deleted"])
def test_beads_that_have_changed_since_the_run_are_not_written(finished, tmp_path, damage):
    directory, _ = finished
    shutil.copytree(directory, tmp_path / "copy")
    path = tmp_path / "copy/out/_receipts/beads-00001.txt"
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:100])
    else:
        path.unlink()
    words = (*command(), "--output", "out", "--beads", "again")
    status, _, errors = runs.run_here(*words, cwd=tmp_path / "copy")
    assert status == 2
    assert "_receipts/beads-00001.txt: " in errors.splitlines()[-1]
    assert "so the beads are not known" in errors.splitlines()[-1]
    assert not (tmp_path / "copy/again").exists()


def test_a_fitted_model_gives_the_same_beads_again(finished, tmp_path):
    directory, _ = finished
    words = command()[:9]
    model = directory / "out/models/hmm"
    runs.run_well(
        *words,
        "--workers",
        "2",
        "--model",
        model,
        "--output",
        tmp_path / "out",
        "--beads",
        tmp_path / "beads",
        cwd=directory,
    )
    assert (tmp_path / "beads").read_text() == (directory / "beads").read_text()


@needs_splitter
@pytest.mark.parametrize("kind", ["lines", "paragraphs"])
def test_paragraphs_are_split_and_no_character_is_lost(finished, tmp_path, kind):
    directory, _ = finished
    for number, name in itertools.product(range(len(COUNTS)), ("en", "de")):
        paragraphs = (directory / f"{number}.{name}").read_text().split("\n\n")
        glue = " " if kind == "lines" else "\n"
        lines = (glue.join(paragraph.split("\n")) for paragraph in paragraphs)
        (tmp_path / f"{number}.{name}").write_text("\n\n".join(lines) + "\n")
    runs.run_well_here(
        *(*command()[:9], "--model", directory / "out/models/hmm", "--output", "out"),
        *("--beads", "beads", "--split", kind, "--paragraphs", "first", "--workers", "1"),
        cwd=tmp_path,
    )
    plan = json.loads((tmp_path / "out/_plan.json").read_text())["configuration"]
    assert (plan["split"], plan["splitter"]) == (kind, installed_name())
    assert plan["paragraphs"] == "first"
    rows = rows_of(tmp_path / "out", "data") + rows_of(tmp_path / "out", "rejects")
    for side, name in (("source", "en"), ("target", "de")):
        read = [
            word
            for number in range(len(COUNTS))
            for word in (directory / f"{number}.{name}").read_text().split()
        ]
        assert sorted(" ".join(row[side] or "" for row in rows).split()) == sorted(read)
    for number, beads in enumerate(read_beads(str(tmp_path / "beads"))):
        for side, name in enumerate(("en", "de")):
            lines = (directory / f"{number}.{name}").read_text().splitlines()
            used = [sentence for bead in beads for sentence in bead[side]]
            assert used == list(range(sum(map(bool, lines))))


def test_a_missing_splitter_is_named_before_the_run(finished, tmp_path, monkeypatch):
    directory, _ = finished
    monkeypatch.setattr(sentence_splitter, "installed_name", lambda: None)
    words = (*command()[:9], "--split", "lines", "--output", tmp_path / "out")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert status == 2
    assert "pairweave[split]" in errors


def test_a_table_gives_the_same_pairs_as_its_documents_in_files(finished, tmp_path):
    directory, _ = finished
    with (tmp_path / "d.jsonl").open("w") as file:
        for number in range(len(COUNTS)):
            sides = ((directory / f"{number}.{name}").read_text() for name in ("en", "de"))
            row = dict(zip(("source", "target"), sides, strict=True))
            file.write(json.dumps({"url": f"http://{number}", **row}) + "\n")
        file.write(json.dumps({"url": "http://bad", "source": "One.", "target": 1}) + "\n")
        file.write(json.dumps({"url": "http://empty", "source": "One.", "target": ""}) + "\n")
    runs.run_well_here(
        *("bitext", "--input", "d.jsonl", "--document_field", "url", "--source_lang", "en"),
        *("--target_lang", "de", "--model", directory / "out/models/hmm", "--output", "out"),
        *("--beads", "beads", "--unit_rows", "3", "--workers", "1"),
        cwd=tmp_path,
    )
    actual = read_beads(str(tmp_path / "beads"))
    assert actual[:2] == read_beads(str(directory / "beads"))
    assert [len(beads) for beads in actual[2:]] == [1, 1]
    columns = ("id", "source", "target", "document", "bead", "score", "source_sentences")
    wanted, rows = (
        {tuple(map(str, map(row.get, columns))) for row in rows_of(output, "data")}
        for output in (directory / "out", tmp_path / "out")
    )
    assert rows == wanted
    for row in rows_of(tmp_path / "out", "data"):
        assert row["document_id"] == f"http://{row['document']}"
        assert (row["file"], row["line"]) == ("d.jsonl", row["document"] + 1)
    reasons = [row["reason"] for row in rows_of(tmp_path / "out", "rejects")]
    assert reasons.count("wrong_type") == 1
    manifest = json.loads((tmp_path / "out/_manifest.json").read_text())
    assert manifest["rows"]["read"] == sum(map(len, actual[:2])) + 2


def test_documents_are_paired_by_name_and_those_left_over_are_rejected(finished, tmp_path):
    directory, _ = finished
    for side, name in (("en", "0.en"), ("de", "0.de")):
        (tmp_path / side / "deep").mkdir(parents=True)
        text = (directory / name).read_text()
        (tmp_path / side / "deep/x.txt").write_text(text)
    (tmp_path / "en/alone.txt").write_text("One.\nTwo.\n")
    runs.run_well_here(
        *("bitext", "--source_input", "en/**/*.txt", "--target_input", "de/**/*.txt"),
        *("--pair_by", "name", "--source_lang", "en", "--target_lang", "de", "--output", "out"),
        *("--model", directory / "out/models/hmm", "--beads", "beads", "--workers", "1"),
        cwd=tmp_path,
    )
    actual = read_beads(str(tmp_path / "beads"))
    assert actual == [read_beads(str(directory / "beads"))[0], [Bead((0,), ()), Bead((1,), ())]]
    notices = json.loads((tmp_path / "out/_manifest.json").read_text())["notices"]
    assert any("en/alone.txt: has no counterpart" in notice for notice in notices)


def test_a_notice_names_documents_whose_sides_are_exchanged(finished, tmp_path):
    directory, _ = finished
    texts = [(directory / f"0.{name}").read_text() for name in ("en", "de")]
    with (tmp_path / "d.jsonl").open("w") as file:
        for sides in (texts, texts[::-1]):
            row = dict(zip(("source", "target"), sides, strict=True))
            file.write(json.dumps(row) + "\n")
    runs.run_well_here(
        *("bitext", "--input", "d.jsonl", "--source_lang", "en", "--target_lang", "de"),
        *("--model", directory / "out/models/hmm", "--output", "out", "--workers", "1"),
        cwd=tmp_path,
    )
    notices = json.loads((tmp_path / "out/_manifest.json").read_text())["notices"]
    (notice,) = [notice for notice in notices if "[exchanged_sides]" in notice]
    assert notice.startswith("d.jsonl: the sides of 1 document look exchanged (from line 2)")
    untouched = json.loads((directory / "out/_manifest.json").read_text())["notices"]
    assert not any("[exchanged_sides]" in notice for notice in untouched)


def test_sides_that_do_not_belong_together_are_rejected(finished, tmp_path):
    directory, _ = finished
    (tmp_path / "a.en").write_text(
        "".join(f"Nothing of this is {n} there at all!\n" for n in "abcdef")
    )
    (tmp_path / "a.de").write_text((directory / "0.de").read_text())
    status, _, errors = runs.run_here(
        *("bitext", "--source_input", "a.en", "--target_input", "a.de", "--source_lang", "en"),
        *("--target_lang", "de", "--model", directory / "out/models/hmm", "--output", "out"),
        *("--workers", "1"),
        cwd=tmp_path,
    )
    assert status == 2
    assert "no pair of" in errors
    reasons = {row["reason"] for row in rows_of(tmp_path / "out", "rejects")}
    assert reasons <= {"unaligned", "unrelated_document", "low_score"}


def test_a_document_of_other_text_is_told_by_aligners_of_the_documents_alone(tmp_path):
    write_documents(tmp_path, (150, 150, 150))
    (tmp_path / "2.de").write_text((tmp_path / "1.de").read_text())
    sides = ("--source_input", "[0-9].en", "--target_input", "[0-9].de", "--workers", "1")
    languages = ("--source_lang", "en", "--target_lang", "de")
    runs.run_well_here("bitext", *sides, *languages, "--output", "out", cwd=tmp_path)
    assert {row["file"] for row in rows_of(tmp_path / "out", "data")} == {"0.en", "1.en"}
    rejects = rows_of(tmp_path / "out", "rejects")
    unrelated = [row for row in rejects if row["reason"] == "unrelated_document"]
    assert {row["file"] for row in unrelated} == {"2.en"}
    assert len(unrelated) > 60
    assert "by an aligner fitted on other pairs" in unrelated[0]["detail"]
    words = ("--min_document_gain", "-100", "--output", "all")
    runs.run_well_here("bitext", *sides, *languages, *words, cwd=tmp_path)
    kept = [row for row in rows_of(tmp_path / "all", "data") if row["file"] == "2.en"]
    assert len(kept) > 30


def test_lines_that_are_no_text_keep_their_numbers(finished, tmp_path):
    directory, _ = finished
    lines = (directory / "0.en").read_bytes().splitlines(keepends=True)
    lines[3] = b"bad \xff byte\n"
    lines[8] = b"x" * 2_000_000 + b"\n"
    (tmp_path / "a.en").write_bytes(b"".join(lines))
    (tmp_path / "a.de").write_bytes((directory / "0.de").read_bytes())
    runs.run_well_here(
        *("bitext", "--source_input", "a.en", "--target_input", "a.de", "--source_lang", "en"),
        *("--target_lang", "de", "--model", directory / "out/models/hmm", "--output", "out"),
        *("--beads", "beads", "--workers", "1"),
        cwd=tmp_path,
    )
    reasons = [row["reason"] for row in rows_of(tmp_path / "out", "rejects")]
    assert reasons.count("invalid_utf8") == reasons.count("line_too_long") == 1
    (beads,) = read_beads(str(tmp_path / "beads"))
    used = [sentence for bead in beads for sentence in bead.source]
    assert used == list(range(sum(bool(line.strip()) for line in lines)))


def test_a_document_of_too_many_words_ends_the_run_with_its_name(finished, tmp_path, monkeypatch):
    directory, _ = finished
    monkeypatch.setattr(sentence_aligner, "PRODUCTS", 1_000)
    model = ("--model", directory / "out/models/hmm", "--workers", "1")
    words = (*command()[:9], *model, "--output", tmp_path / "out")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert status == 2
    assert ".en: its sentences have too many words" in errors
    assert "document_too_long" in errors


@pytest.mark.parametrize(
    ("treatment", "pairs", "rejects"), [("keep", 1, 0), ("mend", 1, 0), ("reject", 0, 1)]
)
def test_c1_controls_are_treated_in_documents(finished, tmp_path, treatment, pairs, rejects):
    directory, _ = finished
    for name in ("en", "de"):
        text = (directory / f"0.{name}").read_text()
        (tmp_path / f"0.{name}").write_text("\x93" + text)
    words = (*command()[:9], "--model", directory / "out/models/hmm", "--output", "out")
    runs.run_well_here(*words, "--c1_controls", treatment, "--workers", "1", cwd=tmp_path)
    mark = "\u201c" if treatment == "mend" else "\x93"
    kept = [row for row in rows_of(tmp_path / "out", "data") if mark in row["source"]]
    rejected = rows_of(tmp_path / "out", "rejects")
    assert len(kept) == pairs
    assert [row["reason"] for row in rejected].count("control_char") == rejects
    notices = json.loads((tmp_path / "out/_manifest.json").read_text())["notices"]
    of_controls = [notice for notice in notices if "c1_controls" in notice]
    assert len(of_controls) == (2 if treatment == "keep" else 0)
    read = len(rows_of(tmp_path / "out", "data")) + len(rejected)
    for notice, side in zip(of_controls, ("source", "target"), strict=False):
        assert f"are kept in 1 of {read} {side}s; " in notice


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--links", "a"), "unknown option --links"),
        (("--input", "a.po"), "a.po: bitext reads tables of document pairs as .jsonl"),
        (("--document_field", "url"), "--document_field: names a field of --input"),
        (("--input", "t.tsv", "--pair_by", "name"), "--pair_by name: applies to --source_input"),
        (("--attention", "a.npz"), "unknown option --attention"),
        (("--score_field", "4"), "unknown option --score_field"),
        (("--tags_differ", "keep"), "unknown option --tags_differ"),
        (("--vocabulary", "300"), "unknown option --vocabulary"),
        (("--scorer", "encoder"), "--scorer encoder: give --encoder as well"),
        (("--layer", "3"), "--layer: give --scorer encoder"),
        (("--similarity", "yisi2"), "--similarity: give --scorer encoder"),
        (("--scorer", "both", "--encoder", "e", "--paragraphs", "first"), "--paragraphs first:"),
        (("--scorer", "encoder", "--encoder", "e", "--model", "m"), "--model: --scorer encoder"),
        (("--scorer", "encoder", "--encoder", "e", "--fit_pairs", "9"), "--fit_pairs: --scorer"),
        (("--scorer", "encoder", "--encoder", "e", "--decode", "viterbi"), "--decode: --scorer"),
        (("--format", "lxm"), "--format lxm: its entries are paired by their names"),
        (("--model", "m", "--min_document_gain", "0"), "--min_document_gain: applies to an"),
        (("--model", "m", "--iterations", "3"), "--iterations: applies to an aligner fitted"),
        (("--tokens", "sentencepiece"), "expected one of words, whitespace, sentencepiece:MODEL"),
        (("--parallel_source_input", "a"), "or neither"),
        (("--target_input", "b", "c"), "matches 2"),
        (("--beads", "a"), "--beads a: is an input"),
        (("--beads", "c", *PARALLEL), "--beads c: is an input"),
        (("--beads", "c", "--exclude", "[c]"), "--beads c: is an input"),
        (("--beads", "out"), "--beads out: is the run's own directory"),
        ((*PARALLEL[:2], "--parallel_target_input", "long"), "a has 1 line, long has 2 lines"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path, arguments, message):
    for name in "abc":
        (tmp_path / name).write_text("one\n")
    (tmp_path / "long").write_text("one\ntwo\n")
    (tmp_path / "t.tsv").write_text("one\ttwo\n")
    (tmp_path / "a.po").write_text('msgid "one"\nmsgstr "two"\n')
    sides = () if "--input" in arguments else ("--source_input", "a", "--target_input", "b")
    sides = sides[:2] if "--target_input" in arguments else sides
    languages = ("--source_lang", "en", "--target_lang", "de", "--output", "out")
    status, _, errors = runs.run_here("bitext", *sides, *languages, *arguments, cwd=tmp_path)
    assert status == 2
    assert message in errors
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "c").read_text() == "one\n"


@pytest.mark.parametrize("swapped", [False, True])
def test_a_model_of_other_languages_is_refused(finished, tmp_path, swapped):
    directory, _ = finished
    sides = (("--source_lang", "de"), ("--target_lang", "en" if swapped else "fr"))
    status, _, errors = runs.run_here(
        *("bitext", "--source_input", "0.en", "--target_input", "0.de", "--output"),
        *(tmp_path / "out", "--model", directory / "out/models/hmm", *sides[0], *sides[1]),
        cwd=directory,
    )
    assert status == 2
    assert "was fitted with source_lang en, but the documents have de" in errors
    assert not (tmp_path / "out").exists()


def test_the_files_of_a_model_are_not_overwritten(finished, tmp_path):
    directory, _ = finished
    of_run = directory / "out/models/hmm"
    copied = shutil.copytree(of_run, tmp_path / "model")
    for model, reason in ((of_run, "is inside the run"), (copied, "is an input")):
        about = model / "about.json"
        kept = about.read_bytes()
        status, _, errors = runs.run_here(
            *(*command()[:9], "--model", model, "--output", tmp_path / "out", "--beads", about),
            cwd=directory,
        )
        assert status == 2
        assert reason in errors
        assert about.read_bytes() == kept


def test_beads_of_documents_without_sentences_keep_their_place(finished, tmp_path):
    directory, _ = finished
    for name in ("en", "de"):
        (tmp_path / f"1.{name}").write_text("\n\n")
        for number, text in ((0, "One.\n"), (2, "Two.\nThree.\n")):
            (tmp_path / f"{number}.{name}").write_text(text)
    runs.run_well_here(
        *command()[:9],
        *("--model", directory / "out/models/hmm", "--output", "out", "--beads", "beads"),
        "--allow_empty",
        cwd=tmp_path,
    )
    actual = read_beads(str(tmp_path / "beads"))
    sizes = [sum(len(bead.source) for bead in beads) for beads in actual]
    assert sizes == [1, 0, 2]
    assert score_beads(actual[1], actual[1]) == (0, 0, 0, 0, 0, 0)


def test_a_fit_on_nothing_but_the_documents_is_noted(finished, tmp_path):
    directory, _ = finished
    noted = json.loads((directory / "out/_manifest.json").read_text())["notices"]
    assert not any("no_parallel_text" in notice for notice in noted)
    words = (*command()[:9], "--output", tmp_path / "out", "--plan_only")
    status, text, _ = runs.run_here(*words, cwd=directory)
    assert status == 0
    assert "documents that are not translations of each other may be kept" in text
    model = ("--model", directory / "out/models/hmm")
    assert "no_parallel_text" not in runs.run_here(*words, *model, cwd=directory)[1]


@pytest.mark.parametrize("empty", ["a", "b"])
def test_a_document_with_an_empty_side_aligns_nothing(tmp_path, empty):
    for name in "ab":
        (tmp_path / name).write_text("" if name == empty else "one\ntwo\n")
    languages = ("--source_lang", "en", "--target_lang", "de", "--output", "out", "--allow_empty")
    sides = ("--source_input", "a", "--target_input", "b", "--workers", "1")
    runs.run_well_here("bitext", *sides, *languages, "--beads", "beads", cwd=tmp_path)
    (beads,) = read_beads(str(tmp_path / "beads"))
    assert len(beads) == 2
    manifest = json.loads((tmp_path / "out/_manifest.json").read_text())
    assert manifest["rows"] == {"read": 2, "kept": 0, "rejected": 2}
