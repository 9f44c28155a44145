"""awesome-align of the extra `awesome`: found without a path, given safetensors, and compared."""

import dataclasses
import json
import pickle
import shutil
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra `neural`")
pytest.importorskip("awesome_align", reason="needs the extra `awesome`")

from transformers import BertForMaskedLM

from pairweave.models.encoder.encoder_config import EncoderConfig, HeadConfig
from pairweave.models.encoder.neural import load_aligner
from pairweave.models.external import external
from pairweave.models.external.external import ExternalAligner
from pairweave.models.external.external_process import find_program, identity
from pairweave.models.external.external_programs import ExternalConfig
from pairweave.transforms.errors import ConfigError
from tests.makers import runs
from tests.makers.encoders import both_directions, write_bert
from tests.makers.real_pairs import real_pairs
from tests.makers.token_tables import links_of, token_table

PAIRS = 40
LAYER = 2


@pytest.fixture(scope="module")
def pairs(shared_data):
    return real_pairs(shared_data, count=PAIRS)


@pytest.fixture(scope="module")
def encoder(pairs, tmp_path_factory):
    """Return a small BERT with random weights, as safetensors alone."""
    directory = tmp_path_factory.mktemp("awesome") / "bert"
    write_bert(directory, [text for pair in pairs for text in pair], layers=LAYER)
    assert [path.name for path in directory.glob("*.bin")] == []
    return directory


class Trap:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark):
        self._mark = mark

    def __reduce__(self):
        return Path.touch, (self._mark,)


@dataclasses.dataclass
class Aligned:
    """What a call of the program with the head softmax on all pairs gives.

    Attributes:
        links: Of each pair.
        modes: Of the folder of each process that is started.
        left: What is left of temporary files.
        mark: Where the pickle beside the safetensors leaves a mark.
    """

    links: list
    modes: list
    left: list
    mark: Path


@pytest.fixture(scope="module")
def softmax(pairs, encoder, tmp_path_factory):
    """Return what the program says if a pickle lies beside the safetensors of the encoder."""
    copy = shutil.copytree(encoder, tmp_path_factory.mktemp("copy") / "bert")
    mark = copy.parent / "unpickled"
    (copy / "pytorch_model.bin").write_bytes(pickle.dumps(Trap(mark)))
    directory = tmp_path_factory.mktemp("temporary")
    modes = []
    run = external.run

    def watched(*call):
        (home,) = directory.iterdir()
        modes.append(home.stat().st_mode & 0o777)
        return run(*call)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(directory))
        patch.setattr("tempfile.tempdir", None)
        patch.setattr(external, "run", watched)
        linked = ExternalAligner(config_of(copy)).align(token_table(pairs))
    return Aligned(links_of(linked), modes, list(directory.iterdir()), mark)


def config_of(encoder, head="softmax", **more):
    return ExternalConfig("awesome-align", model=str(encoder), layer=LAYER, head=head, **more)


def test_the_extra_brings_a_program_that_needs_no_path(monkeypatch, encoder):
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_program(config_of(encoder)) == sys.executable
    assert identity(config_of(encoder)).startswith("awesome-align==0.1.7 torch==")


def links_of_our_encoder(pairs, encoder, head):
    config = EncoderConfig(str(encoder), layer=LAYER, head=HeadConfig(head))
    return both_directions(load_aligner(config).align(token_table(pairs)))


def assert_all_but_equal(theirs, ours):
    assert sum(map(len, theirs)) > 300
    # Vectors of random weights are all but equal here and there; then rounding decides.
    same = sum(map(len, map(set.intersection, theirs, ours)))
    assert same > 0.98 * max(sum(map(len, theirs)), sum(map(len, ours)))


def test_its_links_are_those_of_our_encoder(pairs, encoder, softmax):
    assert_all_but_equal(softmax.links, links_of_our_encoder(pairs, encoder, "softmax"))


def test_its_links_by_its_other_head_are_those_of_our_encoder(pairs, encoder):
    config = config_of(encoder, "entmax15")
    theirs = links_of(ExternalAligner(config).align(token_table(pairs)))
    assert_all_but_equal(theirs, links_of_our_encoder(pairs, encoder, "entmax15"))


def test_weights_under_another_name_or_in_parts_give_the_same_links(
    pairs, encoder, softmax, tmp_path
):
    model = BertForMaskedLM.from_pretrained(encoder)
    for path in encoder.iterdir():
        if path.suffix != ".safetensors":
            shutil.copy(path, tmp_path)
    model.save_pretrained(tmp_path, max_shard_size="100KB")
    assert (tmp_path / "model.safetensors.index.json").is_file()
    linked = ExternalAligner(config_of(tmp_path)).align(token_table(pairs))
    assert links_of(linked) == softmax.links


def test_a_pickle_beside_safetensors_is_never_read(softmax):
    assert not softmax.mark.exists()


def test_pickled_weights_alone_are_refused_with_the_command_that_converts_them(encoder, tmp_path):
    copy = shutil.copytree(encoder, tmp_path / "bert")
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(ConfigError, match=r"pytorch_model\.bin: .* pickled only.*\npython -c"):
        ExternalAligner(config_of(copy))
    simalign = ExternalConfig("simalign", sys.executable, str(copy))
    with pytest.raises(ConfigError, match="the weights are pickled only"):
        simalign.model_path()


def test_an_encoder_that_it_would_misread_is_refused(encoder, tmp_path):
    copy = shutil.copytree(encoder, tmp_path / "bert")
    (copy / "vocab.txt").unlink()
    with pytest.raises(ConfigError, match=r"reads the vocabulary from vocab\.txt, but there is no"):
        ExternalAligner(config_of(copy))
    settings = json.loads((encoder / "config.json").read_text()) | {"model_type": "roberta"}
    (copy / "config.json").write_text(json.dumps(settings))
    with pytest.raises(ConfigError, match="of the type bert alone, this is roberta"):
        ExternalAligner(config_of(copy))
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-5])
    with pytest.raises(ConfigError, match="damaged: it should have"):
        ExternalAligner(config_of(copy))


def test_the_converted_weights_are_private_and_gone_afterwards(softmax):
    assert softmax.modes == [0o700, 0o700]
    assert softmax.left == []


@pytest.mark.slow
def test_a_job_with_it_needs_no_path_and_writes_the_same_bytes_with_two_workers(
    pairs, encoder, tmp_path
):
    for side, texts in zip(("s", "t"), zip(*pairs, strict=True), strict=True):
        (tmp_path / side).write_text("".join(f"{text}\n" for text in texts))
    made = []
    for workers in (1, 2):
        output = tmp_path / f"out{workers}"
        runs.run_well(
            *("align", "--source_input", "s", "--target_input", "t", "--shard_pairs", 20),
            *("--aligner", "external", "--program", "awesome-align", "--model", encoder),
            *("--layer", LAYER, "--workers", workers, "--output", output),
            cwd=tmp_path,
        )
        made.append(runs.tree_digests(output))
    assert made[0] == made[1]
