"""A directory of input files and the tables of `refresh` made of it, beside their plain model.

The input files and what the tables must hold are those of `tests.oracles.slow_nights`; what the
tables do hold is read from their files.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
from pathlib import Path
from unittest import mock

import deltalake
import deltalake.transaction
import pyarrow as pa
import pyarrow.parquet as pq

from pairweave.transforms import ids
from pairweave.transforms.storage import files
from tests.makers import runs
from tests.oracles import slow_nights
from tests.oracles.slow_nights import Content, InputFile, Line, Rejected

MAIN = {"augment": "tagged", "align": "links"}
CORPORA = ("news", "help", "web")
NAMES = ("a", "b", "c")

_STARTED = 1_700_000_000_000_000_000
"""Time of the first file, in nanoseconds since 1970; the others follow a nanosecond apart."""


class KilledError(BaseException):
    """The process would end here."""


@dataclasses.dataclass
class Shelf:
    """The input files of a directory, and its configuration.

    Attributes:
        directory: The directory.
        job: The job that makes the rows.
        outer: Licence of the corpora that have none of their own.
        limit: The setting that decides which pairs are rejected.
        absent: Corpora that the configuration does not name.
        licences: Licence of each corpus that has one.
        held: The lines and the stamp of each file, by corpus and name.
    """

    directory: Path
    job: str
    outer: str | None
    limit: int = 12
    absent: set[str] = dataclasses.field(default_factory=set)
    licences: dict[str, str] = dataclasses.field(default_factory=dict)
    held: dict[tuple[str, str], tuple[tuple[Line, ...], int]] = dataclasses.field(
        default_factory=dict
    )
    clock: int = 0

    def write(self, corpus: str, name: str, lines: tuple[Line, ...]) -> None:
        """Write a file, or write over it; its time is later than that of all others."""
        self.clock += 1
        self.held[(corpus, name)] = (lines, self.clock)
        (self.directory / corpus).mkdir(exist_ok=True)
        for path, text in self._texts(corpus, name, lines):
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(_STARTED + self.clock, _STARTED + self.clock))

    def remove(self, corpus: str, name: str) -> None:
        """Delete a file."""
        for path, _ in self._texts(corpus, name, ()):
            path.unlink()
        del self.held[(corpus, name)]

    def rename(self, corpus: str, name: str, new: str) -> None:
        """Give a file a name that no other one has; its time stays."""
        for (old, _), (path, _) in zip(
            self._texts(corpus, name, ()), self._texts(corpus, new, ()), strict=True
        ):
            old.rename(path)
        self.held[(corpus, new)] = self.held.pop((corpus, name))

    def _texts(self, corpus: str, name: str, lines: tuple[Line, ...]) -> list[tuple[Path, str]]:
        """Return the files in which lines are, with their texts: one, or one for each side."""
        base = self.directory / corpus / name
        if corpus == "news":
            sides = (base.with_suffix(".en"), base.with_suffix(".de"))
            texts = ([line.source for line in lines], [line.target for line in lines])
            return [(p, "".join(f"{x}\n" for x in t)) for p, t in zip(sides, texts, strict=True)]
        text = "".join(f"{line.source}\t{line.target}\n" for line in lines)
        return [(base.with_suffix(".tsv"), text)]

    def is_complete(self) -> bool:
        """Tell whether each corpus that the configuration names has a file, and one is named."""
        named = {name for name in CORPORA if name not in self.absent}
        return bool(named) and named <= {corpus for corpus, _ in self.held}

    def given(self) -> list[InputFile]:
        """Return the files that a night finds, in its order."""
        night_files = []
        for corpus in CORPORA:
            for name in NAMES:
                if corpus not in self.absent and (corpus, name) in self.held:
                    lines, stamp = self.held[(corpus, name)]
                    licence = self.licences.get(corpus, self.outer)
                    night_files.append(InputFile(Content(corpus, licence, lines), name, stamp))
        return night_files

    def write_config(self) -> None:
        """Write the configuration."""
        kept = [name for name in CORPORA if name not in self.absent]
        corpora = []
        for name in kept:
            where = {"input": f"{name}/*.tsv"}
            if name == "news":
                where = {"source_input": "news/*.en", "target_input": "news/*.de"}
            own = {"licence": self.licences[name]} if name in self.licences else {}
            corpora.append({"corpus": name, **where, **own})
        around = {"licence": self.outer} if self.outer else {}
        more = {"mix": 0} if self.job == "augment" else {}
        whole = {
            "job": self.job,
            "source_lang": "en",
            "target_lang": "de",
            "workers": 1,
            "max_tokens": self.limit,
            "gates": {"max_rejected": 0.7},
            "corpora": corpora,
        }
        text = json.dumps({**whole, **around, **more})  # JSON is YAML
        (self.directory / "nightly.yaml").write_text(text)

    def sums(self, file: InputFile) -> tuple[str, ...]:
        """Return the SHA-256 of the files in which a file's lines are."""
        texts = self._texts(file.content.corpus, file.name, file.content.lines)
        return tuple(hashlib.sha256(text.encode()).hexdigest() for _, text in texts)


