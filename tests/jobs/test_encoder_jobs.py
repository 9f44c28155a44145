"""The jobs `align` and `augment` with an encoder, from the command line."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

import pairweave  # noqa: E402
from pairweave.models.encoder.encoder_config import EncoderConfig, HeadConfig  # noqa: E402
from pairweave.models.encoder.hosting import encoder_reference  # noqa: E402
from pairweave.models.encoder.neural import find_digest, load_aligner  # noqa: E402
from pairweave.pipelines.aligners.aligner_choice import choose_aligner  # noqa: E402
from pairweave.pipelines.job_options.pair_options import AlignOptions  # noqa: E402
from pairweave.pipelines.options.base import left_out_options  # noqa: E402
from pairweave.transforms.links.link_options import SymmetrizeConfig  # noqa: E402
from pairweave.transforms.links.symmetrize import symmetrize  # noqa: E402
from pairweave.transforms.text.tokens import TokenConfig, tokenize  # noqa: E402
from tests import check_tagged  # noqa: E402
from tests.makers import corpora, runs  # noqa: E402
from tests.makers.encoders import write_bert  # noqa: E402
from tests.makers.token_tables import token_table  # noqa: E402

PAIRS = 120
LIMIT = 40
"""Pieces that the encoder takes with the two special ones: more than a sentence has."""

LONG = 6
"""Sentences in the pair that is too long."""


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus, one pair of which is too long, and an encoder."""
    directory = tmp_path_factory.mktemp("jobs")
    corpora.write_corpus(directory, PAIRS)
    sides = list(zip(*map(corpora.sentence, range(PAIRS)), strict=True))
    for name, texts in zip(("corpus.en", "corpus.de"), sides, strict=True):
        with (directory / name).open("a") as file:
            file.write(" ".join(texts[:LONG]) + "\n")
    write_bert(directory / "bert", [*sides[0], *sides[1]], layers=2, max_position_embeddings=LIMIT)
    return directory


def command(job, *more, workers=1):
    return (
        *(job, "--source_input", "corpus.en", "--target_input", "corpus.de"),
        *("--source_lang", "en", "--target_lang", "de", "--shard_pairs", "40"),
        *("--aligner", "encoder", "--model", "bert", "--layer", "2", "--workers", workers),
        *more,
    )


def words(text):
    return tokenize(pa.array([text]), TokenConfig()).to_pylist()[0]


def rows_of(output, pattern="data/part-*.parquet"):
    return [row for path in sorted(output.glob(pattern)) for row in pq.read_table(path).to_pylist()]


@pytest.fixture(scope="module")
def aligned(directory):
    """Return the output of `align` on one worker that rejects the long pair."""
    arguments = command("align", "--long_pairs", "reject", "--pharaoh", "links.txt")
    runs.run_well_here(*arguments, "--output", "aligned", cwd=directory)
    return directory / "aligned"


@pytest.fixture(scope="module")
def augmented(directory):
    """Return the output of `augment` on one worker."""
    runs.run_well_here(
        *command("augment", "--long_pairs", "reject", "--output", "augmented"), cwd=directory
    )
    return directory / "augmented"


def test_a_pair_that_is_too_long_is_rejected_with_the_sizes(aligned):
    manifest = json.loads((aligned / "_manifest.json").read_text())
    assert manifest["rejected"]["too_long_for_encoder"] == 1
    assert manifest["rows"]["read"] == manifest["rows"]["kept"] + manifest["rows"]["rejected"]
    rejects = rows_of(aligned, "rejects/*.parquet")
    (actual,) = (row for row in rejects if row["reason"] == "too_long_for_encoder")
    assert actual["stage"] == "align"
    assert actual["source"] == " ".join(corpora.sentence(number)[0] for number in range(LONG))
    assert actual["detail"].startswith("source: ")
    assert actual["detail"].endswith(f"the encoder's limit is {LIMIT - 2}")


def test_links_are_those_of_the_aligner_itself(directory, aligned):
    rows = rows_of(aligned)
    table = token_table([(row["source"], row["target"]) for row in rows], words)
    linked = load_aligner(EncoderConfig(str(directory / "bert"), layer=2)).align(table)
    expected = symmetrize(linked, SymmetrizeConfig("grow-diag")).column("links").to_pylist()
    pairs = [[(link["source"], link["target"]) for link in links] for links in expected]
    assert [[(link["source"], link["target"]) for link in row["links"]] for row in rows] == pairs
    assert all(pairs)
    lines = (directory / "links.txt").read_text().splitlines()
    assert lines[-1] == ""
    assert {line for line in lines if line} == {
        " ".join(f"{source}-{target}" for source, target in links) for links in pairs
    }


def test_windows_keep_the_pair_that_is_too_long(directory):
    runs.run_well_here(*command("align", "--output", "windows"), cwd=directory)
    manifest = json.loads((directory / "windows" / "_manifest.json").read_text())
    assert "too_long_for_encoder" not in manifest["rejected"]
    text = " ".join(corpora.sentence(number)[0] for number in range(LONG))
    assert any(row["source"] == text for row in rows_of(directory / "windows"))


def test_the_plan_names_what_decides_the_links_and_no_path(directory, aligned):
    text = (aligned / "_plan.json").read_text()
    assert str(directory) not in text
    settings = json.loads(text)["configuration"]
    config = EncoderConfig(str(directory / "bert"), layer=2, long_pairs="reject")
    assert settings["model"] == find_digest(config) == load_aligner(config).digest
    expected = {"aligner": "encoder", "layer": 2, "head": "softmax", "precision": "fp32"}
    expected |= {"long_pairs": "reject", "tokens": "words"}
    assert {name: settings[name] for name in expected} == expected
    assert not {"fit_pairs", "decode", "vocabulary", "revision"} & settings.keys()
    assert "torch" in json.loads((aligned / "_run.json").read_text())["packages"]


