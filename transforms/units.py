"""The input of a job and the units of its plan, as plain data without file access."""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import Field

from pairweave.transforms.config import Config
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.markup import find_syntax
from pairweave.transforms.option_marks import listed_after
from pairweave.transforms.plugins.entry_points import Plugin

HTML_ENTITIES = ("decode", "reject", "keep")
C1_CONTROLS = ("mend", "reject", "keep")
INLINE_TAGS = ("raw", "strip", "index", "reject")
TAGS_DIFFER = ("reject", "keep")

Kind = TypeVar("Kind", bound=Config)

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")


class FileLimitOptions(Config):
    """Limits that protect the machine from hostile or broken input.

    DEFLATE can expand 1032 times; text compresses 3 to 20 times. A block of lines must stay far
    below the 2 GiB limit of 32-bit Arrow offsets.
    """

    max_line_bytes: int = Field(1 << 20, ge=1, le=256 << 20, description="longest line, in bytes")
    max_expansion: int = Field(
        200,
        ge=1,
        le=1 << 20,
        description="largest ratio of decompressed to compressed bytes, for more than 16 MiB of "
        "text; of Parquet, of text to the bytes of a row group",
    )
    max_file_bytes: int = Field(
        1 << 40,
        ge=1,
        le=1 << 60,
        description="most text in one file that is compressed or Parquet, in bytes",
    )
    max_json_depth: int = Field(
        64,
        ge=1,
        le=256,
        description="deepest nesting of a JSON line",
        json_schema_extra=listed_after("unit_rows"),
    )


class ReadLimits(FileLimitOptions):
    """Limits of the readers: a longer line, cell or message rejects its row.

    Attributes:
        expansion_floor_bytes: Text below this size may expand without limit.
    """

    expansion_floor_bytes: int = Field(16 << 20, ge=0, le=1 << 40)


