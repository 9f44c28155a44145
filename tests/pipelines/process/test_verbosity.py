"""The options --quiet, --debug and --log_format of every command."""

import json

import pytest

from pairweave.pipelines import cli
from pairweave.pipelines.process import terminal, verbosity
from pairweave.pipelines.process.verbosity import Verbosity
from tests.makers import corpora, runs


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["fit", "--debug"], (Verbosity(debug=True), ["fit"])),
        (["--quiet", "fit", "a"], (Verbosity(quiet=True), ["fit", "a"])),
        (["fit", "--log-format", "json"], (Verbosity(log_format="json"), ["fit"])),
        (["fit", "--log_format=text"], (Verbosity(), ["fit"])),
    ],
)
def test_they_are_taken_wherever_they_stand(words, expected):
    assert verbosity.take(words) == expected


def test_processes_that_start_later_say_as_much():
    chosen = Verbosity(quiet=True, log_format="json")
    with verbosity.speaking(chosen):
        assert verbosity.current() == chosen
    assert verbosity.current() == Verbosity()


@pytest.mark.parametrize("words", [["--log_format", "xml"], ["--log_format"], ["--log-format=x"]])
def test_an_unknown_format_is_one_line(words, capsys):
    assert cli.main(["fit", *words]) == 2
    assert capsys.readouterr().err.startswith("pairweave: --log_format")


def test_an_error_has_a_traceback_only_if_wanted(capsys):
    assert cli.main(["report", "nowhere"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert cli.main(["report", "nowhere", "--debug"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Traceback")
    assert lines[-1].startswith("pairweave: nowhere")


def test_the_error_that_ends_a_command_has_its_level_in_json(capsys):
    assert cli.main(["report", "nowhere", "--log_format", "json"]) == 2
    said = json.loads(capsys.readouterr().err)
    assert said["level"] == "ERROR"
    assert said["message"].startswith("pairweave: nowhere")


@pytest.mark.parametrize(
    ("chosen", "expected"), [(Verbosity(), "2 rows\n"), (Verbosity(quiet=True), "")]
)
def test_a_note_is_silenced_and_an_error_is_not(chosen, expected, capsys):
    with verbosity.speaking(chosen):
        terminal.note("2 rows")
        assert capsys.readouterr().err == expected
        terminal.fail("no")
        assert capsys.readouterr().err == "no\n"


@pytest.mark.slow
def test_a_quiet_run_says_nothing_and_a_run_in_json_one_object_a_line(tmp_path):
    corpora.write_corpus(tmp_path, 40)
    files = ("--source_input", "corpus.en", "--target_input", "corpus.de", "--workers", 1)
    languages = ("--source_lang", "en", "--target_lang", "de")
    words = ("augment", *files, *languages, "--check", "none")
    status, out, errors = runs.run(*words, "--output", "quiet", "--quiet", cwd=tmp_path)
    assert (status, out, errors) == (0, "", "")
    more = ("--output", "json", "--log_format", "json")
    status, out, errors = runs.run(*words, *more, cwd=tmp_path)
    assert status == 0
    said = [json.loads(line) for line in errors.splitlines()]
    assert said
    assert all(set(each) == {"time", "level", "message"} for each in said)
    assert "shards 1 of 1" in said[-1]["message"]
    read, kept, rejected, rows, *places = out.splitlines()
    assert read.split() == ["read", "48"]
    assert int(kept.split()[1]) + int(rejected.split()[1]) == 48
    assert rejected.endswith("other reasons")
    assert int(rows.split()[1]) > int(kept.split()[1])
    assert [place.partition(":")[0] for place in places] == [
        "data",
        "report",
        "rejects",
        "manifest",
    ]
