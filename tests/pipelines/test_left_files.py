"""What a killed command leaves under a temporary name goes with the next one that is finished."""

import subprocess
import sys

import pytest

from pairweave.transforms.storage import disk_files
from tests.makers import finished_runs, runs


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with two runs and a corpus."""
    directory = tmp_path_factory.mktemp("runs")
    finished_runs.write_run(str(directory / "one"))
    finished_runs.write_run(str(directory / "two"), seed=2)
    (directory / "a.tsv").write_text("one house\tein Haus\nno mouse\tkeine Maus\n" * 9)
    (directory / "a.en").write_text("<b>one</b> house\n" * 9)
    return directory


@pytest.fixture(scope="module")
def dead():
    """Return the temporary name of a file whose writer has ended, without the file's name."""
    code = (
        f"import sys; sys.path.insert(0, {str(runs.ROOT)!r}); "
        "from pairweave.transforms.storage import disk_files; print(disk_files.name_for(''))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (
            "export one --format moses --unfit leave_out --output {}",
            ["pairs.source", "pairs.target"],
        ),
        ("export one --format xliff --unfit leave_out --output {}", ["pairs.xlf"]),
        ("compare one two --output {}/page-1.html", ["page-1.html"]),
        ("report one --output {}/report.html", ["report.html"]),
        ("init a.tsv --output {}/first.yaml", ["first.yaml"]),
        ("tags encode --input a.en --output {}/a.out --table {}/table", ["a.out", "table"]),
        ("tags vocabulary --output {}/symbols.txt", ["symbols.txt"]),
        ("evaluate tags a.en a.en --lines {}/lines", ["lines"]),
    ],
)
def test_a_finished_command_takes_what_a_killed_one_left(directory, dead, tmp_path, words, names):
    runs.run_well_here(*words.replace("{}", str(tmp_path)).split(), cwd=directory)
    written = sorted(path.name for path in tmp_path.iterdir())
    assert len(written) >= len(names)
    for name in written:
        (tmp_path / name).unlink()
        (tmp_path / f"{dead}{name}").write_text("half")
    alive = tmp_path / disk_files.name_for(written[0])
    other = tmp_path / f"{dead}other"
    for path in (alive, other):
        path.write_text("half")
    runs.run_well_here(*words.replace("{}", str(tmp_path)).split(), cwd=directory)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [*written, alive.name, other.name]
    )
