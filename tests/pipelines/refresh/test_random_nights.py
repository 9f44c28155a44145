"""Random histories of a table of `refresh`, each night through the real code, beside their model.

The model (`tests.oracles.slow_nights`) says how a night ends and what the tables hold afterwards.
Every step compares all of it: rows, provenance, rejects, files, versions, and what ``status`` and
``verify`` say.
"""

import contextlib
import json
import shutil
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

import hypothesis
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pairweave.transforms.counted import counted
from tests.makers import random_tables, runs
from tests.makers.random_tables import CORPORA, NAMES, KilledError, Shelf, command, id_of
from tests.oracles import slow_nights
from tests.oracles.slow_nights import NOTHING, Asked, Line

LINES = (
    Line("red house", "rotes Haus"),
    Line("red house", "rote Villa"),
    Line("Red  House", "Haus, rot"),
    Line("green tree", "grüner Baum"),
    Line("a fir", "grüner Baum"),
    Line("seven quiet rivers", "sieben stille Flüsse"),
    Line("eight quiet rivers", "acht stille Flüsse"),
    Line("nine quiet rivers", "neun stille Flüsse"),
    Line("the old dog never sleeps", "der alte Hund schläft nie"),
    Line("the old cat never sleeps", "die alte Katze schläft nie"),
    Line("one long line of eight words in all", "eine lange Zeile von acht Wörtern im Ganzen"),
    Line("", "ohne jede Quelle"),
    Line("without any target", ""),
    Line("a bell \x07 rings", "eine Glocke klingt"),
)
LIMITS = (4, 6, 12)
"""Words of a side that the configuration allows; some lines have more than one of them."""

REASON = "wanted by the model"

lines = st.lists(st.sampled_from(LINES), max_size=6).map(tuple)
places = st.tuples(st.sampled_from(CORPORA), st.sampled_from(NAMES))
licences = st.sampled_from([None, "mit", "cc0"])
changes = st.one_of(
    st.tuples(st.just("write"), places, lines),
    st.tuples(st.just("write"), places, lines),
    st.tuples(st.just("turn"), places),
    st.tuples(st.just("touch"), places),
    st.tuples(st.just("copy"), places, places),
    st.tuples(st.just("rename"), places, st.sampled_from(NAMES)),
    st.tuples(st.just("remove"), places),
    st.tuples(st.just("licence"), st.sampled_from(CORPORA), licences),
    st.tuples(st.just("withdraw"), st.sampled_from(CORPORA)),
    st.tuples(st.just("limit"), st.sampled_from(LIMITS)),
)
"""Changes of the input files or of the configuration."""

some_changes = st.lists(changes, max_size=3)
usually = st.sampled_from([True, True, False])

taken = st.lists(
    st.tuples(st.sampled_from(LINES[:-1]), st.sampled_from(["id", "source", "target"])).map(
        lambda drawn: wanted(*drawn)
    ),
    min_size=1,
    max_size=2,
).map(lambda found: [each for each in found if each is not None] or [wanted(LINES[3], "id")])


def wanted(line, what):
    """Return what a list takes down: a pair, or a text of one; None for an empty text."""
    if what == "id":
        return ("id", line.pair)
    text = getattr(line, what)
    return ("text", slow_nights.plain(text)) if text else None


