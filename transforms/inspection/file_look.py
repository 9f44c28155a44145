"""Inspects the rows of one file: the features of all rows, and the texts of a sample."""

import collections
import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.counted import counted
from pairweave.transforms.findings import Finding, file_of
from pairweave.transforms.inspection.language_look import language_findings
from pairweave.transforms.inspection.tagged_texts import tag_findings
from pairweave.transforms.kernels.inspection.line_features import (
    MOJIBAKE,
    REPLACED,
    LineFeatures,
)
from pairweave.transforms.reading.damaged_characters import with_c1
from pairweave.transforms.rejects import AS_UTF8, Reject
from pairweave.transforms.sentences.class_evidence import NATS
from pairweave.transforms.sentences.coverage_evidence import PairCoverage
from pairweave.transforms.sentences.line_shift import moved_by
from pairweave.transforms.sentences.stretches import (
    Linked,
    Stretch,
    features_of,
    joined,
    judge_lines,
)

CHUNK_LINES = 1 << 19
"""Number of lines that are judged together: about 100 MB of features and evidence."""

SAMPLE_ROWS = 2_000
"""Number of rows whose texts are read for languages and tags, chosen by a hash of the texts."""

MIN_SHARE = 0.01
"""Minimum share of a file's rows for reporting damage to single rows; a hundred rows are enough in
any file."""

MIN_ROWS = 100

REPEATED_SIDE_SHARE = 0.01
"""Minimum share of a file's rows for reporting a text that is paired with many others: a
placeholder, a notice of a web site, a failed translation."""

DUPLICATE_SHARE = 0.05
"""Minimum share of rows for reporting repeated pairs. Messages and chat naturally repeat."""

COPIED_SHARE = 0.1
"""Minimum share of rows for reporting pairs with equal sides. They are at most 0.1 % of news and
help; in legal text, much of it numbers and references, 12 to 37 %, which is reported."""

CURVE_PARTS = 200
"""Number of points of a file's curve: the most that a report can show."""


@dataclasses.dataclass
class _Problem:
    count: int
    first: int
    last: int
    detail: str


