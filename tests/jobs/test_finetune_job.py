"""The job `finetune`, from the command line."""

import hashlib
import json
import re

import pyarrow.parquet as pq
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.finetune.finetune_checkpoint import CHECKPOINT  # noqa: E402
from pairweave.models.weights.weights import find_model  # noqa: E402
from pairweave.pipelines import cli  # noqa: E402
from tests.makers import runs, stores  # noqa: E402
from tests.makers.toy_language import alignment_error, toy_pairs, write_toy_encoder  # noqa: E402

PAIRS = 30


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with an encoder and a corpus of thirty pairs and four bad ones."""
    directory = tmp_path_factory.mktemp("finetune")
    write_toy_encoder(directory / "model")
    pairs = [pair[:2] for pair in toy_pairs(PAIRS, 1)]
    pairs += [pairs[3], ("a01 a02", ""), (" ".join(["a01"] * 31), " ".join(["b01"] * 30))]
    for side, name in enumerate(("corpus.a", "corpus.b")):
        lines = "".join(f"{pair[side]}\n" for pair in pairs)
        bad = b"a\x00b\n" if side else b"a01\n"
        (directory / name).write_bytes(lines.encode() + bad)
    return directory


def words(directory, output, *more):
    """Return the job's command line."""
    return [
        *("finetune", "--model", str(directory / "model"), "--layer", "2"),
        *("--source_input", str(directory / "corpus.a")),
        *("--target_input", str(directory / "corpus.b")),
        *("--output", str(output), "--learning_rate", "3e-3", "--steps", "6"),
        *("--device", "cpu", "--threads", "1", "--checkpoint_steps", "2", *more),
    ]


def command(directory, output, *more):
    """Run the job in this process; return its exit status."""
    return cli.main(words(directory, output, *more))


@pytest.fixture(scope="module")
def tuned(directory):
    """Return the output of the job."""
    assert command(directory, directory / "tuned") == 0
    return directory / "tuned"


def manifest_of(output):
    return json.loads((output / "_manifest.json").read_text())


def test_every_pair_that_is_read_is_trained_on_or_rejected(tuned):
    manifest = manifest_of(tuned)
    assert manifest["rows"] == {"read": 34, "trained": PAIRS, "rejected": 4, "not_drawn": 0}
    expected = {"control_char", "duplicate", "empty_target", "too_long_for_encoder"}
    assert manifest["rejected"] == dict.fromkeys(expected, 1)
    (path,) = (tuned / "rejects").glob("*.parquet")
    rejects = {row["reason"]: row for row in pq.read_table(path).to_pylist()}
    assert set(rejects) == expected
    assert rejects["duplicate"]["line"] == 31
    assert rejects["too_long_for_encoder"]["stage"] == "align"
    assert rejects["too_long_for_encoder"]["detail"] == "source has 31 pieces > 30"


def test_the_manifest_names_every_file_of_the_model_and_the_losses(tuned):
    names = {entry["name"] for entry in manifest_of(tuned)["files"]}
    model = {"config.json", "model.safetensors", "tokenizer_config.json", "vocab.txt"}
    assert names == {*model, "_training.json", "rejects/part-00000-of-00001.parquet"}
    actual = {path.name for path in tuned.iterdir() if path.is_file()}
    assert actual == {*model, "_training.json", "_manifest.json", "_plan.json", "_run.json"}
    training = json.loads((tuned / "_training.json").read_text())
    assert training["steps"] == 6
    assert training["pairs"] == PAIRS
    assert {name: len(losses) for name, losses in training["losses"].items()} == {
        "mlm": 6,
        "tlm": 6,
        "so": 6,
        "psi": 6,
    }
    assert str(tuned.parent) not in (tuned / "_manifest.json").read_text()


def test_the_runs_records_are_no_part_of_the_model(tuned):
    files = find_model(str(tuned))
    assert [path.name for path in files.others] == [
        "config.json",
        "tokenizer_config.json",
        "vocab.txt",
    ]