def id_of(pair: tuple[str, str]) -> str:
    """Return the id of a pair."""
    sides = [pa.array([text]) for text in pair]
    (key,) = ids.pair_ids("en", "de", *sides, pa.nulls(1, pa.string())).to_pylist()
    return key


def command(directory, *words):
    """Run a subcommand of ``refresh`` in this process."""
    return runs.run_here("refresh", *words, cwd=directory)


@dataclasses.dataclass
class Reader:
    """What the tables hold, in the words of the model.

    Attributes:
        table: Directory of all tables.
        main: Name of the table of the job's rows.
        contents: The content behind each key that the table of files has had.
    """

    table: Path
    main: str
    contents: dict[str, Content] = dataclasses.field(default_factory=dict)

    def version(self, name: str) -> int:
        """Return the last version of a table, by the name in the model; -1 if there is none."""
        path = str(self.table / self._name(name))
        if not deltalake.DeltaTable.is_deltatable(path):
            return -1
        return deltalake.DeltaTable(path).version()

    def _name(self, name: str) -> str:
        return self.main if name == "main" else name

    def paths(self, name: str, version: int) -> list[Path]:
        """Return the data files of a version of a table."""
        place = self.table / self._name(name)
        opened = deltalake.DeltaTable(str(place), version=version)
        actions = pa.table(opened.get_add_actions(flatten=True))
        return [place / path for path in actions.column("path").to_pylist()]

    def rows(self, name: str, version: int) -> list[dict[str, object]]:
        """Return the rows of a version of a table."""
        return [
            row
            for path in self.paths(name, version)
            for row in pq.read_table(path, partitioning=None).to_pylist()
        ]

    def note_contents(self, shelf: Shelf, expected: tuple[InputFile, ...], version: int) -> None:
        """Note which key the table of files gives to each content, and check all it says of it."""
        rows = self.rows("files", version)
        by_sums = {(row["corpus"], row["licence"], tuple(row["sha256"])): row for row in rows}
        assert len(by_sums) == len(rows) == len(expected)
        for file in expected:
            content = file.content
            row = by_sums[(content.corpus, content.licence, shelf.sums(file))]
            ends = (".en", ".de") if content.corpus == "news" else (".tsv",)
            assert row["names"] == [f"{content.corpus}/{file.name}{end}" for end in ends]
            assert row["rows"] == len(content.lines)
            assert (row["source_lang"], row["target_lang"]) == ("en", "de")
            assert self.contents.setdefault(row["content"], content) == content

    def main_rows(self, version: int) -> dict[tuple[str, str], tuple[str, int]]:
        """Return corpus and night of each pair."""
        rows = self.rows("main", version)
        origins = {(row["source"], row["target"]): (row["corpus"], row["night"]) for row in rows}
        assert len(origins) == len(rows), "a pair has two rows"
        assert all(row["id"] == id_of((row["source"], row["target"])) for row in rows)
        return origins

    def places(self, version: int) -> dict[tuple[str, Content, int], int]:
        """Return where each id stands, and since which night."""
        rows = self.rows("provenance", version)
        nights = {
            (row["id"], self.contents[row["content"]], row["line"]): row["night"] for row in rows
        }
        assert len(nights) == len(rows), "a place is there twice"
        assert all(row["corpus"] == self.contents[row["content"]].corpus for row in rows)
        return nights

    def rejects(self, version: int) -> dict[tuple[Content, int], tuple[object, ...]]:
        """Return the rejected lines: reason, night, id and the texts that they show."""
        rows = self.rows("rejects", version)
        lines = {
            (self.contents[row["content"]], row["line"]): (
                *(row[name] for name in ("corpus", "reason", "night", "id")),
                *(row[name] for name in ("source", "target", "raw", "translation")),
            )
            for row in rows
        }
        assert len(lines) == len(rows), "a rejected line is there twice"
        return lines


def expected_reject(content: Content, one: Rejected) -> tuple[object, ...]:
    """Return what `Reader.rejects` has of a rejected line."""
    shown = one.pair if one.reason not in slow_nights.HIDDEN else (None, None)
    key = None if one.pair is None else id_of(one.pair)
    return (content.corpus, one.reason, one.night, key, *(shown or (None, None)), None, None)


@contextlib.contextmanager
def killed_at(moment: int):
    """End what runs in this context before or after one of its writes, as a kill would.

    Args:
        moment: Twice the number of writes that are done before, and one more to end after the next.
            Writes are those of files, besides those of a job, and of entries in Delta's log.
    """
    count = 0

    def ending(whole):
        def write(*words, **more):
            nonlocal count
            if words and isinstance(words[0], str) and "/run/" in words[0]:
                return whole(*words, **more)  # of a job, which its own tests kill
            if count == moment // 2 and not moment % 2:
                raise KilledError
            done = whole(*words, **more)
            count += 1
            if count == moment // 2 + 1 and moment % 2:
                raise KilledError
            return done

        return write

    places = (
        *((files, name) for name in ("write_bytes", "create")),
        (deltalake.DeltaTable, "create_write_transaction"),
        (deltalake.transaction, "create_table_with_add_actions"),
    )
    with contextlib.ExitStack() as stack:
        for place, name in places:
            stack.enter_context(mock.patch.object(place, name, ending(getattr(place, name))))
        yield
