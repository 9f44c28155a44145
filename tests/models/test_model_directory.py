"""A pipe, a device or a broken link in a model's directory is refused without waiting for it."""

import itertools
import os
import socket

import pytest

from pairweave.models.model_directory import require_regular
from pairweave.models.weights.weights import inspect_model, require_safetensors
from pairweave.transforms.errors import ConfigError
from tests.makers import runs

FILES = ("config.json", "model.safetensors", "tokenizer.json", "sentencepiece.bpe.model", "vocab")


@pytest.fixture
def directory(tmp_path):
    made = tmp_path / "model"
    made.mkdir()
    for name in FILES:
        (made / name).write_text("{}")
    return made


def put(path, kind):
    """Put something that is not a regular file in the place of a file."""
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "directory":
        path.mkdir()
    else:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))


@pytest.mark.parametrize(
    ("name", "kind"),
    [*itertools.product(FILES[:-1], ["pipe", "device", "directory", "socket"]), ("vocab", "pipe")],
)
def test_what_is_no_regular_file_is_named(directory, name, kind):
    put(directory / name, kind)
    for read in (require_regular, inspect_model, require_safetensors):
        with pytest.raises(
            ConfigError, match=rf"model/{name}: is not a regular file; put the model"
        ):
            read(directory)


def test_a_link_to_a_file_that_is_gone_is_named_with_its_target(directory):
    (directory / "config.json").unlink()
    (directory / "config.json").symlink_to("../blobs/0f3a")
    with pytest.raises(ConfigError, match=r"config\.json: links to \.\./blobs/0f3a, which is not"):
        inspect_model(directory)


def test_links_to_files_and_directories_beside_them_are_left_alone(directory, tmp_path):
    (tmp_path / "blob").write_text("{}")
    (directory / "config.json").unlink()
    (directory / "config.json").symlink_to(tmp_path / "blob")
    (directory / "onnx").mkdir()
    (directory / "runs").symlink_to(tmp_path / "gone")
    os.mkfifo(directory / ".hidden")
    require_regular(directory)


SIDES = ("--source_input", "s", "--target_input", "t", "--source_lang", "en", "--target_lang", "de")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("about.json", ("align", *SIDES, "--model", "model")),
        ("config.json", ("align", *SIDES, "--aligner", "encoder", "--model", "model")),
        ("model.safetensors", ("align", *SIDES, "--aligner", "encoder", "--model", "model")),
        ("tokenizer.json", ("align", *SIDES, "--aligner", "encoder", "--model", "model")),
        ("config.json", ("align", *SIDES, "--second_aligner", "encoder:model")),
        ("config.json", ("finetune", *SIDES, "--model", "model")),
        ("config.json", ("suggest", *SIDES, "--translator", "transformers:model")),
        ("source.spm", ("suggest", *SIDES, "--translator", "transformers:model")),
        ("model.bin", ("suggest", *SIDES, "--translator", "ctranslate2:model")),
        ("source.spm", ("suggest", *SIDES, "--translator", "ctranslate2:model")),
        ("config.json", ("suggest", *SIDES, "--scorer", "transformers:model")),
        ("vocab.json", ("suggest", *SIDES, "--scorer", "ctranslate2:model")),
        ("tokenizer.json", ("tags", "vocabulary", "--tokenizer", "model")),
    ],
)
def test_a_job_names_a_pipe_in_the_model_that_it_is_given(directory, name, arguments):
    if arguments[0] != "align" or "encoder" in " ".join(arguments):
        pytest.importorskip("torch", reason="needs the extra `neural`")
    if "ctranslate2:model" in arguments:
        pytest.importorskip("ctranslate2", reason="needs the extra `translate`")
    folder = directory.parent
    for side in "st":
        (folder / side).write_text("a b\n")
    (directory / name).unlink(missing_ok=True)
    os.mkfifo(directory / name)
    output = ("--output_tokenizer", "new") if arguments[0] == "tags" else ("--output", "out")
    if "--scorer" in arguments:
        output += ("--reverse_scorer", arguments[-1], "--translation_input", "t")
    status, _, errors = runs.run_here(*arguments, *output, cwd=folder)
    assert status == 2, errors
    assert f"model/{name}: is not a regular file; put the model's own file in its place" in errors
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("tags", "vocabulary", "--sentencepiece", "pipe.model", "--output_model", "new"),
        ("align", *SIDES, "--tokens", "sentencepiece:pipe.model", "--output", "out"),
        ("augment", *SIDES, "--tag_profile", "pipe.model", "--output", "out"),
    ],
)
def test_a_pipe_in_the_place_of_one_file_is_for_the_user_to_mend(tmp_path, arguments):
    for side in "st":
        (tmp_path / side).write_text("a b\n")
    os.mkfifo(tmp_path / "pipe.model")
    status, _, errors = runs.run_here(*arguments, cwd=tmp_path)
    assert status == 2, errors
    assert "pipe.model" in errors
    assert "is a named pipe, not a regular file" in errors
