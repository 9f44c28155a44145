"""A fortnight of ``refresh`` over real text: every kind of night, and the same rows at once."""

import contextlib
import dataclasses
import gzip
import hashlib
import itertools
import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from tests.makers import nightly, runs

pytestmark = pytest.mark.slow

HEAD = """job: augment
source_lang: en
target_lang: de
workers: 1
fit_pairs: 2000
"""
DROPS = """corpora:
- {corpus: captions, source_input: "captions/*.en", target_input: "captions/*.de", licence: cc}
"""
NEWS = '- {corpus: news, input: "news/*.tsv"}\n'
GATES = "gates: {max_rejected: 0.5}\n"
TABLES = ("tagged", "provenance", "rejects", "files")


@dataclasses.dataclass
class Fortnight:
    """A directory with a table, and what was noted after each night."""

    directory: Path
    captions: list[tuple[str, str]]
    news: list[tuple[str, str]]
    lines: list[str] = dataclasses.field(default_factory=list)

    @property
    def table(self):
        return self.directory / "table"

    def drop(self, name, start, stop, folder="captions"):
        """Write some pairs of the captions as two files, or of the news as one."""
        (self.directory / folder).mkdir(exist_ok=True)
        if folder == "captions":
            for side, language in enumerate(("en", "de")):
                lines = "".join(f"{pair[side]}\n" for pair in self.captions[start:stop])
                (self.directory / folder / f"{name}.{language}").write_text(lines)
        else:
            lines = "".join("\t".join(pair) + "\n" for pair in self.news[start:stop])
            (self.directory / folder / f"{name}.tsv").write_text(lines)

    def run(self, event, *words, status=0):
        result, out, errors = nightly.night(self.directory, *words)
        assert result == status, errors[-3000:]
        self.note(event)
        return out + errors

    def note(self, event):
        """Add a line to the table of nights."""
        digest = hashlib.sha256("\n".join(nightly.rows(self.table)).encode()).hexdigest()[:12]
        versions = " ".join(f"{v}" for v in nightly.versions(self.table).values())
        pairs = len(nightly.ids(self.table, "provenance"))
        cells = (event, str(pairs), str(len(nightly.rows(self.table))), versions, digest)
        self.lines.append(f"| {len(self.lines) + 1} | {' | '.join(cells)} |")

    def text(self):
        head = (
            "| night | event | pairs | rows | versions (" + ", ".join(TABLES) + ") | rows SHA-256 |"
        )
        return "\n".join([head, "| ---: | --- | ---: | ---: | --- | --- |", *self.lines, ""])