def test_the_head_and_what_it_compares_are_those_of_the_options(directory):
    bert = str(directory / "bert")
    settings = {"aligner": "encoder", "model": bert, "layer": 2, "head": "ot"}
    digests = set()
    transports = ({"cost": "euclidean"}, {"mass": "norm"}, {"regularization": 0.2})
    for more in ({}, {"head_threshold": 0.2}, {"distortion": 0.4}, {"unit": "words"}, *transports):
        options = AlignOptions(output="out", **settings, **more)
        reference, _ = choose_aligner(options)
        unit = more.get("unit", "pieces")
        own = {name: value for name, value in more.items() if name != "unit"}
        config = EncoderConfig(bert, layer=2, head=HeadConfig("ot", **own), unit=unit)
        assert reference.digest == find_digest(config)
        digests.add(reference.digest)
        # A plan names a transport's settings where they are not the defaults.
        assert {"cost", "mass", "regularization"} - left_out_options(options) == (
            {"cost", "mass", "regularization"} & more.keys()
        )
    assert len(digests) == 7


def test_tagged_pairs_are_sound(augmented):
    manifest = json.loads((augmented / "_manifest.json").read_text())
    assert manifest["rejected"]["too_long_for_encoder"] == 1
    kinds = set()
    for row in rows_of(augmented):
        check_tagged.check_row(row, check_tagged.Counter(), crossing=False)
        kinds.add(row["kind"])
    assert kinds == {"plain", "tagged"}
    assert not (augmented / "models").exists()


def test_another_directory_and_place_of_the_encoder_give_the_same_bytes(directory, augmented):
    shutil.copytree(directory / "bert", directory / "moved")
    arguments = command("augment", "--long_pairs", "reject", "--output", "again")
    arguments = ("moved" if word == "bert" else word for word in arguments)
    runs.run_well_here(*arguments, cwd=directory)
    assert runs.tree_digest(directory / "again") == runs.tree_digest(augmented)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--layer", "9"), "has 2 layers"),
        (("--model", "nowhere/at/all"), "neither a directory nor a hub name"),
        (("--model", "."), "no config.json"),
        (("--revision", "main"), "has no revision"),
    ],
)
def test_a_model_that_cannot_be_used_is_refused_before_the_run(directory, arguments, message):
    status, _, errors = runs.run_here(
        *command("align", *arguments, "--output", "bad"), cwd=directory
    )
    assert status == 2
    assert message in errors
    assert len(errors.strip().splitlines()) == 1
    assert not (directory / "bad").exists()


@pytest.mark.parametrize("job", ["align", "augment"])
def test_a_precision_that_this_machine_cannot_do_is_refused_before_the_run(
    directory, job, monkeypatch
):
    for gpus, precision, message in (
        (0, "fp16", "precision fp16 needs a GPU"),
        (1, "int8", "precision int8 is for a CPU"),
    ):
        monkeypatch.setattr(torch.cuda, "is_available", lambda gpus=gpus: gpus > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda gpus=gpus: gpus)
        arguments = command(job, "--precision", precision, "--output", "bad")
        status, _, errors = runs.run_here(*arguments, cwd=directory)
        assert status == 2
        assert message in errors
        assert len(errors.strip().splitlines()) == 1
        assert not (directory / "bad").exists()
        status, printed, _ = runs.run_here(*arguments, "--plan_only", cwd=directory)
        assert status == 2
        assert message in printed


@pytest.mark.parametrize("names", [("tokenizer.json", "vocab.txt"), ("model.safetensors",)])
def test_an_encoder_that_lacks_a_file_is_refused_before_the_run(directory, names):
    shutil.copytree(directory / "bert", directory / "partial", dirs_exist_ok=True)
    for name in names:
        (directory / "partial" / name).unlink(missing_ok=True)
    arguments = command("align", "--output", "lacking")
    arguments = ("partial" if word == "bert" else word for word in arguments)
    status, _, errors = runs.run_here(*arguments, cwd=directory)
    assert status == 2
    assert "partial: no " in errors
    assert len(errors.strip().splitlines()) == 1
    assert not (directory / "lacking").exists()


def test_an_encoder_that_changed_since_the_plan_is_refused(directory):
    reference = encoder_reference.find(EncoderConfig(str(directory / "bert"), layer=1))
    changed = encoder_reference.EncoderReference(reference.config, "0" * 64)
    with pytest.raises(
        encoder_reference.ConfigError, match="not the encoder that the run was planned"
    ):
        encoder_reference.load(changed)


def test_every_head_is_within_reach_of_the_command_line(directory):
    printed = runs.run_well_here(
        *command("align", "--head", "unbalanced_ot", "--output", "planned", "--plan_only"),
        cwd=directory,
    )
    digest = find_digest(
        EncoderConfig(str(directory / "bert"), layer=2, head=HeadConfig("unbalanced_ot"))
    )
    assert f"model: {digest}" in printed
    assert not (directory / "planned").exists()


def test_a_function_leaves_the_threads_of_its_caller_and_shares_no_model(directory):
    given = {"aligner": "encoder", "model": directory / "bert", "layer": 2}
    given |= {"source_lang": "en", "target_lang": "de"}
    pairs = [corpora.sentence(number) for number in range(5)]
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        rows = pairweave.align(pairs, **given).rows
        assert torch.get_num_threads() == 3
        torch.set_num_threads(2)
        assert pairweave.align(pairs, **given).rows.equals(rows)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    for name, value in (("large_model", True), ("model_copies", 2)):
        with pytest.raises(pairweave.PairweaveError, match=f"^{name}: only processes of the com"):
            pairweave.align(pairs, **given, **{name: value})
