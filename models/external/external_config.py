"""Settings of external aligners, and facts about these programs."""

import dataclasses
import json
from pathlib import Path
from typing import Literal

from pairweave.models.weights.weights import inspect_model, require_safetensors
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_values import require_choice

ProgramName = Literal["fast_align", "systran-align", "eflomal", "awesome-align", "simalign", "giza"]
Way = Literal["fitted", "pair by pair", "whole corpus"]


@dataclasses.dataclass(frozen=True, slots=True)
class About:
    """Facts about a program.

    Attributes:
        way: ``fitted``: it learns from a sample, and its trained model aligns all shards.
            ``pair by pair``: it does not learn. ``whole corpus``: its links for a pair depend on
            all pairs in its input, so that no shard can be aligned alone.
        executable: Its name on the search path; None for a package without an executable.
        package: Its Python package, if any.
        install: Installation instructions.
        why_whole: The reason that it needs a whole corpus, for messages.
        heads: Its own methods of extracting links, the default first.
        weights: The only file of weights that it reads in an encoder's directory, if it supports
            just one. The file is made from safetensors in a private directory
            (`models.external.external_encoders`).
        family: The ``model_type`` of the encoders that it can read, if it supports just one.
        vocabulary: The vocabulary file that it reads, likewise.
        module: Module of the package that Python runs instead of the executable.
    """

    way: Way
    executable: str | None
    package: str | None
    install: str
    why_whole: str = ""
    heads: tuple[str, ...] = ()
    weights: str | None = None
    family: str | None = None
    vocabulary: str | None = None
    module: str | None = None


ABOUT: dict[str, About] = {
    "fast_align": About(
        "fitted",
        "fast_align",
        None,
        "build it from github.com/clab/fast_align, or take --program systran-align, the same "
        "method as a Python package",
    ),
    "systran-align": About("fitted", None, "systran-align", "pip install systran-align"),
    "eflomal": About(
        "whole corpus",
        "eflomal-align",
        "eflomal",
        "pip install eflomal, in an environment of its own: it is under the GPL",
        "it samples links at random and takes no seed, so the same shard would not give the "
        "same bytes twice",
    ),
    "awesome-align": About(
        "pair by pair",
        "awesome-align",
        "awesome-align",
        "pip install 'pairweave[awesome]'",
        heads=("softmax", "entmax15"),
        weights="pytorch_model.bin",
        family="bert",
        vocabulary="vocab.txt",
        module="awesome_align.run_align",
    ),
    "simalign": About(
        "pair by pair",
        None,
        "simalign",
        "pip install simalign",
        heads=("itermax", "argmax", "match"),
    ),
    "giza": About(
        "whole corpus",
        "GIZA++",
        None,
        "build GIZA++ and mkcls from github.com/moses-smt/giza-pp",
        "it is trained on the pairs that it aligns, so a pair's links would depend on the "
        "other pairs of its shard",
    ),
}
PROGRAMS = tuple(ABOUT)


@dataclasses.dataclass(frozen=True, slots=True)
class ExternalConfig:
    """Settings of an external aligner.

    Attributes:
        program: One of `PROGRAMS`.
        path: Its executable, or the Python that has its package; by default from the search path or
            this Python.
        model: Directory of an encoder, for the programs that need one.
        layer: Layer of the encoder.
        head: Method of extracting links; None for the program's own default.
        timeout_seconds: Time limit of one call.
    """

    program: str
    path: str | None = None
    model: str | None = None
    layer: int = 8
    head: str | None = None
    timeout_seconds: int = 3600

    def __post_init__(self) -> None:
        """Check every setting; files are checked with the program."""
        require_choice("program", self.program, PROGRAMS)
        about = self.about
        if self.timeout_seconds < 1:
            raise ConfigError(f"program_timeout must be at least 1, got {self.timeout_seconds}")
        if self.head is not None and self.head not in about.heads:
            known = " or ".join(about.heads) or "no head at all"
            raise ConfigError(f"--program {self.program} knows {known}, got --head {self.head}")
        if about.heads and self.model is None:
            raise ConfigError(f"--program {self.program} needs --model DIRECTORY of an encoder")
        if about.heads and self.layer < 0:
            raise ConfigError(
                f"--program {self.program} counts layers from 0, got --layer {self.layer}"
            )

    @property
    def about(self) -> About:
        """Return the facts about the program."""
        return ABOUT[self.program]

    @property
    def extraction(self) -> str:
        """Return the method of extracting links from an encoder; empty if there is none."""
        return self.head or next(iter(self.about.heads), "")

    def model_path(self) -> Path:
        """Return the encoder's directory.

        Raises:
            ConfigError: There is none (the model of a hub name may change between shards), its
                weights are damaged or would have to be unpickled, or the program cannot read
                such an encoder.
        """
        path = Path(self.model or "").expanduser()
        if not path.is_dir():
            raise ConfigError(
                f"--model {self.model}: --program {self.program} needs the directory of an "
                "encoder, with the files that its own package reads"
            )
        require_safetensors(path)
        if self.about.weights is not None:
            inspect_model(path)
            self._require_readable(path)
        return path.absolute()

    def _require_readable(self, path: Path) -> None:
        """Refuse an encoder that the program would not read, or would read wrongly."""
        about = self.about
        found = json.loads((path / "config.json").read_bytes()).get("model_type", about.family)
        if about.family is not None and found != about.family:
            raise ConfigError(
                f"--model {self.model}: --program {self.program} reads encoders of the type "
                f"{about.family} alone, this is {found}; align it with --aligner encoder"
            )
        if about.vocabulary is not None and not (path / about.vocabulary).is_file():
            raise ConfigError(
                f"--model {self.model}: --program {self.program} reads the vocabulary from "
                f"{about.vocabulary}, but there is none; get it from where the model comes from"
            )