def read_lines(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return lines.read().splitlines()


@pytest.fixture
def fortnight(shared_data, tmp_path):
    folder = shared_data / "parallel"

    def pairs(*names):
        result = zip(*(read_lines(folder / f"{name}.gz") for name in names), strict=True)
        return [pair for pair in itertools.islice(result, 6000) if "\t" not in "".join(pair)]

    captions = pairs("multi30k.en", "multi30k.de")
    news = pairs("newstest.en-de.en", "newstest.en-de.de")
    return Fortnight(tmp_path, captions, news)


def write(fortnight, more="", of=DROPS):
    nightly.write_config(fortnight.directory, head=HEAD, of=of, more=more)


def test_a_fortnight_gives_the_rows_of_one_night(fortnight, pytestconfig):
    directory, table = fortnight.directory, fortnight.table
    write(fortnight, GATES)
    fortnight.drop("01", 0, 800)
    fortnight.run("first drop")
    fortnight.drop("02", 700, 1200)
    assert "read 500 pairs" in fortnight.run("new files, 100 pairs known")
    fortnight.drop("01", 40, 830)
    fortnight.run("a file changed")
    for side in ("en", "de"):
        (directory / f"captions/02.{side}").rename(directory / f"captions/week.{side}")
    assert "no row changes" in fortnight.run("a file moved")
    assert "nothing has changed" in fortnight.run("nothing new")
    taken = fortnight.captions[100]
    (directory / "taken.txt").write_text(f"{taken[0]}\n{fortnight.captions[900][1]}\n")
    assert "removed 2 pairs" in fortnight.run("two pairs taken down", "--takedown", "taken.txt")
    killed_night(fortnight)
    two_at_once(fortnight)
    write(fortnight, GATES + "max_tags: 5\n")
    assert "--migrate" in nightly.night(directory)[2]
    fortnight.run("another configuration and a new model", "--migrate", "--accept", "wanted")
    write(fortnight, GATES + "max_tags: 5\n", DROPS + NEWS)
    bad = [(f"{en} {en} {en}", de) for en, de in fortnight.news[:300]]
    fortnight.news[:300], kept = bad, fortnight.news[:300]
    fortnight.drop("01", 0, 300, "news")
    out = fortnight.run("a failing gate", status=4)
    assert "max_rejected" in out
    fortnight.news[:300] = kept
    fortnight.drop("01", 0, 300, "news")
    fortnight.run("the same drop, mended")
    fortnight.drop("00", 3000, 3400)
    fortnight.drop("00", 300, 500, "news")
    fortnight.run("a back-fill in two corpora")
    for side in ("en", "de"):
        (directory / f"captions/week.{side}").unlink()
    fortnight.run("a file withdrawn")
    runs.run_well_here("refresh", "compact", "table", cwd=directory)
    runs.run_well_here("refresh", "vacuum", "table", "--retention", 0, cwd=directory)
    fortnight.note("compacted and vacuumed")
    runs.run_well_here("refresh", "verify", "table", cwd=directory)
    at_once(fortnight)
    assert taken[0] not in nightly.sources(table)
    shown = pytestconfig.getoption("--fortnight") or directory / "fortnight.md"
    Path(shown).write_text(fortnight.text())


def killed_night(fortnight):
    """Kill a night while it writes shards, and run it again."""
    fortnight.drop("03", 1200, 1700)
    words = ("refresh", "--config", "nightly.yaml", "--output", "table")
    process = runs.start(*words, cwd=fortnight.directory)
    while process.poll() is None:
        if list(fortnight.table.glob("_runs/*/run/_receipts/*")):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            break
    process.communicate()
    runs.kill_group(process)
    fortnight.run("killed, then run again")


def two_at_once(fortnight):
    """Run a night twice at once."""
    before = nightly.versions(fortnight.table)["tagged"]
    fortnight.drop("04", 1700, 2200)
    words = ("refresh", "--config", "nightly.yaml", "--output", "table")
    both = [runs.start(*words, cwd=fortnight.directory) for _ in range(2)]
    ended = [process.communicate(timeout=runs.SECONDS)[1] for process in both]
    statuses = sorted(process.returncode for process in both)
    assert statuses in ([0, 0], [0, 1]), ended
    if statuses == [0, 1]:
        assert "was committed by another refresh" in "".join(ended)
    fortnight.run("two at once")
    assert nightly.versions(fortnight.table)["tagged"] == before + 1


def at_once(fortnight):
    """Compare the table with one that is made of all files in one night, with the same model."""
    table = fortnight.table
    (model,) = table.glob("_models/*/*")
    more = f"max_tags: 5\nmodel: {model}\n"
    head = HEAD.replace("fit_pairs: 2000\n", "")
    nightly.write_config(
        fortnight.directory, head=head, of=DROPS + NEWS, more=more, name="one.yaml"
    )
    words = ("--takedown", "taken.txt", "--accept", "one night")
    nightly.good_night(fortnight.directory, *words, table="at_once", config="one.yaml")
    for name in ("tagged", "provenance", "rejects"):
        expected = nightly.rows(fortnight.directory / "at_once", name)
        assert nightly.rows(table, name) == expected, name
