"""Finding an external program and running it."""

import json

import pytest

from pairweave.models.external.external_process import find_program, python_of, run
from pairweave.models.external.external_programs import ExternalConfig
from pairweave.transforms.errors import ConfigError
from tests.makers.fake_programs import write_program


def test_a_given_path_wins_over_the_search_path(tmp_path, monkeypatch):
    given = write_program(tmp_path / "given" / "fast_align", "")
    actual = write_program(tmp_path / "found" / "fast_align", "")
    monkeypatch.setenv("PATH", str(tmp_path / "found"))
    assert find_program(ExternalConfig("fast_align")) == actual
    assert find_program(ExternalConfig("fast_align", given)) == given
    missing = str(tmp_path / "missing")
    with pytest.raises(ConfigError, match=f"--program_path {missing}: no such executable"):
        find_program(ExternalConfig("fast_align", missing))


def test_other_executables_of_a_program_lie_beside_the_given_one(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    given = write_program(tmp_path / "bin" / "fast_align", "")
    assert find_program(ExternalConfig("fast_align", given), "atools") == f"{tmp_path}/bin/atools"


def test_a_program_computes_in_one_thread_and_without_a_network(tmp_path, monkeypatch):
    several = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TOKENIZERS_PARALLELISM")
    for name in several:
        monkeypatch.setenv(name, "8")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    program = write_program(
        tmp_path / "program", "import json, os; print(json.dumps(dict(os.environ)))"
    )
    told = json.loads(run("program", [program], 60, tmp_path)[0])
    assert [told[name] for name in several] == ["1", "1", "false"]
    assert told["PYTHONHASHSEED"] == "0"
    assert (told["PYTHONIOENCODING"], told["PYTHONUTF8"]) == ("utf-8", "1")
    assert told["HF_HUB_OFFLINE"] == told["TRANSFORMERS_OFFLINE"] == "1"


@pytest.mark.parametrize(
    ("first", "name"),
    [
        ("#!/usr/bin/env python3", "python3"),
        ("#! /opt/python3.11 -I", None),
        ("#!/bin/sh", None),
        ("#!/usr/bin/env", None),
        ("#!", None),
        ("\x7fELF", None),
    ],
)
def test_the_python_of_a_script_is_the_one_that_its_first_line_names(
    tmp_path, monkeypatch, first, name
):
    python = write_program(tmp_path / "bin" / "python3", "")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    script = tmp_path / "script"
    script.write_text(f"{first}\n")
    assert python_of(str(script)) == (python if name else None)
    script.write_text(f"#!{python}\n")
    assert python_of(str(script)) == python_of(python) == python


def test_an_encoder_of_a_program_is_a_directory_of_the_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "model.safetensors").write_bytes(b"\2\0\0\0\0\0\0\0{}")
    (tmp_path / "encoder" / "config.json").write_text("{}")
    for name in ("encoder", "~/encoder", str(tmp_path / "encoder")):
        actual = ExternalConfig("simalign", model=name).model_path()
        assert actual == tmp_path / "encoder"
    with pytest.raises(ConfigError, match=r"--model org/encoder: .* needs the directory"):
        ExternalConfig("simalign", model="org/encoder").model_path()
