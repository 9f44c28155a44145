"""The table of external aligners: facts, commands and answers of each, and a user's settings."""

import dataclasses
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from pairweave.models.external import external_files
from pairweave.models.external.external_files import Answer
from pairweave.models.weights.weights import inspect_model, require_safetensors
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_values import require_choice

Way = Literal["fitted", "pair by pair", "whole corpus"]
FORWARD, REVERSE, LINKS = "forward.params", "reverse.params", "links"
SETTINGS = "settings.json"
"""Name of the file of values that a program printed while it learned (`Call.printed`)."""


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """One call of a program, in a directory that has the program's `Program.inputs`.

    Attributes:
        command: Its words, separated by blanks. The first is ``{program}``, or the name of another
            executable next to it. Others may contain ``{layer}``, ``{head}`` and ``{model}`` (the
            encoder's directory), and values that the program printed while it learned, as in
            ``{forward[tension]}``.
        answers: The files that it must write; ``-`` is its standard output. For a call that aligns,
            they are the links of the forward direction, then those of the reverse.
        stdin: The file that it reads from standard input, if any.
        read: Reads an answer of a call that aligns.
        printed: Reads values from the standard error of a call that learns; they are stored under
            the names of its answers.
    """

    command: str
    answers: tuple[str, ...] = ()
    stdin: str | None = None
    read: Callable[[bytes], Answer] = external_files.read_links
    printed: Callable[[bytes], dict[str, str]] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Program:
    """An external aligner.

    Attributes:
        install: Installation instructions.
        align: The calls that align. If they give one answer in all, it is used for both directions,
            so that no symmetrization heuristic changes it.
        learn: The calls that learn; their answers are the trained model.
        inputs: Makes the files that the calls read from the lines of both sides; by default
            ``text``, with lines ``source ||| target``.
        executable: Its name on the search path; None for a package without an executable.
        package: Its Python package, if any.
        computes_with: Other packages whose version can change a package's links.
        title: Its name in messages about a call; by default as in ``--program``.
        why_whole: The reason that it needs a whole corpus at once, for messages; empty if it does
            not.
        module: Module of the package that Python runs instead of the executable.
        script: Python code that runs the package, if it has no executable.
        heads: Its own methods of extracting links, the default first.
        weights: The only file of weights that it reads in an encoder's directory, if it supports
            just one. The file is made from safetensors in a private directory.
        family: The ``model_type`` of the encoders that it can read, if it supports just one.
        vocabulary: The vocabulary file that it reads, if it supports just one.
    """

    install: str
    align: tuple[Call, ...]
    learn: tuple[Call, ...] = ()
    inputs: Callable[[list[str], list[str]], dict[str, str]] = external_files.joined
    executable: str | None = None
    package: str | None = None
    computes_with: tuple[str, ...] = ()
    title: str | None = None
    why_whole: str = ""
    module: str | None = None
    script: str | None = None
    heads: tuple[str, ...] = ()
    weights: str | None = None
    family: str | None = None
    vocabulary: str | None = None

    @property
    def way(self) -> Way:
        """Return how it works.

        ``fitted``: it learns from a sample, and its trained model aligns all shards. ``pair by
        pair``: it does not learn. ``whole corpus``: its links for a pair depend on all pairs in its
        input, so that no shard can be aligned alone; it is for comparison only.
        """
        if self.why_whole:
            return "whole corpus"
        return "fitted" if self.learn else "pair by pair"


_SYSTRAN = """
import json, sys
import systran_align
mode, text, forward, reverse, answer = sys.argv[1:]
if mode == "learn":
    systran_align.generate_alignment_probabilities(
        text, forward, reverse,
        favor_diagonal=True, optimize_tension=True, variational_bayes=True,
    )
else:
    pairs = [line.rstrip("\\n").split(" ||| ") for line in open(text, encoding="utf-8")]
    sides = [[side.split(" ") for side in column] for column in zip(*pairs)] or [[], []]
    aligned = systran_align.Aligner(forward, reverse).align_batch(*sides)
    with open(answer, "w", encoding="utf-8") as file:
        for pair in aligned:
            print(*(f"{i}-{j}" for i, j in pair["alignments"]), file=file)
"""

