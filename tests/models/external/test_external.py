"""External aligners: their input, reading their output, and their failures."""

import re
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs the extra `neural`")

import torch
from safetensors.torch import save_file

from pairweave.models.external import external_files, external_process, external_text
from pairweave.models.external.external import ExternalAligner, learn
from pairweave.models.external.external_process import identity
from pairweave.models.external.external_programs import ExternalConfig
from pairweave.models.external.external_text import linked_table, safe_token, text_of
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.symmetrize import symmetrize
from tests.makers import fake_programs
from tests.makers.fake_programs import write_program, write_python
from tests.makers.token_tables import links_of, token_table

PAIRS = [("a b c", "x y"), ("", "x"), ("a", ""), ("d e", "u v w")]
DIAGONAL = [{(0, 0), (1, 1)}, set(), set(), {(0, 0), (1, 1)}]

tokens_of_a_text = st.lists(
    st.one_of(
        st.sampled_from(
            ["a", "|||", "||||||", "|", "<eps>", "\u200b", "\u0301", "\ufffd", "a\u00a0b"]
        ),
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5),
        st.text("|_ ?\t\n\r\x85\u2028\x00\x1c\u00a0", min_size=1, max_size=4),
    ),
    max_size=6,
)

TORCH = ("torch", "transformers")


def table_of(source, target):
    """Return one pair as a TOKENS row, its tokens given, one after another."""

    def spans(tokens):
        result, place = [], 0
        for token in tokens:
            result.append({"start": place, "end": place + len(token)})
            place += len(token)
        return result

    spans_of = iter([spans(source), spans(target)])
    return token_table([("".join(source), "".join(target))], lambda _: next(spans_of))


def fast_align(tmp_path, code=fake_programs.FAST_ALIGN, **settings):
    path = write_program(tmp_path / "fast_align", code)
    return ExternalConfig("fast_align", path, **settings)


@given(source=tokens_of_a_text, target=tokens_of_a_text)
def test_a_program_finds_as_many_tokens_as_a_pair_has(source, target):
    text = text_of(table_of(source, target))
    if not (source and target):
        assert len(text) == 0
        return
    lines = external_files.joined(text.source, text.target)["text"]
    (joined,) = lines.split("\n")[:-1]
    assert len(lines.splitlines()) == 1
    parts = joined.split(" ||| ")
    assert [part.split(" ") for part in parts] == [part.split() for part in parts]
    assert [len(part.split()) for part in parts] == [len(source), len(target)]
    assert parts == [" ".join(map(safe_token, side)) for side in (source, target)]
    assert "<eps>" not in joined.split()


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8))
def test_what_stands_for_a_token_stays_as_it_is_when_made_safe_again(token):
    assert safe_token(safe_token(token)) == safe_token(token)
    assert "|||" not in safe_token(token)


def test_a_usual_token_is_given_as_it_is():
    for token in ("word", "l'", "1,5", "…", "你", "|", "||", "<b>", "a|b", "é"):
        assert safe_token(token) == token or token == "…"


def test_links_belong_to_the_rows_that_were_sent(tmp_path):
    table = token_table(PAIRS)
    config = fast_align(tmp_path)
    learned = learn(config, table)
    assert learned["forward.params"] == b"2 pairs False\n"
    linked = ExternalAligner(config, learned).align(table)
    assert links_of(linked) == DIAGONAL
    assert links_of(linked, "reverse") == [{(0, 0)}, set(), set(), {(0, 0)}]
    joined = symmetrize(linked, SymmetrizeConfig("union"))
    assert links_of(joined, "links") == DIAGONAL


def test_pairs_without_two_sides_are_not_sent_at_all(tmp_path):
    config = fast_align(tmp_path, "raise SystemExit('called')")
    linked = ExternalAligner(config, {"settings.json": b"{}"}).align(token_table(PAIRS[1:3]))
    assert links_of(linked) == [set(), set()]
    empty = ExternalAligner(config).align(token_table([("a", "b")]).slice(0, 0))
    assert empty.num_rows == 0


def test_learning_needs_a_pair_with_two_sides(tmp_path):
    with pytest.raises(ConfigError, match="got none with two sides"):
        learn(fast_align(tmp_path), token_table(PAIRS[1:3]))


