"""The fields of a table in text whose first record may be a header of names."""

import dataclasses
from collections.abc import Sequence

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.reading.scan import ScanRequest
from pairweave.transforms.units import Columns, CorpusInput

_NAMES = ("source", "target")
"""Names of the texts in a header, unless others are given."""


def wanted_fields(corpus: CorpusInput) -> tuple[list[str], dict[str, str]]:
    """Return the fields to read, source and target first, and the further fields by side."""
    optional = {
        "translation": corpus.third_field,
        "score": corpus.score_field,
        "links": corpus.links_field,
    }
    given = {side: field for side, field in optional.items() if field is not None}
    return [corpus.source_field or "1", corpus.target_field or "2", *given.values()], given


def are_numbers(wanted: Sequence[str]) -> bool:
    """Tell whether all fields are given by number."""
    return all(field.isascii() and field.isdigit() for field in wanted)


def find_fields(first: Sequence[str], file: ScanRequest) -> tuple[Columns, int]:
    """Find the wanted fields by the first record.

    If no field is given, and the first record has the names ``source`` and ``target``, it is a
    header.

    Args:
        first: The fields of the first record.
        file: The file.

    Returns:
        The fields' numbers from 1, and the number of header records: 1 if fields are named.

    Raises:
        InputError: ``missing_column``, with the wanted and the existing columns.
        ConfigError: Some fields are numbers and some are names.
    """
    name, corpus = file.name, _with_default_names(first, file.corpus)
    wanted, given = wanted_fields(corpus)
    header = 0
    if not are_numbers(wanted):
        if any(are_numbers([field]) for field in wanted):
            raise ConfigError(f"{name}: give all fields by number or all by name in the header")
        header = 1
        for field in wanted:
            if first.count(field) > 1:
                raise InputError(
                    "missing_column",
                    name,
                    f"the header has {first.count(field)} columns named {field}; rename all but "
                    "one, or give all fields by number, and the header is read as a pair",
                    1,
                )
            if field not in first:
                raise InputError(
                    "missing_column",
                    name,
                    f"wanted {', '.join(wanted)} in the header; found {', '.join(first)}",
                )
        wanted = [str(first.index(field) + 1) for field in wanted]
    count = corpus.field_count or len(first)
    if not all(1 <= int(field) <= count for field in wanted):
        raise InputError(
            "missing_column",
            name,
            f"wanted columns {', '.join(wanted)}; the first line has {count} "
            f"{'field' if count == 1 else 'fields'}; --source_field and --target_field give the "
            "columns by number or name, and text of one side is given with --source_input and "
            "--target_input",
        )
    source, target, *others = wanted
    columns = Columns(
        source,
        target,
        translation_required=corpus.third_required,
        field_count=count,
        paragraphs=False,
        origin=False,
        **dict(zip(given, others, strict=True)),
    )
    return columns, header


def _with_default_names(first: Sequence[str], corpus: CorpusInput) -> CorpusInput:
    """Name the texts if no field is given and the first record has the default names."""
    _, others = wanted_fields(corpus)
    by_default = corpus.source_field is None and corpus.target_field is None
    if by_default and not any(map(str.isdigit, others.values())) and {*_NAMES} <= {*first}:
        return dataclasses.replace(corpus, source_field=_NAMES[0], target_field=_NAMES[1])
    return corpus