class FileLook:
    """Collects evidence from the rows of a file.

    Args:
        name: The file as the user named it.
        languages: The languages given for the two sides.
        rows: Number of its rows.
        reads_tags: Whether its tags are read as tags.
        files: The file of each role, if the sides and their additions are files of their own.
        coverage: Judges pairs by a fitted aligner.
    """

    def __init__(
        self,
        name: str,
        languages: tuple[str, str],
        rows: int,
        *,
        reads_tags: bool,
        files: Mapping[str, str] | None = None,
        coverage: PairCoverage | None = None,
    ) -> None:
        self._name = name
        self._files = files or {}
        self._sides = (name, self._files.get("target", name))
        self._languages = languages
        self._rows = rows
        self._reads_tags = reads_tags
        self._coverage = coverage
        self._texts: list[list[pa.Array]] = []
        self._stretches: list[tuple[Stretch, int, int]] = []
        self._chunk: list[tuple[np.ndarray, LineFeatures, LineFeatures]] = []
        self._chunk_lines = 0
        chunks = -(-max(1, rows) // CHUNK_LINES)
        self._chunk_size = -(-max(1, rows) // chunks)
        self._evidence: list[np.ndarray] = []
        self._lines: list[np.ndarray] = []
        self._hashes: list[np.ndarray] = []
        self._empty: list[np.ndarray] = []
        self._marks: list[np.ndarray] = []
        self._controls: list[np.ndarray] = []
        self._unread: dict[tuple[str, str], _Problem] = {}
        self._sample: list[pa.RecordBatch] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the next rows (`schemas.ROWS`)."""
        lines = batch.column("line").to_numpy()
        self._add_unread(batch, lines)
        # A row that cannot be read keeps its place among the others.
        texts = [
            pc.if_else(batch.column("reason").is_null(), pc.fill_null(batch.column(side), ""), "")
            for side in ("source", "target")
        ]
        source, target = map(features_of, texts)
        self._chunk.append((lines, source, target))
        if self._coverage is not None:
            self._texts.append(texts)
        self._chunk_lines += len(lines)
        if self._chunk_lines >= self._chunk_size:
            self._judge_chunk()
        hashes = np.stack([source.hashes, target.hashes])
        self._lines.append(lines)
        self._hashes.append(hashes)
        self._marks.append(np.stack([source.marks, target.marks]))
        self._controls.append(np.stack([with_c1(side) for side in texts]))
        self._empty.append(np.stack([source.points == 0, target.points == 0]))
        step = max(1, self._rows // SAMPLE_ROWS)
        chosen = (_mixed(hashes) % np.uint64(step) == 0) & ~self._empty[-1].any(axis=0)
        if chosen.any():
            self._sample.append(
                pa.RecordBatch.from_arrays([*texts, batch.column("line")], names=_SAMPLED).filter(
                    pa.array(chosen)
                )
            )

    def _add_unread(self, batch: pa.RecordBatch, lines: np.ndarray) -> None:
        reasons = batch.column("reason")
        if reasons.null_count == len(reasons):
            return
        for row in np.flatnonzero(reasons.is_valid().to_numpy(zero_copy_only=False)).tolist():
            line = int(lines[row])
            reason = reasons[row].as_py()
            detail = batch.column("detail")[row].as_py() or ""
            # A detail begins with the name of its side.
            file = self._files.get(detail.partition(":")[0], self._name)
            if (reason, file) not in self._unread:
                self._unread[reason, file] = _Problem(0, line, line, detail)
            problem = self._unread[reason, file]
            problem.count += 1
            problem.last = line

    def _judge_chunk(self) -> None:
        if not self._chunk:
            return
        lines = np.concatenate([each[0] for each in self._chunk])
        source = joined([each[1] for each in self._chunk])
        target = joined([each[2] for each in self._chunk])
        stretches, evidence = judge_lines(source, target, linked=self._linked())
        self._evidence.append(evidence)
        for stretch in stretches:
            self._stretches.append((stretch, int(lines[stretch.first]), int(lines[stretch.last])))
        self._chunk, self._chunk_lines = [], 0

    def _linked(self) -> Linked | None:
        """Return the texts of the chunk with the judge that uses a fitted aligner."""
        if self._coverage is None:
            return None
        judge, languages = self._coverage, self._languages
        texts = [
            pa.concat_arrays([text.cast(pa.large_string()) for text in side])
            for side in zip(*self._texts, strict=True)
        ]
        self._texts = []
        return Linked(texts[0], texts[1], lambda *sides: judge(sides, languages))

    def findings(self) -> Iterator[Finding]:
        """Yield the findings on the file."""
        self._judge_chunk()
        if not self._lines:
            yield Finding("empty_file", self._name, 0, 0, 0, "has no pair")
            return
        yield from self._stretch_findings()
        lines, empty_sides = np.concatenate(self._lines), np.concatenate(self._empty, axis=1)
        empty = np.logical_or(*empty_sides)
        hashes = np.concatenate(self._hashes, axis=1)
        for (reason, file), problem in sorted(self._unread.items()):
            some = f"{problem.count:,} of {counted(len(lines), 'row')}"
            if reason in _OF_STATE:
                kind, one, several, option = _OF_STATE[reason]
                what = f"{some} {one if problem.count == 1 else several}"
                yield Finding(kind, file, problem.first, problem.last, problem.count, what, option)
                continue
            many = problem.count >= MIN_SHARE * len(lines)  # the lines show other cases
            what = f"{reason} (first: {problem.detail})" if many and problem.detail else reason
            yield Finding(
                "unreadable",
                file,
                problem.first,
                problem.last,
                problem.count,
                f"{some} cannot be read as pairs: {what}",
                AS_UTF8 if many and reason == Reject.INVALID_UTF8 else "",
            )
        unread = sum(problem.count for problem in self._unread.values())
        if int(empty.sum()) > unread:
            count = int(empty.sum()) - unread
            what = f"{counted(count, 'pair has', 'pairs have')} an empty side"
            counts = empty_sides.sum(axis=1) - unread  # rows that are not read have two empty sides
            yield self._of_rows("empty", lines, empty, what, file=file_of(self._sides, counts))
        yield from self._repetitions(lines[~empty], hashes[:, ~empty])
        yield from self._damaged(lines)
        if self._sample:
            sample = pa.Table.from_batches(self._sample).combine_chunks()
            if not (hashes[0] == hashes[1]).all():  # copied texts are in one language anyway
                yield from language_findings(self._sides, sample, self._languages)
            if not self._reads_tags:
                marks = np.concatenate(self._marks, axis=1)
                yield from tag_findings(self._sides, sample, lines, marks)

    def _of_rows(
        self,
        kind: str,
        lines: np.ndarray,
        rows: np.ndarray,
        evidence: str,
        option: str = "",
        file: str | None = None,
    ) -> Finding:
        """Return a finding on some rows, bool ``[row]``; without a file, on both sides."""
        affected = lines[rows]
        first, last = int(affected.min()), int(affected.max())
        return Finding(kind, file or self._name, first, last, len(affected), evidence, option)

    def _stretch_findings(self) -> Iterator[Finding]:
        if not self._stretches:
            return
        curve, every = self._curve(), np.concatenate(self._lines)
        for stretch, first, last in _merged(self._stretches):
            # Not every line of a file of markup is a pair.
            lines = int(((every >= first) & (every <= last)).sum())
            rest = stretch.elsewhere
            shown = f"evidence {stretch.mean:.1f} per pair, "
            shown += f"{rest:.1f} in the rest of the file, " if rest is not None else ""
            shown += f"{stretch.chance:.1f} between random lines"
            if stretch.move is None:
                what = counted(
                    lines,
                    "line is not a translation of its counterpart",
                    "lines are not translations of their counterparts",
                )
                what += f" ({shown})"
                if lines == len(every):
                    what = "the lines of the two sides do not match: they are no more alike "
                    what += "than random lines"
                yield Finding("misaligned", self._name, first, last, lines, what, REJECT, curve)
                curve = ()
                continue
            where = f"from line {first:,} to {last:,}"
            what = f"{where} the target is {moved_by(stretch.move)} ({shown})"
            yield Finding("moved", self._name, first, last, lines, what, REJECT, curve)
            curve = ()

    def _curve(self) -> tuple[int | None, ...]:
        """Return the mean evidence of lines of equal parts of the file, in hundredths of a nat."""
        lines, evidence = np.concatenate(self._lines), np.concatenate(self._evidence)
        first, last = int(lines[0]), int(lines[-1])
        parts = min(CURVE_PARTS, len(lines))
        part = (lines - first) * parts // (last - first + 1)
        counts = np.bincount(part, minlength=parts).tolist()
        # Sums of integers below 2**53 are exact in any order.
        sums = np.bincount(part, weights=evidence, minlength=parts).tolist()
        return tuple(
            round(100 * total / (NATS * count)) if count else None
            for total, count in zip(sums, counts, strict=True)
        )

    def _repetitions(self, lines: np.ndarray, hashes: np.ndarray) -> Iterator[Finding]:
        if len(lines) < 2:
            return
        pairs = _mixed(hashes)
        again = _seen_before(pairs)
        count = int(again.sum())
        if count >= MIN_ROWS and count >= DUPLICATE_SHARE * len(lines):
            yield self._of_rows(
                "duplicates",
                lines,
                again,
                f"{count:,} of {len(lines):,} pairs repeat an earlier one, so that "
                f"{counted(len(lines) - count, 'remains', 'remain')}; jobs keep the first of each",
            )
        for side, name in enumerate(("source", "target")):
            texts, others = hashes[side], pairs
            distinct = np.unique(np.stack([texts, others]), axis=1)[0] if count else texts
            values, numbers = np.unique(distinct, return_counts=True)
            most = int(numbers.argmax())
            beside = int(numbers[most])
            if beside >= MIN_ROWS and beside >= REPEATED_SIDE_SHARE * len(lines):
                yield self._of_rows(
                    "repeated_side",
                    lines,
                    texts == values[most],
                    f"the same {name} occurs with {beside:,} different texts",
                    file=self._sides[side],
                )
        equal = hashes[0] == hashes[1]
        count = int(equal.sum())
        if count >= MIN_ROWS and count >= COPIED_SHARE * len(lines):
            yield self._of_rows(
                "copied",
                lines,
                equal,
                f"{count:,} of {len(lines):,} pairs have the same text on both sides",
                "--drop_identical rejects them",
            )

    def _damaged(self, lines: np.ndarray) -> Iterator[Finding]:
        marks = np.concatenate(self._marks, axis=1)
        controls = np.concatenate(self._controls, axis=1)
        anew = "recreate the file from its source, or let filter reject them"
        share = MIN_SHARE * len(lines)
        for kind, damaged, least, what, option in (
            ("encoding", marks & REPLACED != 0, min(share, MIN_ROWS), AS_LOST, anew),
            ("encoding", marks & MOJIBAKE != 0, min(share, MIN_ROWS), AS_OTHER, anew),
            ("c1_controls", controls, share, AS_CONTROLS, MEND_CONTROLS),
        ):
            rows, counts = np.logical_or(*damaged), damaged.sum(axis=1)
            count = int(rows.sum())
            if count and count >= least:
                verb = "contains" if count == 1 else "contain"
                said = f"{count:,} of {counted(len(lines), 'pair')} {verb} {what}"
                if counts.all() and self._sides[0] != self._sides[1]:
                    said += f", {counts[0]:,} in the source and {counts[1]:,} in the target"
                yield self._of_rows(kind, lines, rows, said, option, file_of(self._sides, counts))


AS_LOST = "U+FFFD, where a character was lost"
AS_CONTROLS = "C1 control characters (U+0080 to U+009F)"
AS_OTHER = "UTF-8 read as another encoding, such as Ã¼ for ü"
MEND_CONTROLS = "--c1_controls mend reads them as windows-1252"
REJECT = "--misaligned reject leaves these lines out"
_TAKE_DOUBTFUL = "--po_take fuzzy reads those of PO, --xliff_take doubtful those of XLIFF"
_OF_STATE: dict[str, tuple[str, str, str, str]] = {
    Reject.UNTRANSLATED: ("untranslated", "is not translated", "are not translated", ""),
    Reject.FUZZY: (
        "untranslated",
        "has a translation that is marked as doubtful",
        "have translations that are marked as doubtful",
        _TAKE_DOUBTFUL,
    ),
    Reject.OBSOLETE: (
        "unreadable",
        f"is left out: {Reject.OBSOLETE}",
        f"are left out: {Reject.OBSOLETE}",
        "",
    ),
}
"""Reject reasons that are states of entries, which an option can admit: kinds, the words for one
entry and for several, and the option."""
_SAMPLED = ("source", "target", "line")


def _mixed(hashes: np.ndarray) -> np.ndarray:
    """Return one hash for both sides, uint64 ``[row]``."""
    mixed = hashes[0] * np.uint64(0x9E3779B97F4A7C15) + hashes[1]
    mixed ^= mixed >> np.uint64(32)
    return mixed * np.uint64(0xD6E8FEB86659FD93) >> np.uint64(8)


def _seen_before(keys: np.ndarray) -> np.ndarray:
    """Tell which keys have occurred before, bool ``[key]``."""
    _, first = np.unique(keys, return_index=True)
    again = np.ones(len(keys), np.bool_)
    again[first] = False
    return again


def _merged(stretches: list[tuple[Stretch, int, int]]) -> Iterator[tuple[Stretch, int, int]]:
    """Yield stretches, joining those of two chunks that meet."""
    waiting: collections.deque[tuple[Stretch, int, int]] = collections.deque(stretches)
    while waiting:
        stretch, first, last = waiting.popleft()
        while waiting and waiting[0][1] == last + 1 and waiting[0][0].move == stretch.move:
            last = waiting.popleft()[2]
        yield stretch, first, last
