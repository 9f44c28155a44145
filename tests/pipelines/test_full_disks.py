"""Files without room: every command that writes names the file and ends with status 2.

A limit of the size of files, which the tests set to nothing, stands for all three causes: the
system reports a full disk, a used up quota and a file over its limit from the same calls.
"""

import errno
import os

import pytest

from pairweave.pipelines import cli
from pairweave.pipelines.engines import failures
from pairweave.transforms.arrow import exchange
from pairweave.transforms.errors import FULL, FullError, WorkerError, worker_error
from pairweave.transforms.storage import files, named_errors, whole_files
from tests.makers import finished_runs, runs
from tests.makers.file_limits import most_bytes


def no_room():
    """Let no file grow in this process."""
    return most_bytes(0)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with two runs and a corpus."""
    directory = tmp_path_factory.mktemp("runs")
    finished_runs.write_run(str(directory / "one"))
    finished_runs.write_run(str(directory / "two"), seed=2)
    (directory / "a.tsv").write_text("one house\tein Haus\nno mouse\tkeine Maus\n" * 9)
    (directory / "a.en").write_text("<b>one</b> house\n" * 9)
    return directory


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("export one --format moses --output new", "new/"),
        ("export one --format moses --shuffle --output new", "TEMPORARY"),
        ("export one --format xliff --output new", "new/pairs.xlf"),
        ("compare one two --output new/page.html", "new/page.html"),
        ("report one --output new/report.html", "new/report.html"),
        ("init a.tsv --output new/first.yaml", "new/first.yaml"),
        ("tags encode --input a.en --output new/a.out --table new/table", "new/"),
        ("tags vocabulary --output new/vocabulary.txt", "new/vocabulary.txt"),
        ("evaluate tags a.en a.en --lines new/lines", "new/lines"),
        ("align --input a.tsv --source_lang en --target_lang de --output new", "new/_plan.json"),
    ],
)
def test_a_command_whose_file_has_no_room_names_it(directory, words, name):
    command, _, rest = words.partition(" ")
    plan = ["--plan_only"] if command == "align" else []
    runs.run_here(command, *rest.replace("new", "before").split(), *plan, cwd=directory)  # caches
    with no_room():
        status, _, errors = runs.run_here(command, *rest.split(), cwd=directory)
    assert status == 2, errors
    *_, last = errors.splitlines()
    named = str(exchange.tempfile.gettempdir()) if name == "TEMPORARY" else name
    assert last.startswith("pairweave: ")
    assert named in last
    assert last.endswith("File too large")
    left = [path.name for path in directory.rglob(".tmp-*")]
    assert left == []


@pytest.mark.parametrize("number", sorted(FULL))
def test_an_error_of_no_room_ends_with_status_2(number, capsys):
    def fail():
        raise OSError(number, os.strerror(number))

    assert cli._report(fail) == 2
    error = capsys.readouterr().err
    assert error == f"pairweave: standard output, or {exchange.tempfile.gettempdir()}: " + (
        f"{os.strerror(number)}\n"
    )


def test_of_two_open_files_the_one_without_room_is_named(tmp_path):
    paths = [str(tmp_path / name) for name in ("first", "second")]

    def write(number):
        with files.open_write(paths[0]) as first, files.open_write(paths[1]) as second, no_room():
            (first, second)[number].write(b"x" * 100_000)

    for number, path in enumerate(paths):
        with pytest.raises(OSError, match="File too large") as refused:
            write(number)
        assert refused.value.filename == path
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.txt.zst"])
def test_a_whole_file_without_room_is_named_and_leaves_nothing(name, tmp_path):
    path = str(tmp_path / name)
    with (
        pytest.raises(OSError, match="File too large") as refused,
        no_room(),
        whole_files.open_whole(path) as file,
    ):
        file.write(os.urandom(100_000))
    assert refused.value.filename == path
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [100, 100_000])
def test_every_error_of_a_file_without_room_names_it(size, tmp_path):
    """A runner passes on the text of all of them, and the first one is shown."""
    path = str(tmp_path / "part")
    with pytest.raises(OSError, match="File too large") as refused, no_room():
        files.write_bytes(path, b"x" * size)
    error = refused.value
    while error is not None:
        assert error.filename == path
        error = error.__context__
    assert not list(tmp_path.iterdir())


def test_a_name_that_an_error_has_stays(tmp_path):
    with pytest.raises(FileNotFoundError) as refused, named_errors.naming("other"):
        (tmp_path / "none").read_bytes()
    assert refused.value.filename == str(tmp_path / "none")


@pytest.mark.parametrize("number", sorted(FULL))
def test_a_run_whose_files_have_no_room_is_for_the_user_to_mend(number):
    error = OSError(number, os.strerror(number), "/d/part-0")
    message, by_user = failures.failure_message(RuntimeError(f"OSError: {error}"))
    assert not by_user  # a further attempt may find room
    assert failures.is_of_machine(error, f"OSError: {error}")
    assert isinstance(worker_error(message), FullError)
    assert isinstance(exchange.unwritable(error, 9), FullError)


def test_another_fault_of_a_machine_is_not_for_the_user_to_mend():
    error = OSError(errno.EIO, os.strerror(errno.EIO))
    assert type(worker_error(f"OSError: {error}")) is WorkerError
    assert not isinstance(exchange.unwritable(error, 9), FullError)