@dataclasses.dataclass(frozen=True, slots=True)
class EarlierRun:
    """A finished run whose rows are read as input.

    Attributes:
        corpora: Name and licence of each corpus that its rows may be from.
        hashes: SHA-256 of each shard, hex, by the name of its file.
    """

    corpora: tuple[tuple[str, str | None], ...]
    hashes: Mapping[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class CorpusInput:
    """The input settings of one corpus.

    Attributes:
        source_lang: BCP 47; ``en`` if absent and every file is PO.
        target_lang: BCP 47.
        name: Value of the column ``corpus``; by default each file's name.
        format: One of `transforms.formats.registry.input_names`, or the name of a plugin; by
            default from the extension.
        input: Glob patterns of files with both sides.
        source_input: Glob patterns of line-parallel text; the files of each pattern sorted, the
            patterns in the order given.
        target_input: The same number of files as in ``source_input``, paired by position.
        translation_input: None or the same number of files: machine translations of the source.
        score_input: None or the same number of files of scores, a number in each line.
        links: None or the same number of files of links in Pharaoh form, one line per line of text.
        forward_links: The same for the direction that explains the target; given with
            ``reverse_links``.
        reverse_links: The same for the other direction, also as source-target.
        attention: None or the same number of files of attention
            (`transforms.links.attention.Attention`).
        source_field: TSV and CSV: a column number from 1, or a name in the header line. JSONL and
            Parquet: a field. Default 1 or ``source``.
        target_field: Default 2 or ``target``.
        translation_field: TSV and CSV: read only if given. JSONL and Parquet: a field that every
            row must have; if not given, ``translation`` is read if it exists.
        score_field: TSV, CSV, JSONL and Parquet: a column of scores of pairs; a pair may have none.
        links_field: TSV, CSV, JSONL and Parquet: a column of links.
        field_count: TSV and CSV: fields in each line; by default those of the first line.
        format_options: Options of formats that differ from their defaults, by name
            (`transforms.formats.registry.Entry`).
        inline_tags: Treatment of tags inside texts: ``raw`` leaves them unchanged, ``strip``
            removes them, ``index`` removes them and keeps them with the pair, ``reject`` rejects
            the pair. Default ``strip`` for TMX, XLIFF and LXM, else ``raw``.
        inline_syntax: Syntax of tags in a format whose tags are characters of its texts
            (`transforms.markup.markup.SYNTAXES`). Default ``html`` for PO, else ``xml``.
        tags_differ: With ``index``: whether a pair is rejected if one side has a tag that the
            other lacks, or kept.
        html_entities: Treatment of entities such as ``&#39;``
            (`transforms.reading.damaged_characters`): ``decode`` turns them into characters,
            ``keep`` leaves them, ``reject`` rejects the pair.
        c1_controls: Treatment of U+0080 to U+009F: ``mend`` reads them as windows-1252.
        run: The finished run, if ``input`` names the shards of one: rows keep the corpus, file and
            line that they have there.
        documents: Rows are document pairs: a text may be a list of paragraphs.
        document_field: With ``documents``: a field of their ids or URLs. A row may have none.
        pair_by: Which files of ``source_input`` and ``target_input`` belong together: those in the
            same place (``order``) or with the same name (``name``,
            `transforms.planning.paired_names`).
    """

    source_lang: str | None = None
    target_lang: str | None = None
    name: str | None = None
    format: str | None = None
    input: tuple[str, ...] = ()
    source_input: tuple[str, ...] = ()
    target_input: tuple[str, ...] = ()
    translation_input: tuple[str, ...] = ()
    score_input: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    forward_links: tuple[str, ...] = ()
    reverse_links: tuple[str, ...] = ()
    attention: tuple[str, ...] = ()
    source_field: str | None = None
    target_field: str | None = None
    translation_field: str | None = None
    score_field: str | None = None
    links_field: str | None = None
    field_count: int | None = None
    format_options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    inline_tags: str | None = None
    inline_syntax: str | None = None
    tags_differ: str = "reject"
    html_entities: str = "keep"
    c1_controls: str = "keep"
    run: EarlierRun | None = None
    documents: bool = False
    document_field: str | None = None
    pair_by: str = "order"

    def __post_init__(self) -> None:
        label = self.label
        parallel = self.source_input or self.target_input or self.translation_input
        if bool(self.input) == bool(parallel):
            raise ConfigError(f"{label}: give either input or source_input and target_input")
        if parallel and not (self.source_input and self.target_input):
            missing = "target_input" if self.source_input else "source_input"
            raise ConfigError(
                f"{label}: source_input and target_input belong together; {missing} is missing for "
                f"{', '.join(self.source_input or self.target_input or parallel)}"
            )
        if self.name == "":
            raise ConfigError("a corpus name must not be empty")
        if self.score_input and self.score_field is not None:
            raise ConfigError(f"{label}: give score_field or score_input, not both")
        if parallel and self.score_field is not None:
            raise ConfigError(
                f"{label}: score_field {self.score_field}: line-parallel text has no columns; give "
                "score_input, or input of TSV, CSV, JSONL or Parquet"
            )
        if self.score_input and not parallel:
            raise ConfigError(
                f"{label}: score_input goes with source_input and target_input; for a column of "
                "input give score_field"
            )
        self._check_links(label)
        if self.target_lang is None:
            raise ConfigError(f"{label}: target_lang is missing")
        for lang in (self.source_lang, self.target_lang):
            if lang is not None and not _LANGUAGE.fullmatch(lang):
                raise ConfigError(f"{label}: {lang!r} is not a language tag such as en or pt-BR")
        if self.field_count is not None and self.field_count < 2:
            raise ConfigError(f"{label}: field_count must be 2 or more, got {self.field_count}")
        if self.inline_syntax is not None:
            find_syntax(self.inline_syntax)
        for name, value, known in (
            ("inline_tags", self.inline_tags, (None, *INLINE_TAGS)),
            ("tags_differ", self.tags_differ, TAGS_DIFFER),
            ("html_entities", self.html_entities, HTML_ENTITIES),
            ("c1_controls", self.c1_controls, C1_CONTROLS),
        ):
            if value not in known:
                names = ", ".join(choice for choice in known if choice)
                raise ConfigError(f"{label}: {name} must be one of {names}, got {value!r}")

    @property
    def label(self) -> str:
        """Return the corpus in words, for messages."""
        return f"corpus {self.name}" if self.name else "input"

    @property
    def third_field(self) -> str | None:
        """Return the field that is read into the column ``translation``, if it was named.

        Document pairs have no translation; this column holds their ids.
        """
        return self.document_field if self.documents else self.translation_field

    @property
    def third_required(self) -> bool:
        """Return True if a row must have the third field."""
        return self.translation_field is not None and not self.documents

    @property
    def given_links(self) -> tuple[str, ...]:
        """Return the names of the given options for the links of the pairs."""
        names = ("links", "forward_links", "reverse_links", "attention", "links_field")
        return tuple(name for name in names if getattr(self, name))

    def _check_links(self, label: str) -> None:
        given = self.given_links
        if len(given) > 1 and given != ("forward_links", "reverse_links"):
            raise ConfigError(
                f"{label}: {' and '.join(given)} all say where links come from; give one of "
                "links, forward_links with reverse_links, attention, links_field"
            )
        if given in (("forward_links",), ("reverse_links",)):
            raise ConfigError(
                f"{label}: forward_links and reverse_links belong together; links is for a "
                "single set"
            )
        if given == ("links_field",) and not self.input:
            raise ConfigError(
                f"{label}: links_field {self.links_field}: line-parallel text has no columns; "
                "give a file of links with links"
            )
        if self.input:
            self.check_no_link_files()

    def check_no_link_files(self) -> None:
        """Refuse files of links, which only line-parallel text can have.

        Raises:
            ConfigError: There are such files.
        """
        given = self.given_links
        if given and given != ("links_field",):
            raise ConfigError(
                f"{self.label}: {given[0]} goes with source_input and target_input of "
                "line-parallel text; TSV, CSV, JSONL and Parquet have links in a column; give its "
                "name with links_field"
            )


@dataclasses.dataclass(frozen=True, slots=True)
class Columns:
    """Locations of a row's texts, resolved against the file.

    Attributes:
        source: TSV: the column number from 1; else a field name.
        target: As ``source``.
        translation: As ``source``; None if there is none to read. For document pairs, their ids.
        translation_required: A row without a translation is rejected.
        score: As ``source``; None if there is none to read.
        links: As ``source``; None if there are none to read.
        languages_in: A field with one text per language (Hugging Face's
            ``translation: {en: ..., de: ...}``). For JSONL it is used for rows without ``source``
            and ``target``; for Parquet, for the whole file.
        field_count: TSV and CSV: fields in each line.
        paragraphs: JSONL: whether rows are document pairs, whose texts may be lists of paragraphs.
        origin: Parquet: whether ``corpus``, ``file`` and ``line`` of a row are read from the
            columns of these names.
    """

    source: str
    target: str
    translation: str | None = None
    translation_required: bool = False
    score: str | None = None
    links: str | None = None
    languages_in: str | None = None
    field_count: int = 0
    paragraphs: bool = False
    origin: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """The part of one file that a unit reads.

    Attributes:
        name: The file as the user named it (see `transforms.planning.locate`).
        path: Its absolute path or URI.
        compression: ``none``, ``gzip``, ``zstd``, ``xz`` or ``bzip2``.
        ranges: Half-open byte ranges of the file as stored, ascending.
        digest: xxh3-128 of those bytes, 32 hex.
        role: Content of the file, as in `InputFile`.
    """

    name: str
    path: str
    compression: str
    ranges: tuple[tuple[int, int], ...]
    digest: str
    role: str = "pairs"


@dataclasses.dataclass(frozen=True, slots=True)
class Unit:
    """A piece of work for a reader: some rows of one file, or of files that run in parallel.

    Attributes:
        index: Position in the plan, from 0.
        corpus: Value of the column ``corpus``.
        source_lang: BCP 47.
        target_lang: BCP 47.
        format: One of `transforms.formats.registry.input_names`, or that of ``plugin``.
        parts: One per file: source, target and possibly translation and links of line-parallel
            text, else one.
        first_line: Line (Parquet: row) of the first row, from 1.
        rows: Rows that the reader will make from it, including rejected ones.
        columns: Locations of the texts; None for line-parallel text and PO.
        skip_lines: Lines before the first row (a header in a compressed file).
        row_group: Parquet's row group, else None.
        format_options: See `CorpusInput`.
        inline_tags: See `CorpusInput`; one of `INLINE_TAGS`.
        inline_syntax: See `CorpusInput`; the name of a syntax.
        tags_differ: See `CorpusInput`.
        attention: The whole file of attention for the rows' links, if any.
        html_entities: See `CorpusInput`.
        c1_controls: See `CorpusInput`.
        earlier: Name and licence of each corpus that the rows may come from, if they are rows of an
            earlier run; ``corpus`` is then none of them.
        plugin: The format, if it comes from another package; workers use it to load the same one.
    """

    index: int
    corpus: str
    source_lang: str
    target_lang: str
    format: str
    parts: tuple[Part, ...]
    first_line: int
    rows: int
    columns: Columns | None = None
    skip_lines: int = 0
    row_group: int | None = None
    format_options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    inline_tags: str = "raw"
    inline_syntax: str = "xml"
    tags_differ: str = "reject"
    attention: Part | None = None
    html_entities: str = "keep"
    c1_controls: str = "keep"
    earlier: tuple[tuple[str, str | None], ...] = ()
    plugin: Plugin | None = None

    @property
    def file(self) -> str:
        """Return the value of the column ``file``; for line-parallel text, the source's name."""
        return self.parts[0].name

    @property
    def label(self) -> str:
        """Return the unit in words, for messages."""
        last = self.first_line + self.rows - 1
        return f"unit {self.index} ({self.file}, lines {self.first_line} to {last})"

    @property
    def copied(self) -> bool:
        """Tell whether both sides are the same bytes, from one file or from two."""
        sides = {part.role: part.digest for part in self.parts}
        return "source" in sides and sides["source"] == sides.get("target")

    @property
    def stored_bytes(self) -> int:
        """Return the number of bytes that the unit reads."""
        return sum(stop - start for part in self.parts for start, stop in part.ranges)

    def options(self, kind: type[Kind]) -> Kind:
        """Return the options of the unit's format."""
        given = self.format_options
        return kind(**{name: given[name] for name in kind.model_fields if name in given})

    def to_json(self) -> dict[str, Any]:
        """Return the unit as objects that JSON can hold."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Unit":
        """Undo `to_json`, also after a round trip through JSON text."""
        parts = tuple(map(_part, value["parts"]))
        columns = value["columns"] and Columns(**value["columns"])
        attention = value["attention"] and _part(value["attention"])
        options = {
            name: tuple(given) if isinstance(given, list) else given
            for name, given in value["format_options"].items()
        }
        earlier = tuple((name, licence) for name, licence in value["earlier"])
        plugin = value["plugin"] and Plugin(**value["plugin"])
        fields = {"parts": parts, "columns": columns, "attention": attention, "earlier": earlier}
        return cls(**{**value, **fields, "format_options": options, "plugin": plugin})


def _part(value: dict[str, Any]) -> Part:
    ranges = tuple((start, stop) for start, stop in value["ranges"])
    return Part(**{**value, "ranges": ranges})


@dataclasses.dataclass(frozen=True, slots=True)
class InputFile:
    """One file of the plan.

    Attributes:
        name: The file as the user named it.
        path: Its absolute path or URI; differs between machines.
        corpus: Value of the column ``corpus``.
        role: ``pairs``, ``source``, ``target``, ``translation``, ``score``, ``links``,
            ``forward_links``, ``reverse_links`` or ``attention``.
        format: As of a unit, or ``pharaoh`` or ``attention``.
        bytes: Size as stored.
        sha256: SHA-256 of the file as stored, hex.
        rows: Rows that the readers will make from it, including rejected ones.
        text_bytes: Decompressed size; for Parquet, of the columns read.
    """

    name: str
    path: str
    corpus: str
    role: str
    format: str
    bytes: int
    sha256: str
    rows: int
    text_bytes: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Notice:
    """A note on a file that is not an error, for its owner.

    Attributes:
        code: ``empty_file``, ``not_for_translation``, ``outside_segments``, ``unpaired_document``,
            ``byte_order_mark``, ``carriage_returns``, ``duplicate_file``, ``copied``,
            ``tags_stripped``, ``side_limit``, ``no_parallel_text``, ``band_edge``,
            ``exchanged_sides``, ``other_languages``, ``other_syntax``, ``html_entities``,
            ``c1_controls``, ``prior_left_out`` or another kind of findings
            (`transforms.findings.KINDS`).
        file: The file as the user named it; ``options`` for a notice on options.
        count: Number of occurrences; 1 if it cannot occur more often.
        message: The text of the notice.
    """

    code: str
    file: str
    count: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.message} [{self.code}]"


_NAMED_FILES = 2
"""Maximum number of files that a message names; of more files, only the first is named."""


def names_of_input(names: Iterable[str]) -> str:
    """Return the names of a run's files for a message.

    >>> names_of_input(["a", "b", "a"]), names_of_input("abc"), names_of_input([])
    ('a and b', 'a and 2 other files', 'the input')
    """
    named = list(dict.fromkeys(names))
    if len(named) > _NAMED_FILES:
        named[1:] = [f"{len(named) - 1:,} other files"]
    return " and ".join(named) or "the input"


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """The files and units that a job reads, in the order of the corpora, files and lines."""

    files: tuple[InputFile, ...]
    units: tuple[Unit, ...]
    notices: tuple[Notice, ...] = ()

    @property
    def rows(self) -> int:
        """Return the number of rows of all units, including rows that readers will reject."""
        return sum(unit.rows for unit in self.units)

    @property
    def text_bytes(self) -> int:
        """Return the bytes of all files, decompressed."""
        return sum(file.text_bytes for file in self.files)

    @property
    def why_no_rows(self) -> str:
        """Return a clause that names the files as having no pair; empty if there are rows."""
        if self.rows:
            return ""
        names = [file.name for file in self.files]
        has = "have" if len({*names}) > 1 else "has"
        return f"{names_of_input(names)} {has} no pair (0 rows)"