class RandomNights(RuleBasedStateMachine):
    """A directory of input files, its tables, and their model."""

    def __init__(self):
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(prefix="nights-"))
        self.tables = NOTHING
        self.past = {}
        self.readable = 0
        self.is_half_done = False
        self.has_model = False
        self.count = 0
        self.asked = ()

    def teardown(self):
        shutil.rmtree(self.directory)

    @initialize(
        job=st.sampled_from(sorted(random_tables.MAIN)),
        outer=licences,
        own=st.lists(lines, min_size=3, max_size=3),
        limit=st.sampled_from(LIMITS),
    )
    def begin(self, job, outer, own, limit):
        self.shelf = Shelf(self.directory, job, outer, limit)
        for corpus, each in zip(CORPORA, own, strict=True):
            self.shelf.write(corpus, "a", each)
        self.new_table()

    def new_table(self):
        self.count += 1
        self.name = f"table{self.count}"
        self.reader = random_tables.Reader(
            self.directory / self.name, random_tables.MAIN[self.shelf.job]
        )
        self.tables, self.past, self.readable, self.has_model = NOTHING, {}, 0, False

    def change(self, kind, place, *more):
        """Change an input file or the configuration; what makes no sense now changes nothing."""
        shelf = self.shelf
        if kind in ("licence", "withdraw"):
            if kind == "withdraw":
                shelf.absent ^= {place}
            elif more[0] is None:
                shelf.licences.pop(place, None)
            else:
                shelf.licences[place] = more[0]
            return
        if kind == "limit":
            shelf.limit = place
            return
        if kind == "write":
            shelf.write(*place, *more)
            return
        if place not in shelf.held:
            return
        own = shelf.held[place][0]
        if kind == "turn":
            shelf.write(*place, own[::-1])
        elif kind == "touch":
            shelf.write(*place, own)
        elif kind == "copy":
            shelf.write(*more[0], own)
        elif kind == "remove":
            shelf.remove(*place)
        elif (place[0], more[0]) not in shelf.held:
            shelf.rename(*place, more[0])

    def change_all(self, many, usual=False):
        """Change files and the configuration, if usual so that neither stops the next night."""
        for each in many:
            self.change(*each)
        if usual:
            self.shelf.limit = self.tables.limit or self.shelf.limit
            self.shelf.absent |= set(CORPORA) - {corpus for corpus, _ in self.shelf.held}
        self.shelf.write_config()

    @rule(many=some_changes, usual=usually, accept=st.booleans(), full=st.booleans())
    def night(self, many, usual, accept, full):
        self.change_all(many, usual)
        words = ["--full_check"] if full else []
        self.run_night(words, Asked(self.shelf.limit, accept=accept))

    @rule(many=some_changes, usual=usually, accept=st.booleans(), moment=st.integers(0, 30))
    def killed_night(self, many, usual, accept, moment):
        self.change_all(many, usual)
        self.run_night([], Asked(self.shelf.limit, accept=accept), moment)

    @rule(many=some_changes, usual=usually, accept=st.booleans())
    def night_of_prepared_jobs(self, many, usual, accept):
        self.change_all(many, usual)
        words = ("--config", "nightly.yaml", "--output", self.name, "--launches", "jobs.json")
        (self.directory / "jobs.json").write_text("[]")
        status, _, errors = command(self.directory, *words)
        assert status in (0, 2), errors
        for launch in json.loads((self.directory / "jobs.json").read_text()):
            job, config, output = (launch[name] for name in ("job", "config", "output"))
            runs.run_well_here(job, "--config", config, "--output", output, cwd=self.directory)
        self.run_night(["--prepared_only"], Asked(self.shelf.limit, accept=accept))

    @rule(
        many=some_changes,
        usual=usually,
        accept=st.booleans(),
        down=taken,
        everywhere=st.booleans(),
        moment=st.one_of(st.none(), st.integers(0, 30)),
    )
    def night_with_a_takedown(self, many, usual, accept, down, everywhere, moment):
        self.change_all(many, usual)
        words = self.list_of(down, everywhere)
        asked = Asked(self.shelf.limit, taken=down, everywhere=everywhere, accept=accept)
        self.run_night(words, asked, moment)

    @precondition(lambda self: self.tables.night)
    @rule(
        many=some_changes,
        accept=st.booleans(),
        refit=st.booleans(),
        down=st.one_of(st.none(), taken),
        moment=st.one_of(st.none(), st.integers(0, 30)),
    )
    def migration(self, many, accept, refit, down, moment):
        self.change_all(many)
        words = ["--refit" if refit and self.shelf.limit == self.tables.limit else "--migrate"]
        words += self.list_of(down) if down else []
        asked = Asked(self.shelf.limit, taken=down, migrate=True, accept=accept)
        self.run_night(words, asked, moment)

    @precondition(lambda self: self.tables.stones and not self.is_half_done)
    @rule(accept=st.booleans())
    def a_new_table_with_the_tombstones_of_the_old_one(self, accept):
        old, stones = self.name, self.tables.stones
        kept = self.name, self.reader, self.tables, self.past, self.readable, self.has_model
        self.new_table()
        self.shelf.write_config()
        asked = Asked(self.shelf.limit, accept=accept, inherited=stones)
        self.run_night(["--tombstones_of", old], asked)
        if not self.tables.night:
            self.name, self.reader, self.tables, self.past, self.readable, self.has_model = kept

    def list_of(self, down, everywhere=False):
        """Write a list for a takedown; return the words of a night."""
        result = [id_of(what) if kind == "id" else f" {what.upper()}" for kind, what in down]
        (self.directory / "list.txt").write_text("".join(f"{each}\n" for each in result))
        return ["--takedown", "list.txt", *(["--everywhere"] if everywhere else [])]

    def run_night(self, words, asked, moment=None):
        """Run a night, perhaps killed at a moment, and compare how it ends with the model."""
        words = ("--config", "nightly.yaml", "--output", self.name, *words)
        words += ("--accept", REASON) if asked.accept else ()
        if not self.shelf.is_complete() or ("--refit" in words and not self.has_model):
            status, _, errors = command(self.directory, *words)
            assert status == 2, errors
            self.see_whether_half_done()
            return
        outcome = slow_nights.night(self.tables, self.shelf.given(), asked)
        killing = contextlib.nullcontext() if moment is None else random_tables.killed_at(moment)
        try:
            with killing:
                status, out, errors = command(self.directory, *words)
        except KilledError:
            self.after_kill(outcome, asked)
            return
        assert status == outcome.status, out + errors
        for said in outcome.said:
            assert said in out + errors
        self.go_on(outcome.tables, outcome.made, anew=asked.migrate)

    def after_kill(self, outcome, asked):
        """Read whether the night was decided before it was killed."""
        status, out, _ = command(self.directory, "status", self.name, "--format", "json")
        decided = json.loads(out)["night"] if status == 0 else 0
        assert decided in (self.tables.night, outcome.tables.night)
        if decided != self.tables.night:
            self.go_on(outcome.tables, outcome.made, anew=asked.migrate)
        self.see_whether_half_done()

    def see_whether_half_done(self):
        """Ask the tables whether their last night is still to be finished."""
        _, out, _ = command(self.directory, "status", self.name)
        self.is_half_done = "is not committed to all tables" in out

    def go_on(self, tables, made=0, *, anew=False):
        """Take the tables of a night that was committed, or that a command has just finished."""
        self.is_half_done = False
        if tables.night != self.tables.night:
            self.tables = self.past[tables.night] = tables
            fits = self.shelf.job == "align" and made > 0
            self.has_model = fits or (self.has_model and not anew)

    @precondition(lambda self: self.tables.night)
    @rule(down=taken, everywhere=st.booleans())
    def takedown(self, down, everywhere):
        words = self.list_of(down, everywhere)[1:]
        status, out, errors = command(self.directory, "takedown", self.name, *words)
        outcome = slow_nights.takedown(self.tables, down, everywhere=everywhere)
        assert status == 0, errors
        assert all(said in out for said in outcome.said), out
        self.go_on(outcome.tables)

    @precondition(lambda self: self.tables.night)
    @rule()
    def compact(self):
        status, out, errors = command(self.directory, "compact", self.name)
        assert status == 0, errors
        tables = self.tables
        names = [name for name in slow_nights.TABLES if name != "files"]
        grown = [name for name in names if self.reader.version(name) == tables.versions[name] + 1]
        if "nothing to join" not in out:
            assert grown
            tables = slow_nights.compacted(tables, grown)
        self.go_on(tables)
        for name in names:
            folders = [path.parent for path in self.reader.paths(name, tables.versions[name])]
            assert len(set(folders)) == len(folders), "files of a partition were not joined"

    @precondition(lambda self: self.tables.night)
    @rule(retention=st.sampled_from([0, 168]))
    def vacuum(self, retention):
        before = runs.tree_digests(self.directory / self.name)
        words = ("vacuum", self.name, "--retention", retention)
        status, _, errors = command(self.directory, *words)
        assert status == (2 if self.is_half_done else 0), errors
        if retention or status:
            assert runs.tree_digests(self.directory / self.name) == before
            return
        self.readable = self.tables.night
        self.check_that_no_text_is_left()

    def check_that_no_text_is_left(self):
        """Check that no file of the tables holds a text that they do not show any more."""
        hidden = {text for line in LINES for text in (line.source, line.target) if text}
        hidden -= self.tables.shown
        kept = {
            path
            for name, version in self.tables.versions.items()
            for path in self.reader.paths(name, version)
        }
        for path in (self.directory / self.name).rglob("*"):
            if not path.is_file():
                continue
            held = path.read_bytes()
            if path.suffix == ".parquet" and "_delta_log" not in path.parts:
                assert path in kept, f"{path} is in no current version"
                held = repr(pq.read_table(path, partitioning=None).to_pylist()).encode()
            assert not [text for text in hidden if json.dumps(text)[1:-1].encode() in held]
            assert not [text for text in hidden if text.encode() in held], path

    @precondition(lambda self: self.tables.night and not self.is_half_done)
    @rule(drawn=st.integers(0, 100), since=st.booleans())
    def read_an_older_night(self, drawn, since):
        nights = [number for number in self.past if number >= self.readable]
        number = nights[drawn % len(nights)]
        self.compare(self.past[number])
        self.export(number, nights[0] if since and nights[0] < number else 0)

    def export(self, number, since):
        """Export a night, and compare the shards; only what came after another night, if given."""
        words = ["export", self.name, "--output", "out", "--night", number]
        words += ["--since", since] if since else []
        status, _, errors = command(self.directory, *words)
        assert status == 0, errors
        out, of = self.directory / "out", self.past[number].rows
        rows = runs.rows_of(out)
        result = {(row["source"], row["target"]): (row["corpus"], row["night"]) for row in rows}
        assert len(result) == len(rows)
        assert result == {pair: row for pair, row in of.items() if row[1] > since}
        if since:
            gone = self.past[since].rows.keys() - of.keys()
            assert (out / "removed.txt").read_text().split() == sorted(map(id_of, gone))
        shutil.rmtree(out, ignore_errors=True)

    @rule(many=st.lists(changes, max_size=1))
    def plan(self, many):
        self.change_all(many)
        before = runs.tree_digests(self.directory)
        words = ("--config", "nightly.yaml", "--output", self.name, "--plan_only")
        status, _, errors = command(self.directory, *words)
        assert status == (0 if self.shelf.is_complete() else 2), errors
        assert runs.tree_digests(self.directory) == before

    @invariant()
    def tables_are_as_the_model_says(self):
        if not self.tables.night:
            return
        status, out, errors = command(self.directory, "verify", self.name)
        if self.is_half_done:
            assert status == 1
            assert f"night {self.tables.night} is not committed to all tables" in errors
            return
        assert status == 0, errors
        held = self.tables
        counts = (held.rows, held.places, held.rejects, held.files)
        assert (
            f"{counted(sum(map(len, counts)), 'row')}, {counted(held.night, 'night')} checked"
            in out
        )
        _, out, _ = command(self.directory, "status", self.name, "--format", "json")
        said = json.loads(out)
        assert (said["night"], said["metrics"]["table"]["pairs"]) == (held.night, len(held.rows))
        names = {name: self.reader.main if name == "main" else name for name in held.versions}
        versions = {names[name]: version for name, version in held.versions.items()}
        assert said["versions"] == versions
        assert bool(said["models"]) == self.has_model
        for name, version in held.versions.items():
            assert self.reader.version(name) == version, name
        self.compare(held)

    def compare(self, held):
        """Compare the rows of all tables with the model."""
        reader, versions = self.reader, held.versions
        reader.note_contents(self.shelf, held.files, versions["files"])
        assert reader.main_rows(versions["main"]) == held.rows
        places = {(id_of(pair), *where): night for (pair, *where), night in held.places.items()}
        assert reader.places(versions["provenance"]) == places
        rejects = {
            at: random_tables.expected_reject(at[0], one) for at, one in held.rejects.items()
        }
        assert reader.rejects(versions["rejects"]) == rejects


def run_histories(examples, steps):
    """Run random histories; Hypothesis prints the steps of one that fails."""
    settings = hypothesis.settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        print_blob=True,
    )
    run_state_machine_as_test(RandomNights, settings=settings)


def test_random_histories_give_what_the_model_says():
    run_histories(examples=3, steps=7)


@pytest.mark.slow
def test_many_random_histories_give_what_the_model_says():
    run_histories(examples=hypothesis.settings.default.max_examples // 20, steps=25)
