"""A wheel with compiled kernels: a first run compiles nothing, and writes the same bytes."""

import importlib.metadata
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from pairweave.transforms.kernels import kernel_cache
from tests.makers import corpora, runs
from tests.makers.trees import copy_sources

FOLDER = runs.ROOT / "deploy" / "wheels"
SHIPPED = f"pairweave/{kernel_cache.SHIPPED}"

pytestmark = pytest.mark.slow


def build(directory, level):
    """Build the wheel as `make wheels` does, at an optimization level; return its path."""
    pytest.importorskip("wheel", reason="needs the extra wheels")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "wheel"]
    tree = copy_sources(directory / "tree")
    pip += ["--no-deps", "--no-build-isolation", "--wheel-dir", str(directory), str(tree)]
    subprocess.run(pip, check=True)
    (pure,) = directory.glob("*-none-any.whl")
    compile_wheel = [sys.executable, str(FOLDER / "compile_wheel.py")]
    done = subprocess.run(
        [*compile_wheel, str(pure), str(directory / "dist"), "--level", level],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=1100,
    )
    return Path(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    made = os.environ.get("PAIRWEAVE_WHEEL")
    if made:
        return Path(made)
    # The machine code differs, what is found and loaded does not, and it takes half the time.
    return build(tmp_path_factory.mktemp("built"), "1")


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """Install the wheel; return the directory."""
    directory = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    subprocess.run([*pip, "--no-deps", "--target", str(directory), str(wheel)], check=True)
    return directory


def test_it_is_for_one_python_and_platform(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        version = archive.read(f"{SHIPPED}/{kernel_cache.VERSION}").decode().strip()
        (about,) = (name for name in names if name.endswith(".dist-info/WHEEL"))
        about = archive.read(about).decode()
        indexes = [archive.read(name) for name in names if name.endswith(".nbi")]
        cpus = archive.read(f"{SHIPPED}/{kernel_cache.CPUS}").decode().split()
    python = "cp{}{}".format(*sys.version_info)
    assert f"-{python}-{python}-" in wheel.name
    assert f"Tag: {python}-{python}-" in about
    assert "Tag: py3-none-any" not in about
    assert version == importlib.metadata.version("numba")
    assert cpus == list(kernel_cache.platform_cpus())
    assert len(indexes) > 250
    assert all(cpu.encode() in index for index in indexes for cpu in cpus)
    assert not [name for name in names if name.endswith(".pyc")]


def run(site, cache, *words, **variables):
    """Run a command of a package, with a directory of compiled kernels and Numba's variables."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment = {**kept, **variables, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(site)}
    command = [sys.executable, "-m", "pairweave.pipelines.cli", *map(str, words)]
    done = subprocess.run(
        command, env=environment, cwd=site, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done


def compiled(directory):
    return sorted(path.name for path in directory.rglob("*.nbc"))


def command_of(job, directory):
    """Write a corpus; return a command line for it."""
    corpora.write_corpus(directory, 300)
    words = [
        *(job, "--source_input", directory / "corpus.en"),
        *("--target_input", directory / "corpus.de", "--shard_pairs", "100"),
        *("--source_lang", "en", "--target_lang", "de", "--workers", "2"),
    ]
    return [*words, "--translation_input", directory / "corpus.de"] if job == "suggest" else words


@pytest.mark.parametrize("job", ["augment", "suggest"])
def test_a_first_run_compiles_nothing(site, tmp_path, job):
    words = command_of(job, tmp_path)
    done = run(site, tmp_path / "cache", *words, "--output", tmp_path / "out")
    assert compiled(tmp_path / "cache") == []
    assert "compiling" not in done.stderr


def test_links_as_text_compile_nothing(site, tmp_path):
    links = tmp_path / "links"
    words = command_of("align", tmp_path)
    run(site, tmp_path / "cache", *words, "--output", tmp_path / "out", "--pharaoh", links)
    both = run(site, tmp_path / "cache", "symmetrize", links, links)
    assert both.stdout == links.read_text(encoding="utf-8")
    assert run(site, tmp_path / "cache", "phrases", links).stdout
    assert compiled(tmp_path / "cache") == []


def test_aligning_paragraphs_first_compiles_nothing(site, tmp_path):
    sides = zip(*(corpora.sentence(number) for number in range(60)), strict=True)
    for language, lines in zip(("en", "de"), sides, strict=True):
        parts = ["\n".join(lines[first : first + 5]) for first in range(0, 60, 5)]
        (tmp_path / f"text.{language}").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    words = ["bitext", "--source_input", tmp_path / "text.en", "--target_input"]
    words += [tmp_path / "text.de", "--source_lang", "en", "--target_lang", "de", "--allow_empty"]
    words += ["--paragraphs", "first", "--output", tmp_path / "out"]
    run(site, tmp_path / "cache", *words)
    assert compiled(tmp_path / "cache") == []


def test_a_second_aligner_compiles_nothing(site, tmp_path):
    fit = command_of("fit", tmp_path)
    run(site, tmp_path / "cache", *fit, "--output", tmp_path / "model")
    words = command_of("augment", tmp_path)
    words += ["--second_aligner", f"hmm:{tmp_path}/model", "--output", tmp_path / "out"]
    run(site, tmp_path / "cache", *words)
    assert compiled(tmp_path / "cache") == []


def test_text_without_spaces_compiles_nothing(site, tmp_path):
    words = command_of("augment", tmp_path)
    german = (tmp_path / "corpus.de").read_text(encoding="utf-8")
    japanese = german.replace(" ", "").replace("e", "家で").replace("n", "犬を")
    (tmp_path / "corpus.de").write_text(japanese, encoding="utf-8")
    words = ["ja" if word == "de" else word for word in words]
    run(site, tmp_path / "cache", *words, "--output", tmp_path / "out")
    assert compiled(tmp_path / "cache") == []


def test_an_encoder_compiles_nothing(site, tmp_path):
    pytest.importorskip("torch", reason="needs the extra `neural`")
    from tests.makers.encoders import write_bert

    texts = [text for number in range(60) for text in corpora.sentence(number)]
    encoder = write_bert(tmp_path / "bert", texts, layers=2)
    words = [*command_of("augment", tmp_path), "--aligner", "encoder", "--model", encoder]
    for tokens in ("words", "pieces"):
        more = ["--layer", "2", "--tokens", tokens, "--output", tmp_path / tokens]
        run(site, tmp_path / "cache", *words, *more)
    assert compiled(tmp_path / "cache") == []


def test_tags_are_put_back_without_compiling(site, tmp_path):
    sides = [corpora.sentence(number) for number in range(60)]
    tagged = [f"<b>{source.replace(' ', '</b> ', 1)}\n" for source, _ in sides]
    (tmp_path / "tagged.en").write_text("".join(tagged), encoding="utf-8")
    plain = [f"{target}\n" for _, target in sides]
    (tmp_path / "plain.de").write_text("".join(plain), encoding="utf-8")
    words = ["tags", "project", "--syntax", "xml", "--source_input", tmp_path / "tagged.en"]
    words += ["--target_input", tmp_path / "plain.de", "--output", tmp_path / "tagged.de"]
    done = run(site, tmp_path / "cache", *words)
    assert compiled(tmp_path / "cache") == []
    assert "compiling" not in done.stderr
    assert "<b>" in (tmp_path / "tagged.de").read_text(encoding="utf-8")


def test_the_bytes_are_those_of_kernels_for_any_cpu_and_for_this_machine(site, tmp_path):
    words = command_of("augment", tmp_path)
    skip = shutil.ignore_patterns(kernel_cache.SHIPPED)
    bare = shutil.copytree(site, tmp_path / "bare", ignore=skip)
    run(site, tmp_path / "cache", *words, "--output", tmp_path / "shipped")
    of_any_cpu = {"NUMBA_CPU_NAME": kernel_cache.ANY_CPU, "NUMBA_CPU_FEATURES": ""}
    run(site, tmp_path / "cache", *words, "--output", tmp_path / "any", **of_any_cpu)
    assert compiled(tmp_path / "cache") == []
    # Less optimized, which takes less time: more that could make a difference.
    run(bare, tmp_path / "cache", *words, "--output", tmp_path / "native", NUMBA_OPT="1")
    assert compiled(tmp_path / "cache")
    digest = runs.tree_digest(tmp_path / "shipped")
    assert runs.tree_digest(tmp_path / "any") == runs.tree_digest(tmp_path / "native") == digest


def test_doctor_says_so(site, tmp_path):
    assert "compiled ones come with the package" in run(site, tmp_path, "doctor").stdout


@pytest.mark.parametrize("file", ["local", "dataflow"])
def test_the_images_are_built_with_it(file):
    text = (runs.ROOT / "deploy" / file / "Dockerfile").read_text()
    # At the end of the line: with the optimization that Numba has by itself.
    assert re.search(r"compile_wheel\.py /pure/\*\.whl /wheels$", text, re.MULTILINE)
    assert "NUMBA_CPU" not in text


def test_a_stopped_compilation_leaves_no_process(tmp_path):
    tree = copy_sources(tmp_path / "tree")
    command = [sys.executable, str(FOLDER / "compile_kernels.py"), str(tree), "--runs", "fit"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
    ) as compiling:
        while "compiling kernels" not in compiling.stdout.readline():
            assert compiling.poll() is None
        time.sleep(2)  # until the workers run
        compiling.terminate()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.killpg(compiling.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.killpg(compiling.pid, signal.SIGKILL)
    pytest.fail("processes of the compilation still run")
