"""Small stand-ins for external aligners, and the real ones if installed.

A stand-in links word i to word i, so that what it was given can be read off its links.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest

from pairweave.models.external.external_process import identity
from pairweave.models.external.external_programs import PROGRAMS, ExternalConfig
from pairweave.transforms.errors import PairweaveError

FAST_ALIGN = """
import sys
arguments = sys.argv[1:]
value = dict(zip(arguments, arguments[1:]))
if "-p" in arguments:
    text = open(value["-i"], encoding="utf-8").read()
    open(value["-p"], "w").write(f"{len(text.splitlines())} pairs {'-r' in arguments}\\n")
    print("expected target length = source length * 1.25", file=sys.stderr)
    print("     final tension: 3.5", file=sys.stderr)
    print("     final tension: 4.5", file=sys.stderr)
    for line in text.splitlines():
        print("")
else:
    assert (value["-T"], value["-m"]) == ("4.5", "1.25"), arguments
    assert open(value["-f"]).read().endswith(f"{'-r' in arguments}\\n"), arguments
    for line in sys.stdin.buffer.read().decode().split("\\n")[:-1]:
        source, target = line.split(" ||| ")
        sizes = len(source.split()), len(target.split())
        links = [(i, i) for i in range(min(sizes))]
        if "-r" in arguments:
            links = links[:1]
        shown = " ".join(f"{i}-{j}" for i, j in reversed(links))
        print(f"{source} ||| {target} ||| {shown} ||| -1.5")
"""

EFLOMAL = """
import sys
value = dict(zip(sys.argv[1:], sys.argv[2:]))
lines = [open(value[name], encoding="utf-8").read().splitlines() for name in ("-s", "-t")]
for name in ("-f", "-r"):
    with open(value[name], "w") as file:
        for source, target in zip(*lines, strict=True):
            size = min(len(source.split()), len(target.split()))
            print(*(f"{i}-{i}" for i in range(size)), file=file)
"""

AWESOME_ALIGN = """
import sys
value = dict(zip(sys.argv[1:], sys.argv[2:]))
assert (value["--align_layer"], value["--extraction"]) == ("8", "softmax")
lines = open(value["--data_file"], encoding="utf-8")
with lines, open(value["--output_file"], "w") as out:
    for line in lines:
        source, target = line.split(" ||| ")
        assert source.strip() and target.strip()
        size = min(len(source.split()), len(target.split()))
        print(*(f"{i}-{i}" for i in reversed(range(size))), file=out)
"""

SIMALIGN_PACKAGE = """
class Tokenizer:
    model_max_length = 1 << 30
    def num_special_tokens_to_add(self):
        return 2
    def tokenize(self, word):
        return list(word)

class SentenceAligner:
    def __init__(self, model, token_type, matching_methods, device, layer):
        assert (token_type, matching_methods, device, layer) == ("bpe", "i", "cpu", 8)
        config = type("Config", (), {"max_position_embeddings": ROOM + 2})
        loaded = type("Model", (), {"config": config})
        self.embed_loader = type("Loader", (), {"tokenizer": Tokenizer(), "emb_model": loaded})
    def get_word_aligns(self, source, target):
        return {"itermax": [(i, i) for i in range(min(len(source), len(target)))]}
"""

# Checks its input as GIZA++ would, and links word i to word i, the last words to nothing.
GIZA = """
import sys
value = dict(zip(sys.argv[1:], sys.argv[2:]))
words = {}
for name in ("-S", "-T"):
    rows = [line.split() for line in open(value[name])]
    words[name] = {int(number) for number, _, _ in rows}
    assert min(words[name]) == 2 and all(int(count) > 0 for _, _, count in rows)
    open(value[name] + ".classes").read()
met = {tuple(map(int, line.split())) for line in open(value["-CoocurrenceFile"])}
lines = open(value["-C"]).read().splitlines()
with open(value["-o"] + ".A3.final", "w") as out:
    for place in range(0, len(lines), 3):
        assert lines[place] == "1"
        source, target = (list(map(int, line.split())) for line in lines[place + 1 : place + 3])
        assert set(source) <= words["-S"] and set(target) <= words["-T"]
        assert {(s, t) for s in (0, *source) for t in target} <= met
        print("# Sentence pair", file=out)
        print(*target, file=out)
        shown = [f"w{s} ({{ {i + 1 if i < len(target) else ''} }})" for i, s in enumerate(source)]
        rest = " ".join(str(j + 1) for j in range(len(source), len(target)))
        print("NULL ({", rest, "})", *shown, file=out)
"""

MKCLS = """
import sys
text, classes = (word[2:] for word in sys.argv[1:] if word[:2] in ("-p", "-V"))
found = sorted(set(open(text).read().split()))
open(classes, "w").write("".join(f"{word}\\t2\\n" for word in found))
"""


def simalign_package(room):
    """Return the package with an encoder that takes so many letters."""
    return SIMALIGN_PACKAGE.replace("ROOM", str(room))


def write_program(path, code):
    """Write a Python script that may be run; returns its path as text."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{code}")
    path.chmod(0o755)
    return str(path)


def write_python(directory, package, code, *, beside=(), alone=False):
    """Write a Python that has one more package, or it alone; returns its path as text.

    ``beside`` names packages that it claims to have.
    """
    directory = Path(directory)
    (directory / "packages").mkdir(parents=True)
    (directory / "packages" / f"{package}.py").write_text(code)
    for name in (package, *beside):
        about = directory / "packages" / f"{name}-9.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.0\n")
    path = directory / "python"
    python = f"{sys.executable} -S" if alone else sys.executable
    path.write_text(f'#!/bin/sh\nPYTHONPATH={directory}/packages exec {python} "$@"\n')
    path.chmod(0o755)
    return str(path)


def installed(program, **settings):
    """Return the settings of a program that is installed, or skip.

    `PAIRWEAVE_PROGRAMS` may name directories of executables, such as the `bin` of environments,
    parted as those of `PATH` are; they are looked at first, then that of this Python, then `PATH`.
    """
    about = PROGRAMS[program]
    places = list(filter(None, os.environ.get("PAIRWEAVE_PROGRAMS", "").split(os.pathsep)))
    places.append(str(Path(sys.executable).parent))
    for place in [*places, *os.environ.get("PATH", "").split(os.pathsep)]:
        path = shutil.which(about.executable or "python", path=place)
        if path is None:
            continue
        config = ExternalConfig(program, path, **settings)
        try:
            identity(config)
        except PairweaveError:
            continue
        return config
    return pytest.skip(
        f"needs {program} on PATH or in a directory that PAIRWEAVE_PROGRAMS names: {about.install}"
    )