# A sentence that the encoder cannot take whole is reported as too long instead of being truncated
# silently; a side whose tokens give no pieces has nothing to link.
_SIMALIGN = """
import sys
import simalign
model, layer, head, text, answer = sys.argv[1:]
aligner = simalign.SentenceAligner(
    model=model, token_type="bpe", matching_methods=head[0], device="cpu", layer=int(layer)
)
name = {"argmax": "inter", "itermax": "itermax", "match": "mwmf"}[head]
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

_GIZA = "-p0 0.98 -m1 5 -m2 0 -mh 5 -m3 3 -m4 3"

PROGRAMS: dict[str, Program] = {
    # Dyer, Chahuneau and Smith 2013, as they recommend: favour the diagonal (-d), fit its strength
    # (-o), and use a prior (-v). The links for new text differ from those that it prints while it
    # learns: its parameters are those before the last iteration, without rare translations.
    "fast_align": Program(
        executable="fast_align",
        install="build it from github.com/clab/fast_align, or take --program systran-align, the "
        "same method as a Python package",
        learn=tuple(
            Call(
                f"{{program}} -i text -d -o -v {turned} -p {file}",
                answers=(file,),
                printed=external_files.fast_align_settings,
            )
            for file, turned in ((FORWARD, ""), (REVERSE, "-r"))
        ),
        align=tuple(
            Call(
                f"{{program}} -i - -d -T {{{name}[tension]}} -m {{{name}[length_ratio]}} -f {file}",
                answers=("-",),
                stdin="text",
                read=external_files.read_fast_align,
            )
            for name, file in (("forward", FORWARD), ("reverse", f"{REVERSE} -r"))
        ),
    ),
    # The same method; it joins both directions itself.
    "systran-align": Program(
        package="systran-align",
        install="pip install systran-align",
        script=_SYSTRAN,
        learn=(Call(f"{{program}} learn text {FORWARD} {REVERSE} {LINKS}", (FORWARD, REVERSE)),),
        align=(Call(f"{{program}} align text {FORWARD} {REVERSE} {LINKS}", (LINKS,)),),
    ),
    # Östling and Tiedemann 2016, with its own defaults: three samplers, model 3.
    "eflomal": Program(
        executable="eflomal-align",
        package="eflomal",
        install="pip install eflomal, in an environment of its own: it is under the GPL",
        why_whole="it samples links at random and takes no seed, so the same shard would not give "
        "the same bytes twice",
        inputs=external_files.sides,
        align=(
            Call("{program} -s source -t target -f forward -r reverse", ("forward", "reverse")),
        ),
    ),
    # Dou and Neubig 2021, called as in its documentation; it truncates sentences at its encoder's
    # limit. With more workers, it splits the file by bytes and reads lines of a short file twice.
    "awesome-align": Program(
        executable="awesome-align",
        package="awesome-align",
        computes_with=("torch",),
        install="pip install 'pairweave[awesome]'",
        module="awesome_align.run_align",
        heads=("softmax", "entmax15"),
        weights="pytorch_model.bin",
        family="bert",
        vocabulary="vocab.txt",
        align=(
            Call(
                f"{{program}} --data_file text --output_file {LINKS} --model_name_or_path {{model}}"
                " --align_layer {layer} --extraction {head} --batch_size 32 --num_workers 1",
                answers=(LINKS,),
            ),
        ),
    ),
    # Jalili Sabet et al. 2020.
    "simalign": Program(
        package="simalign",
        computes_with=("torch", "transformers"),
        install="pip install simalign",
        script=_SIMALIGN,
        heads=("itermax", "argmax", "match"),
        align=(
            Call(
                f"{{program}} {{model}} {{layer}} {{head}} text {LINKS}",
                answers=(LINKS,),
                read=external_files.read_simalign,
            ),
        ),
    ),
    # Och and Ney 2003: Model 1, HMM, Models 3 and 4, each direction. GIZA++ itself truncates
    # sentences of more than 100 words.
    "giza": Program(
        executable="GIZA++",
        title="GIZA++",
        install="build GIZA++ and mkcls from github.com/moses-smt/giza-pp",
        why_whole="it is trained on the pairs that it aligns, so a pair's links would depend on "
        "the other pairs of its shard",
        inputs=external_files.numbered_files,
        align=(
            Call("mkcls -c50 -n2 -psource -Vsource.vcb.classes opt"),
            Call("mkcls -c50 -n2 -ptarget -Vtarget.vcb.classes opt"),
            *(
                Call(
                    f"{{program}} -S {given}.vcb -T {made}.vcb -C {name}.snt"
                    f" -CoocurrenceFile {name}.cooc -o {name} {_GIZA}",
                    answers=(f"{name}.A3.final",),
                    read=functools.partial(external_files.read_viterbi, turned=name == "reverse"),
                )
                for name, (given, made) in external_files.DIRECTIONS.items()
            ),
        ),
    ),
}

if TYPE_CHECKING:
    ProgramName: TypeAlias = str
else:
    ProgramName = Literal[tuple(PROGRAMS)]


def names(**facts: object) -> list[str]:
    """Return the names of the programs with these facts, as in ``way="fitted"``."""
    return [
        name
        for name, program in PROGRAMS.items()
        if all(getattr(program, fact) == value for fact, value in facts.items())
    ]


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
    def about(self) -> Program:
        """Return the program's entry in the table."""
        return PROGRAMS[self.program]

    @property
    def extraction(self) -> str:
        """Return the method of extracting links from an encoder; empty if there is none."""
        return self.head or next(iter(self.about.heads), "")

    def model_path(self) -> Path:
        """Return the encoder's directory.

        Raises:
            ConfigError: It is not a directory (the model of a hub name may change between shards),
                its weights are damaged or would have to be unpickled, or the program cannot read
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
        """Refuse an encoder that the program cannot read, or would read wrongly."""
        about = self.about
        family = json.loads((path / "config.json").read_bytes()).get("model_type", about.family)
        if about.family is not None and family != about.family:
            raise ConfigError(
                f"--model {self.model}: --program {self.program} reads encoders of the type "
                f"{about.family} alone, this is {family}; align it with --aligner encoder"
            )
        if about.vocabulary is not None and not (path / about.vocabulary).is_file():
            raise ConfigError(
                f"--model {self.model}: --program {self.program} reads the vocabulary from "
                f"{about.vocabulary}, but there is none; get it from where the model comes from"
            )
