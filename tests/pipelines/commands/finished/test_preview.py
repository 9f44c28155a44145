import pyarrow as pa
import pytest

from pairweave.pipelines.commands.finished import preview
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.report import run_samples
from tests.makers import finished_runs, runs


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("run") / "out")
    finished_runs.write_run(path)
    return path


def printed(capsys, *arguments):
    assert preview.main("preview", arguments) == 0
    return capsys.readouterr().out


def many(count, kind="tagged"):
    rows = [
        {
            "id": f"{number // 2:032x}",
            "variant": number % 2,
            "kind": kind if number < count else "plain",
            "source": f"s{number}",
            "target": f"t{number}",
            "tags": [],
            "source_lang": "en",
            "target_lang": "de",
            "corpus": "c",
        }
        for number in range(2 * count)
    ]
    return pa.Table.from_pylist(rows, schema=schemas.TAGGED)


def test_where_there_is_no_terminal_text_is_plain(output, capsys):
    text = printed(capsys, output)
    assert "\x1b" not in text
    pairs = [block.split("\n") for block in text.strip("\n").split("\n\n")]
    assert sorted(pairs) == sorted(
        [source.replace("\x1b", "␛"), target.replace("\n", "␊")]
        for _, _, source, target in finished_runs.PAIRS
    )


def test_as_many_pairs_as_wanted_are_drawn_by_seed(output, capsys):
    texts = {printed(capsys, output, "--pairs", "1", "--seed", str(seed)) for seed in range(8)}
    assert len(texts) > 1
    assert all(len(text.splitlines()) == 2 for text in texts)
    again = printed(capsys, output, "--pairs", "1", "--seed", "3")
    assert again == printed(capsys, output, "--pairs", "1", "--seed", "3")


def test_links_are_printed_for_a_run_of_align(tmp_path, capsys):
    path = str(tmp_path / "out")
    finished_runs.write_run(path, finished_runs.aligned_data, {"links": 4}, job="align")
    lines = printed(capsys, path).splitlines()
    assert lines[lines.index("The red house stands there.") + 2] == "The→Das"


def test_drawn_rows_are_tagged_ones_of_different_pairs():
    rows = run_samples.drawn_rows(many(100), 20, 5)
    assert {row["kind"] for row in rows} == {"tagged"}
    assert len({row["id"] for row in rows}) == 20
    other = run_samples.drawn_rows(many(100), 20, 6)
    assert {row["id"] for row in rows} != {row["id"] for row in other}


def test_rows_drawn_do_not_depend_on_their_order():
    rows = many(50)
    turned = rows.take(pa.array(range(rows.num_rows - 1, -1, -1)))
    ids = [row["id"] for row in run_samples.drawn_rows(rows, 10, 1)]
    assert ids == [row["id"] for row in run_samples.drawn_rows(turned, 10, 1)]


def test_plain_rows_are_shown_where_none_is_tagged():
    rows = run_samples.drawn_rows(many(4, kind="plain"), 10, 1)
    assert len(rows) == 4
    assert run_samples.drawn_rows(many(0), 10, 1) == []


def test_a_directory_without_a_finished_run_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"no _manifest\.json;"):
        preview.main("preview", [str(tmp_path)])


@pytest.mark.slow
def test_the_commands_run_from_the_command_line(output, tmp_path):
    assert "<a_0>" in runs.run_well("preview", output, cwd=tmp_path)
    status, _, errors = runs.run_here("report", tmp_path, cwd=tmp_path)
    assert (status, "no _manifest.json" in errors) == (2, True)
