import gzip
import json
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from pairweave.transforms.symbols.whitespace import unshift_whitespace
from tests import check_tagged
from tests.makers import corpora, runs

SIDES = ("--source_input", "corpus.en", "--target_input", "corpus.de")
LANGS = ("--source_lang", "en", "--target_lang", "de")
SMALL = ("--shard_pairs", "150", "--unit_rows", "100", "--workers", "1")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    directory = tmp_path_factory.mktemp("corpus")
    return directory, corpora.write_corpus(directory, 600)


@pytest.fixture(scope="module")
def model(corpus):
    directory, _ = corpus
    runs.run_well_here("fit", *SIDES, *LANGS, *SMALL, "--output", "model", cwd=directory)
    return str(directory / "model")


@pytest.fixture(scope="module")
def output(corpus, model):
    directory, _ = corpus
    arguments = ("augment", *SIDES, *LANGS, *SMALL, "--model", model, "--output", "out")
    runs.run_well_here(*arguments, cwd=directory)
    return directory / "out"


def test_an_independent_reading_of_the_output_agrees_with_the_input(corpus, output):
    _, pairs = corpus
    # The two lines that are no text cannot be compared as text; they are counted instead.
    manifest = json.loads((output / "_manifest.json").read_text())
    assert manifest["rows"]["read"] == pairs
    assert manifest["rejected"]["duplicate"] >= 1
    for reason in ("invalid_utf8", "control_char", "length_ratio", "reserved_token"):
        assert manifest["rejected"][reason] == 1, reason
    for reason in ("empty_source", "empty_target", "long_token"):
        assert manifest["rejected"][reason] == 1, reason
    kept = 0
    for path in sorted(output.glob("data/part-*.parquet")):
        for row in pq.read_table(path).to_pylist():
            check_tagged.check_row(row, check_tagged.Counter(), crossing=False)
            kept += row["kind"] == "plain"
    assert kept == manifest["rows"]["kept"]
    assert manifest["counts"]["tagged_rows"] > 0.9 * kept


def test_a_run_lists_its_files_and_symbols(output):
    manifest = json.loads((output / "_manifest.json").read_text())
    assert manifest["shards"] == 5
    names = {entry["name"] for entry in manifest["files"]}
    assert {"README.md", "symbols.txt", "data/part-00004-of-00005.parquet"} <= names
    symbols = (output / "symbols.txt").read_text().split()
    assert symbols[0] == "<a_0>"
    assert len(symbols) == 20
    card = (output / "README.md").read_text()
    assert "config_name: default" in card
    assert "| `invalid_utf8` | 1 |" in card


def test_the_same_command_again_makes_nothing_new(corpus, model, output):
    before = runs.tree_digests(output)
    arguments = ("augment", *SIDES, *LANGS, *SMALL, "--model", model, "--output", "out")
    noted = (output / "_run.json").read_bytes()
    steps = json.loads(noted)["steps"]
    kept = json.loads((output / "_manifest.json").read_text())["rows"]["kept"]
    assert steps["InjectTags/Write"]["rows"] == steps["Align/Table"]["rows"] == kept
    assert all(actual["seconds"] >= 0 for actual in steps.values())
    runs.run_well_here(*arguments, cwd=corpus[0])
    assert runs.tree_digests(output) == before
    assert (output / "_run.json").read_bytes() == noted


def test_another_command_into_the_same_directory_is_refused(corpus, model, output):
    arguments = ("augment", *SIDES, *LANGS, *SMALL, "--model", model, "--output", "out")
    status, _, errors = runs.run_here(*arguments, "--seed", "2", cwd=corpus[0])
    assert status == 2
    assert "seed was 1, is now 2" in errors
    assert (output / "_manifest.json").exists()


def test_a_lost_shard_is_made_again_with_the_same_bytes(corpus, model, output):
    before = runs.tree_digests(output)
    (output / "data" / "part-00002-of-00005.parquet").unlink()
    (output / "_receipts" / "shard-00003-of-00005.json").write_text("{")
    arguments = ("augment", *SIDES, *LANGS, *SMALL, "--model", model, "--output", "out")
    runs.run_well_here(*arguments, cwd=corpus[0])
    assert runs.tree_digests(output) == before
    assert json.loads((output / "_run.json").read_text())["shards_reused"] == 3


