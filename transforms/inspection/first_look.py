"""A first look at files of which nothing is known: how to read them, and the languages of sides."""

import collections
import itertools
import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.filtering import detectors
from pairweave.transforms.formats import registry
from pairweave.transforms.formats.csv import DELIMITERS
from pairweave.transforms.inspection.column_look import (
    TextColumns,
    text_columns_of,
    text_columns_of_parquet,
)
from pairweave.transforms.inspection.column_names import side_of
from pairweave.transforms.inspection.input_files import ending
from pairweave.transforms.planning.plan import Plan, make_plan
from pairweave.transforms.storage import files
from pairweave.transforms.storage.byte_streams import COMPRESSIONS
from pairweave.transforms.text.iso_languages import NAMES, UNDETERMINED
from pairweave.transforms.units import CorpusInput, ReadLimits

_LOOK_ROWS = 500
"""Number of rows at the beginning of the first file that are searched for languages and tags."""


def plan_files(
    input_options: dict[str, Any],
) -> tuple[Plan, dict[str, str], TextColumns | None]:
    """Return the plan for reading the files, the options it needs, and the columns' contents.

    Args:
        input_options: The files, by the options of a corpus that name them.

    Raises:
        InputError: The files cannot be read.
    """
    plan, options, columns = _by_format(input_options)
    columns = columns or _columns(plan)
    if columns is None or not columns.options:
        return plan, options, columns
    plan = make_plan([_corpus(input_options, {**options, **columns.options})])
    fields = {name: value for name, value in columns.options.items() if name.endswith("_field")}
    return plan, options | fields, columns


def _by_format(
    input_options: dict[str, Any],
) -> tuple[Plan, dict[str, str], TextColumns | None]:
    """Return the plan with the options that only the format asks for."""
    refused: InputError | None = None
    for name in DELIMITERS:
        options = {} if refused is None else {"csv_delimiter": name}
        try:
            return make_plan([_corpus(input_options, options)]), options, None
        except InputError as error:
            if error.code == "lxm_as_text":
                of_format = {"format": "lxm"}
                return make_plan([_corpus(input_options, of_format)]), of_format, None
            if error.code == "missing_column" and ending(error.path) == ".parquet":
                path = input_options["input"][0]  # it may name several files by a pattern
                columns = text_columns_of_parquet(path, _detected) if files.exists(path) else None
                if columns is not None and columns.options:
                    read = make_plan([_corpus(input_options, columns.options)])
                    return read, {}, columns
            refused = refused or error
            if ending(error.path) != ".csv":
                break
    assert refused is not None
    raise refused


def _corpus(input_options: dict[str, Any], given: Mapping[str, str]) -> CorpusInput:
    options = {name: value for name, value in given.items() if name == "csv_delimiter"}
    return CorpusInput(
        given.get("source_lang", UNDETERMINED),
        given.get("target_lang", UNDETERMINED),
        format=given.get("format"),
        source_field=given.get("source_field"),
        target_field=given.get("target_field"),
        format_options=options,
        **input_options,
    )


def _columns(plan: Plan) -> TextColumns | None:
    """Return the contents of the files' columns, if they are the same in all files."""
    firsts = {unit.file: unit for unit in reversed(plan.units)}
    looks = [text_columns_of(unit, ReadLimits(), detect=_detected) for unit in firsts.values()]
    same = all(look is not None and look.options == looks[0].options for look in looks if looks[0])
    return looks[0] if looks and same else None


def first_texts(plan: Plan, columns: TextColumns | None) -> pa.Table:
    """Return source and target of the first rows that could be read.

    Raises:
        ConfigError: No row could be read.
    """
    batches = itertools.chain.from_iterable(
        registry.read_unit(unit, ReadLimits(), _LOOK_ROWS) for unit in plan.units
    )
    first = list(itertools.islice(batches, 1))
    if not first:
        names = " ".join(file.name for file in plan.files)
        raise ConfigError(f"{names}: has no pair to look at; give files with at least one")
    rows = pa.Table.from_batches(first)
    whole = rows.filter(pc.and_(rows["source"].is_valid(), rows["target"].is_valid()))
    if not whole.num_rows:
        row = rows.slice(0, 1).to_pylist()[0]
        held = f"; {columns.held}, and {columns.option}" if columns and columns.option else ""
        raise ConfigError(
            f"{row['file']}:{row['line']}: {row['detail']} [{row['reason']}]; none of the first "
            f"{rows.num_rows:,} rows is a pair that can be read{held}"
        )
    return whole.select(["source", "target"])


def side_language(
    texts: Iterable[str], paths: Iterable[str], field: str | None = None
) -> tuple[str, str]:
    """Return the language of a side, and where it comes from."""
    by_name = sorted(set(filter(None, map(_named, paths))))
    detected = _detected(texts)
    if detected is None:
        if len(by_name) == 1:
            return by_name[0], "by the file's name"
        by_field = side_of(field) if field is not None else None
        if by_field in NAMES:
            return by_field, "by the field's name"
        return UNDETERMINED, "not known: give the tag of the language, such as en"
    if by_name and detected not in by_name:
        return detected, f"detected, but the file's name says {by_name[0]}: are sides exchanged?"
    return detected, "detected"


def _named(path: str) -> str | None:
    """Return the language in a file's name: its last suffix that is a language, or another part.

    ``mt`` is Maltese at the end of a name; elsewhere it stands for machine translation.

    >>> [_named(name) for name in ("Tatoeba.cs-en.en", "news.de.txt.gz", "wmt16_fr", "a-de-en")]
    ['en', 'de', 'fr', None]
    >>> [_named(name) for name in ("Tatoeba.en-mt.mt.gz", "wmt17.mt.google.gz")]
    ['mt', None]
    """
    name = PurePath(path)
    suffixes = [suffix for suffix in name.suffixes if suffix not in {".txt", *COMPRESSIONS}]
    for place, suffix in enumerate(reversed(suffixes)):
        if suffix[1:] in NAMES and (suffix != ".mt" or not place):
            return suffix[1:]
    languages = {part for part in re.split(r"[._-]", name.name)[1:] if part in NAMES} - {"mt"}
    return languages.pop() if len(languages) == 1 else None


def _detected(texts: Iterable[str]) -> str | None:
    """Return the most frequent language of some texts; None without a detector or an answer."""
    for name in ("cld2", "langid"):
        try:
            detector = detectors.load(name)
        except ConfigError:
            continue
        counts = collections.Counter(filter(None, map(detector.detect, texts)))
        return counts.most_common(1)[0][0] if counts else None
    return None
