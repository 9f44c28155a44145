"""awesome-align (Dou and Neubig 2021) and SimAlign (Jalili Sabet et al. 2020), in their own Python.

Both find one set of links, which is used for both directions, so that no symmetrization heuristic
changes it.
"""

import abc
import hashlib
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pairweave.models.external.external_config import ExternalConfig
from pairweave.models.external.external_process import find_program, python_of, read_answer, run
from pairweave.models.external.external_text import Directions, Text
from pairweave.models.weights.weights import inspect_model
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.rejects import Reject

# The command as in awesome-align's documentation.
_BATCH_PAIRS = 32

_METHODS = {"argmax": "a", "itermax": "i", "match": "m"}

# A sentence that the encoder cannot take whole is said to be too long instead of being cut
# silently; a side whose tokens leave no piece has nothing to link.
_SIMALIGN = """
import sys
import simalign
model, layer, method, text, answer = sys.argv[1:]
aligner = simalign.SentenceAligner(
    model=model, token_type="bpe", matching_methods=method, device="cpu", layer=int(layer)
)
name = {"a": "inter", "i": "itermax", "m": "mwmf"}[method]
loader = aligner.embed_loader
tokenizer, config = loader.tokenizer, loader.emb_model.config
room = min(tokenizer.model_max_length, getattr(config, "max_position_embeddings", 1 << 30))
room -= tokenizer.num_special_tokens_to_add()
with open(text, encoding="utf-8") as lines, open(answer, "w", encoding="utf-8") as file:
    for line in lines:
        sides = [side.split(" ") for side in line.rstrip("\\n").split(" ||| ")]
        sizes = [sum(len(tokenizer.tokenize(word)) for word in side) for side in sides]
        if max(sizes) > room:
            print(f"! {max(sizes)} {room}", file=file)
        elif min(sizes) == 0:
            print(file=file)
        else:
            print(*(f"{i}-{j}" for i, j in aligner.get_word_aligns(*sides)[name]), file=file)
"""

_PICKLE = """
import sys
import torch
from safetensors.torch import load_file
weights = {}
for path in sys.argv[2:]:
    weights.update(load_file(path))
torch.save(weights, sys.argv[1])
"""


class _EncoderProgram(abc.ABC):
    """A program that aligns with a given encoder and learns nothing."""

    def __init__(self, config: ExternalConfig) -> None:
        """Keep the settings."""
        self._config = config

    def learn(self, text: Text) -> dict[str, bytes]:  # noqa: ARG002 - as the encoder is
        """Learn nothing: the encoder is given."""
        return {}

    def align(self, text: Text, learned: Mapping[str, bytes]) -> Directions:  # noqa: ARG002
        """Align text."""
        if not len(text):
            return Directions(b"", b"")
        with tempfile.TemporaryDirectory(prefix="pairweave-") as name:
            directory = Path(name)
            (directory / "text").write_text(text.joined(), encoding="utf-8")
            return self._answer(directory)

    @abc.abstractmethod
    def _answer(self, directory: Path) -> Directions:
        """Run the program on the file `text` of a directory."""


class AwesomeAlign(_EncoderProgram):
    """The command ``awesome-align``; truncates sentences at its encoder's limit."""

    def _answer(self, directory: Path) -> Directions:
        config = self._config
        command = find_program(config)
        start: tuple[str, ...] = (command,)
        if Path(command).name.startswith("python"):
            start = (command, "-m", str(config.about.module))
        model = self._private_model(directory / "encoder", command)
        arguments = (
            *start,
            *("--data_file", "text", "--output_file", "links"),
            *("--model_name_or_path", str(model)),
            *("--align_layer", str(config.layer), "--extraction", config.extraction),
            # With more, it splits the file by bytes, and reads lines of a short file twice.
            *("--batch_size", str(_BATCH_PAIRS), "--num_workers", "1"),
        )
        run("awesome-align", arguments, config.timeout_seconds, directory)
        links = read_answer(directory / "links", "awesome-align")
        return Directions(links, links)

    def _private_model(self, directory: Path, command: str) -> Path:
        """Make a directory of an encoder with its weights in the form that the program reads.

        Its other files are links. The program's own Python pickles the weights from safetensors;
        pickled files of the user are never read.
        """
        config = self._config
        assert config.about.weights is not None
        found = inspect_model(config.model_path())
        directory.mkdir()
        for path in found.others:
            (directory / path.name).symlink_to(path.absolute())
        python = python_of(command) or sys.executable
        weights = (str(directory / config.about.weights), *map(str, found.weights))
        arguments = (python, "-c", _PICKLE, *weights)
        run("conversion of safetensors", arguments, config.timeout_seconds, directory)
        return directory


class SimAlign(_EncoderProgram):
    """The package ``simalign``; gives up pairs over its encoder's limit."""

    def _answer(self, directory: Path) -> Directions:
        config = self._config
        settings = (str(config.model_path()), str(config.layer), _METHODS[config.extraction])
        command = (find_program(config), "-c", _SIMALIGN, *settings, "text", "links")
        run("simalign", command, config.timeout_seconds, directory)
        lines = read_answer(directory / "links", "simalign").splitlines()
        given_up = {}
        for number, line in enumerate(lines):
            if line.startswith(b"!"):
                given_up[number] = _too_long(line)
                lines[number] = b""
        links = b"".join(line + b"\n" for line in lines)
        return Directions(links, links, given_up)


def model_digest(config: ExternalConfig) -> str:
    """Return the hex SHA-256 of an encoder's directory: its files' names and contents."""
    digest = hashlib.sha256()
    for path in sorted(config.model_path().iterdir()):
        if path.is_file() and not path.name.startswith("."):
            with path.open("rb") as file:
                inner = hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(f"{path.name} {inner}\n".encode())
    return digest.hexdigest()


def _too_long(line: bytes) -> tuple[str, str]:
    words = line.split()
    if len(words) != 3:
        raise WorkerError(f"simalign: expected links or '! pieces room', found {line[:80]!r}")
    detail = f"{int(words[1])} pieces; the encoder's limit is {int(words[2])}"
    return str(Reject.TOO_LONG_FOR_ENCODER), detail