def test_a_plan_is_printed_and_nothing_written(corpus, model, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    arguments = ("augment", *SIDES, *LANGS, *SMALL, "--model", model, "--output", "planned")
    printed = runs.run_well_here(*arguments, "--plan_only", cwd=corpus[0])
    assert not (corpus[0] / "planned").exists()
    assert not list(tmp_path.iterdir())
    for text in ("corpus.en", "shards 5", "units 7", "max_tags: 9", "Shuffle", "InjectTags"):
        assert text in printed, text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--source_input", "none.en", "--target_input", "corpus.de"), "no_match"),
        (("--source_input", "corpus.en", "--target_input", "short.de"), "line_count_mismatch"),
        (("--input", "corpus.doc"), "corpus.doc"),
        ((*SIDES, "--model", "nowhere"), "no fitted aligner"),
        ((*SIDES, "--tokens", "sentencepiece:nowhere"), "nowhere"),
    ],
)
def test_what_the_user_must_mend_is_said_in_one_line(corpus, arguments, message):
    (corpus[0] / "short.de").write_text("eins\n")
    (corpus[0] / "corpus.doc").write_text("x\n")
    status, _, errors = runs.run_here(
        "augment", *LANGS, *arguments, "--output", "bad", cwd=corpus[0]
    )
    assert status == 2
    assert message in errors
    assert len(errors.strip().splitlines()) == 1
    assert not (corpus[0] / "bad" / "_manifest.json").exists()


@pytest.mark.slow
def test_shifted_whitespace_goes_back(corpus, model):
    arguments = ("augment", *SIDES, *LANGS, *SMALL, "--model", model)
    runs.run_well_here(*arguments, "--whitespace_shift", "--output", "shifted", cwd=corpus[0])
    runs.run_well_here(*arguments, "--output", "straight", cwd=corpus[0])
    shifted = pq.read_table(
        corpus[0] / "shifted" / "data" / "part-00000-of-00005.parquet"
    ).to_pylist()
    straight = pq.read_table(
        corpus[0] / "straight" / "data" / "part-00000-of-00005.parquet"
    ).to_pylist()
    assert [row["tags"] for row in shifted] == [row["tags"] for row in straight]
    for one, other in zip(shifted, straight, strict=True):
        for side in ("source", "target"):
            assert unshift_whitespace(one[side]) == other[side]
    assert any(
        one["source"] != other["source"] for one, other in zip(shifted, straight, strict=True)
    )


def test_corpora_of_every_format_run_together_from_a_yaml_file(tmp_path, model):
    pairs = [corpora.sentence(number) for number in range(1_000, 1_060)]
    (tmp_path / "a.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in pairs[:10]))
    records = [{"source": s, "target": t} for s, t in pairs[10:20]]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "c.tsv.zst").write_bytes(
        zstandard.compress("".join(f"{s}\t{t}\n" for s, t in pairs[20:30]).encode())
    )
    columns = [list(side) for side in zip(*pairs[30:40], strict=True)]
    pq.write_table(pa.table(dict(zip(("en", "de"), columns, strict=True))), tmp_path / "d.parquet")
    messages = "".join(f'msgid "{s}"\nmsgstr "{t}"\n\n' for s, t in pairs[40:50])
    (tmp_path / "e.po").write_text(
        'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8"\n\n' + messages
    )
    for side, name in enumerate(("f.en", "f.de")):
        (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in pairs[50:]))
    (tmp_path / "run.yaml").write_text(
        "source_lang: en\ntarget_lang: de\nworkers: 1\nmix: 0\ncorpora:\n"
        "- {corpus: text, source_input: f.en, target_input: f.de, licence: mit}\n"
        "- {corpus: both, input: ['?.tsv', 'c.tsv.zst', b.jsonl.gz]}\n"
        "- {corpus: table, input: d.parquet, source_field: en, target_field: de}\n"
        "- {input: e.po}\n"
    )
    arguments = ("augment", "--config", "run.yaml", "--model", model, "--output", "out")
    runs.run_well_here(*arguments, cwd=tmp_path)
    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_text())
    kept = {name: corpus["kept"] for name, corpus in manifest["corpora"].items()}
    assert kept == {"text": 10, "both": 30, "table": 10, "e.po": 10}
    assert manifest["corpora"]["text"]["licence"] == "mit"
    rows = pq.read_table(tmp_path / "out" / "data" / "part-00000-of-00001.parquet").to_pylist()
    assert sorted((row["source"], row["target"]) for row in rows) == sorted(pairs)