def test_eflomal_gets_sides_and_gives_directions(tmp_path):
    path = write_program(tmp_path / "eflomal-align", fake_programs.EFLOMAL)
    linked = ExternalAligner(ExternalConfig("eflomal", path)).align(token_table(PAIRS))
    assert links_of(linked) == links_of(linked, "reverse") == DIAGONAL


def test_awesome_align_gets_the_directory_of_an_encoder(tmp_path):
    path = write_program(tmp_path / "awesome-align", fake_programs.AWESOME_ALIGN)
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "encoder" / "vocab.txt").write_text("[PAD]\n")
    config = ExternalConfig("awesome-align", path, str(tmp_path / "encoder"))
    with pytest.raises(ConfigError, match=r"no model\.safetensors"):
        ExternalAligner(config)
    weights = tmp_path / "encoder" / "model.safetensors"
    save_file({"a": torch.zeros(2)}, weights)
    aligner = ExternalAligner(config)
    linked = aligner.align(token_table(PAIRS))
    assert links_of(linked) == links_of(linked, "reverse") == DIAGONAL
    save_file({"a": torch.ones(2)}, weights)
    assert ExternalAligner(config).digest != aligner.digest
    shutil.rmtree(tmp_path / "encoder")
    with pytest.raises(ConfigError, match="needs the directory of an encoder"):
        ExternalAligner(config)


def test_simalign_gives_up_what_its_encoder_cannot_take(tmp_path):
    package = fake_programs.simalign_package(20)
    path = write_python(tmp_path / "python", "simalign", package, beside=TORCH)
    (tmp_path / "encoder").mkdir()
    aligner = ExternalAligner(ExternalConfig("simalign", path, str(tmp_path / "encoder")))
    table = token_table([*PAIRS, ("a" * 21, "b"), ("c", "d")])
    linked, given_up = aligner.align_or_reject(table)
    assert given_up == {4: ("too_long_for_encoder", "21 pieces; the encoder's limit is 20")}
    assert links_of(linked) == [*DIAGONAL, {(0, 0)}]
    assert linked["id"].to_pylist() == [table["id"][row].as_py() for row in (0, 1, 2, 3, 5)]
    with pytest.raises(WorkerError, match="too_long_for_encoder: 21 pieces"):
        aligner.align(table)


def test_giza_is_given_numbers_and_both_its_directions_are_read(tmp_path):
    path = write_program(tmp_path / "GIZA++", fake_programs.GIZA)
    write_program(tmp_path / "mkcls", fake_programs.MKCLS)
    table = token_table([("a ({ b", "}) x y z"), ("b b", "x")])
    linked = ExternalAligner(ExternalConfig("giza", path)).align(table)
    expected = [{(0, 0), (1, 1), (2, 2)}, {(0, 0)}]
    assert links_of(linked) == links_of(linked, "reverse") == expected


def test_the_digest_names_the_program_and_not_its_place(tmp_path):
    here = ExternalAligner(fast_align(tmp_path / "here"))
    there = ExternalAligner(fast_align(tmp_path / "there"))
    other = ExternalAligner(fast_align(tmp_path / "other", fake_programs.FAST_ALIGN + "\n"))
    assert here.digest == there.digest != other.digest
    assert ExternalAligner(here.config, {"forward.params": b"1"}).digest != here.digest


def test_a_package_is_named_by_its_version(tmp_path):
    encoder = tmp_path / "encoder"
    encoder.mkdir()
    digests = set()
    for version in ("9.0", "9.1"):
        path = write_python(tmp_path / version, "simalign", "", beside=TORCH)
        about = next((tmp_path / version).rglob("simalign-*/METADATA"))
        about.write_text(about.read_text().replace("9.0", version))
        digests.add(ExternalAligner(ExternalConfig("simalign", path, str(encoder))).digest)
    assert len(digests) == 2


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; sys.exit('it is\\n\\nbroken: no memory')", "status 1: broken: no memory$"),
        ("import os; os.kill(os.getpid(), 9)", "was killed by signal 9: it printed no error"),
        ("print('a ||| b ||| 0-0 ||| 1')", "2 pairs in, 1 lines of links out"),
        ("print('a ||| b\\n' * 2, end='')", "expected 'source"),
        ("print('a ||| b ||| 0:0 ||| 1\\n' * 2, end='')", "that is not a link: line 1: '0:0'"),
        ("print('a ||| b ||| 9-0 ||| 1\\n' * 2, end='')", "linked words that do not exist"),
    ],
)
def test_a_program_that_fails_is_a_fault_of_the_worker(tmp_path, code, message):
    settings = {"tension": "4", "length_ratio": "1"}
    learned = {"forward.params": b"", "reverse.params": b""}
    learned["settings.json"] = repr(dict.fromkeys(learned, settings)).replace("'", '"').encode()
    aligner = ExternalAligner(fast_align(tmp_path, code), learned)
    with pytest.raises(WorkerError, match=re.escape(message).replace("\\$", "$")):
        aligner.align(token_table(PAIRS))


