"""An encoder on every engine with every hosting: the same bytes, the same rejected pair."""

import json

import pytest

pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.neural import find_digest
from tests.makers import poisoned, runs

pytestmark = pytest.mark.slow

ACCELERATOR = ("--accelerator", "type:nvidia-l4;count:1;install-nvidia-driver")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("engines")
    poisoned.write(directory)
    return directory


def digest_of(directory, output, *more, workers=2):
    arguments = poisoned.command("augment", output, *more, corpus="poisoned", workers=workers)
    runs.run_well(*arguments, cwd=directory)
    return runs.tree_digest(output)


@pytest.fixture(scope="module")
def expected(directory):
    """Return the digest of a run on one worker."""
    output = directory / "expected"
    result = digest_of(directory, output, workers=1)
    manifest = json.loads((output / "_manifest.json").read_text())
    assert manifest["rejected"]["aligner_failed"] == 1
    digest = find_digest(EncoderConfig(str(directory / "one"), layer=2))
    assert manifest["aligned_by"] == {digest: list(range(poisoned.SHARDS))}
    return result


@pytest.mark.parametrize(
    "more",
    [(), ("--model_copies", "2"), ACCELERATOR],
    ids=["one each", "two shared", "accelerator"],
)
def test_two_workers_write_the_same_bytes(directory, expected, tmp_path, more):
    assert digest_of(directory, tmp_path / "out", *more) == expected


@pytest.mark.flink
@pytest.mark.usefixtures("prism")
@pytest.mark.parametrize("more", [(), ACCELERATOR], ids=["plain", "accelerator"])
def test_prism_writes_the_same_bytes(directory, expected, tmp_path, more):
    assert digest_of(directory, tmp_path / "out", "--engine", "prism", *more) == expected


@pytest.mark.flink
@pytest.mark.usefixtures("flink")
@pytest.mark.parametrize("more", [("--large_model",), ACCELERATOR], ids=["shared", "accelerator"])
def test_flink_writes_the_same_bytes(directory, expected, tmp_path, more):
    assert digest_of(directory, tmp_path / "out", "--engine", "flink", *more) == expected