def test_the_same_command_again_finds_all_done(directory, tuned, capsys):
    before = {path: path.stat().st_mtime_ns for path in tuned.iterdir() if path.name[0] != "_"}
    manifest = (tuned / "_manifest.json").read_bytes()
    assert command(directory, tuned) == 0
    assert "trained   30" in capsys.readouterr().out
    assert (tuned / "_manifest.json").read_bytes() == manifest
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_a_damaged_model_is_made_again_with_the_same_bytes(directory, tuned, tmp_path):
    assert command(directory, tmp_path / "out") == 0
    for name in ("model.safetensors", "_manifest.json", "_training.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tuned / name).read_bytes()
    weights = tmp_path / "out" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x7f")
    assert command(directory, tmp_path / "out") == 0
    assert weights.read_bytes() == (tuned / "model.safetensors").read_bytes()


def test_another_command_is_refused(directory, tuned, capsys):
    assert command(directory, tuned, "--seed", "2") == 2
    assert "seed was 1, is now 2" in capsys.readouterr().err


def test_a_directory_with_a_model_is_refused(directory, capsys):
    assert command(directory, directory / "model") == 2
    assert "already has config.json" in capsys.readouterr().err


def test_a_sample_leaves_pairs_out_and_counts_them(directory, tmp_path):
    more = ("--fit_pairs", "15", "--objectives", "so", "--steps", "1")
    assert command(directory, tmp_path / "out", *more) == 0
    rows = manifest_of(tmp_path / "out")["rows"]
    assert rows["read"] == rows["trained"] + rows["rejected"] + rows["not_drawn"]
    assert rows["not_drawn"] > 5
    assert rows["trained"] > 5


def test_the_plan_alone_writes_nothing(directory, tmp_path, capsys):
    assert command(directory, tmp_path / "out", "--plan_only") == 0
    assert "objectives: mlm,tlm,so,psi" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--objectives", "mlm,xx"), "objectives: "),
        (("--objectives", "so,so"), "named twice: so,so"),
        (("--layer", "3"), "has 2 layers"),
        (("--engine", "flink"), "unknown option --engine"),
        (("--runner", "DirectRunner"), "finetune runs no Beam pipeline"),
        (("--tokens", "pieces"), "tokens: "),
        (
            ("--max_pieces", "1"),
            "0 pairs to train on, 2 needed: objective psi compares pairs; 31 left out",
        ),
    ],
)
def test_what_the_user_must_mend_is_said(directory, tmp_path, capsys, more, message):
    assert command(directory, tmp_path / "out", *more) == 2
    assert message in capsys.readouterr().err


def test_too_few_pairs_say_what_became_of_the_others(directory, tmp_path, capsys):
    assert command(directory, tmp_path / "few", "--fit_pairs", "1", "--seed", "3") == 2
    said = r"\d pairs? to train on, 2 needed: objective psi compares pairs; of the input, .*"
    assert re.search(rf"{said}3\d not drawn, which a higher fit_pairs", capsys.readouterr().err)
    (tmp_path / "model").symlink_to(directory / "model")
    for name in ("corpus.a", "corpus.b"):
        (tmp_path / name).write_text("a01\n" * 3)
    assert command(tmp_path, tmp_path / "same") == 2
    said = "1 pair to train on, 2 needed: objective psi compares pairs; of the input, 2 rejected as"
    assert f"{said} duplicate" in capsys.readouterr().err


@pytest.mark.slow
def test_a_model_in_a_store_has_the_bytes_of_one_on_a_disk(directory, tuned):
    with stores.running("s3") as store:
        place = f"s3://{stores.BUCKET}/tuned"
        out = runs.run_well(*words(directory, place))
        objects = store.objects("tuned/")
        again = runs.run_well(*words(directory, place))
        assert store.objects("tuned/") == objects
        align = ("align", "--aligner", "encoder", "--model", place, "--layer", "2", "--plan_only")
        sides = ("--source_input", directory / "corpus.a", "--target_input", directory / "corpus.b")
        assert "encoder" in runs.run_well(*align, *sides, "--output", directory / "unused")
    assert out == again
    actual = {
        name.removeprefix("tuned/"): hashlib.sha256(data).hexdigest()
        for name, data in objects.items()
        if not name.endswith("/_run.json")
    }
    assert actual == runs.tree_digests(tuned)


@pytest.mark.slow
def test_a_killed_command_goes_on_to_the_same_files(directory, tmp_path):
    more = ("--steps", "60", "--objectives", "so,mlm", "--checkpoint_steps", "5")
    assert command(directory, tmp_path / "whole", *more) == 0
    arguments = words(directory, tmp_path / "killed", *more)
    assert runs.kill_when(CHECKPOINT, tmp_path / "killed", *arguments)
    assert not (tmp_path / "killed" / "config.json").exists()
    assert command(directory, tmp_path / "killed", *more) == 0
    assert runs.tree_digests(tmp_path / "killed") == runs.tree_digests(tmp_path / "whole")


@pytest.mark.slow
def test_the_result_aligns_better(directory, tmp_path):
    more = ("--objectives", "so,co", "--steps", "40", "--batch_pairs", "30")
    assert command(directory, tmp_path / "out", *more) == 0
    held_out = toy_pairs(60, 2)
    before = alignment_error(directory / "model", 2, held_out)
    assert alignment_error(tmp_path / "out", 2, held_out) < before
    links = tmp_path / "links.txt"
    for side in (0, 1):
        text = "".join(f"{pair[side]}\n" for pair in held_out)
        (tmp_path / f"test.{side}").write_text(text)
    arguments = [
        *("align", "--aligner", "encoder", "--model", str(tmp_path / "out"), "--layer", "2"),
        *("--source_input", str(tmp_path / "test.0"), "--target_input", str(tmp_path / "test.1")),
        *("--output", str(tmp_path / "links"), "--pharaoh", str(links), "--workers", "1"),
    ]
    assert cli.main(arguments) == 0
    assert len(links.read_text().splitlines()) == 60