def test_pharaoh_lines_come_in_input_order_with_duplicates_and_gaps(corpus, model):
    directory, pairs = corpus
    arguments = ("align", *SIDES, *LANGS, *SMALL, "--model", model, "--output", "links")
    runs.run_well_here(*arguments, "--pharaoh", "links.txt", cwd=directory)
    lines = (directory / "links.txt").read_text().split("\n")
    assert lines.pop() == ""
    assert len(lines) == pairs
    sources = (directory / "corpus.en").read_bytes().split(b"\n")
    bad = sources.index(b"bad \xff byte")
    assert lines[bad] == ""
    # The last line repeats an earlier one, which is rejected as a duplicate but aligned.
    assert lines[-1] == lines[sources.index(sources[pairs - 1])] != ""
    expected = {}
    for path in (directory / "links").glob("data/part-*.parquet"):
        for row in pq.read_table(path).to_pylist():
            expected[row["line"]] = " ".join(f"{x['source']}-{x['target']}" for x in row["links"])
    assert len(expected) > 500
    assert all(lines[number - 1] == text for number, text in expected.items())


def test_a_run_can_train_its_own_pieces(corpus):
    arguments = ("augment", *SIDES, *LANGS, *SMALL, "--tokens", "sentencepiece")
    for output in ("pieces", "pieces2"):
        settings = (*arguments, "--vocabulary", "300", "--output", output)
        runs.run_well_here(*settings, cwd=corpus[0])
    assert (corpus[0] / "pieces" / "models" / "hmm" / "sentencepiece.model").exists()
    assert runs.tree_digest(corpus[0] / "pieces") == runs.tree_digest(corpus[0] / "pieces2")
    counts = json.loads((corpus[0] / "pieces" / "_manifest.json").read_text())["counts"]
    assert counts["tagged_rows"] > 0.8 * counts["plain_rows"]


def test_a_model_of_words_aligns_text_that_is_given_as_words(corpus, model):
    arguments = ("align", *SIDES, *LANGS, *SMALL, "--model", model, "--output", "given")
    runs.run_well_here(*arguments, "--tokens", "whitespace", cwd=corpus[0])
    row = pq.read_table(corpus[0] / "given" / "data" / "part-00000-of-00005.parquet").to_pylist()[0]
    words = [row["source"][token["start"] : token["end"]] for token in row["source_tokens"]]
    assert words == row["source"].split()
    arguments = ("align", *SIDES, *LANGS, "--model", model, "--output", "refused")
    status, _, errors = runs.run_here(*arguments, "--tokens", "sentencepiece", cwd=corpus[0])
    assert status == 2
    assert "was fitted on words" in errors


def test_a_screen_that_rejects_much_for_its_lengths_says_what_to_do(model, tmp_path):
    words = ["alpha", "beta", "gamma", "delta"]
    uneven = ["天地玄黄宇宙洪荒日月盈昃" * 2, "辰宿列张寒来暑往秋收冬藏" * 2]
    lines = [(f"{word} {n}", uneven[n % 2]) for n, word in enumerate(words)]
    even = [(f"{word} {n}", f"{n} {word}") for n, word in enumerate(words * 5)]
    for name, pairs in (("much", lines + even), ("little", even + lines[:1])):
        (tmp_path / f"{name}.tsv").write_text(
            "".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8"
        )
    arguments = ("--source_lang", "en", "--target_lang", "zh", *SMALL, "--model", model)
    said = {
        name: runs.run_well_here(
            "augment", "--input", f"{name}.tsv", *arguments, "--output", name, cwd=tmp_path
        )
        for name in ("much", "little")
    }
    assert "length_ratio 4" in said["much"]
    assert "raise --max_ratio" in said["much"]
    assert "--max_ratio 8 would reject about 0" in said["much"]
    assert "length_ratio 1" in said["little"]
    assert "raise --max_ratio" not in said["little"]