def test_a_fast_align_of_other_options_is_refused(tmp_path):
    table = token_table(PAIRS)
    with pytest.raises(WorkerError, match=r"did not write forward\.params"):
        learn(fast_align(tmp_path, "print()"), table)
    silent = "import sys; open('forward.params', 'w'); print()"
    with pytest.raises(WorkerError, match="knows -p and -f"):
        learn(fast_align(tmp_path, silent), table)


def test_a_program_that_hangs_is_killed_with_what_it_started(tmp_path):
    code = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.path[0] + "/child", "w").write(str(child.pid))
time.sleep(600)
"""
    config = fast_align(tmp_path, code, timeout_seconds=2)
    started = time.monotonic()
    with pytest.raises(WorkerError, match="not done after 2 s, so it was killed"):
        learn(config, token_table(PAIRS))
    assert time.monotonic() - started < 60
    child = Path("/proc") / (tmp_path / "child").read_text()
    deadline = time.monotonic() + 30
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(child)


def is_running(process):
    """Tell whether a process is there and is no zombie."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_program_that_is_not_there_is_named_with_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="no fast_align on the search path; build it from"):
        ExternalAligner(ExternalConfig("fast_align"))
    with pytest.raises(ConfigError, match="no eflomal-align on the search path; pip install eflo"):
        ExternalAligner(ExternalConfig("eflomal"))
    with pytest.raises(ConfigError, match="no such executable program"):
        ExternalAligner(ExternalConfig("giza", str(tmp_path / "GIZA++")))
    path = write_python(tmp_path / "bare", "other", "")
    with pytest.raises(ConfigError, match="this Python has no package systran-align; pip install"):
        ExternalAligner(ExternalConfig("systran-align", path))
    # The package alone, without what it computes with, as PYTHONPATH can bring about.
    path = write_python(tmp_path / "half", "simalign", "", alone=True)
    with pytest.raises(ConfigError, match="this Python has no package torch; pip install simalign"):
        identity(ExternalConfig("simalign", path, model=str(tmp_path)))


def test_a_package_that_this_python_has_is_found_in_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="this Python has no package systran-align"):
        ExternalAligner(ExternalConfig("systran-align"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"program": "berkeley"}, "is unknown; did you mean"),
        ({"program": "fast_align", "timeout_seconds": 0}, "program_timeout"),
        ({"program": "fast_align", "head": "softmax"}, "knows no head at all"),
        ({"program": "simalign", "model": "m", "head": "softmax"}, "itermax or argmax or match"),
        ({"program": "simalign"}, "needs --model DIRECTORY"),
        ({"program": "awesome-align", "model": "m", "layer": -1}, "counts layers from 0"),
    ],
)
def test_settings_that_a_program_does_not_know_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        ExternalConfig(**settings)


def test_the_last_line_of_a_failure_is_what_it_says():
    assert external_process.last_line(b"\xff one\n two \n\n") == "two"
    assert external_process.last_line(b"") == ""


def test_more_lines_than_pairs_are_refused():
    table = token_table([("a", "b")])
    actual = external_text.Directions(b"0-0\n0-0\n", b"0-0\n")
    with pytest.raises(WorkerError, match="1 pairs in, 2 lines"):
        linked_table(table, text_of(table), actual, "it")


def test_a_link_said_twice_is_one_link():
    table = token_table([("a b", "x y")])
    actual = external_text.Directions(b"1-1 0-0 1-1\n", b"\n")
    linked, _ = linked_table(table, text_of(table), actual, "it")
    assert linked["forward"].to_pylist() == [
        [
            {"source": 0, "target": 0, "probability": 1.0},
            {"source": 1, "target": 1, "probability": 1.0},
        ]
    ]
    assert linked["reverse"].to_pylist() == [[]]
