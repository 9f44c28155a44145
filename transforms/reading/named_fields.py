"""The fields of a table in text whose first record may be a header of names."""

from collections.abc import Sequence

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.reading.scan import ScanRequest
from pairweave.transforms.units import Columns, CorpusInput


def wanted_fields(corpus: CorpusInput) -> tuple[list[str], dict[str, str]]:
    """Return the fields to read, source and target first, and those beyond these two by side."""
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

    Args:
        first: The fields of the first record.
        file: The file.

    Returns:
        The fields' numbers from 1, and the number of header records: 1 if fields are given by name.

    Raises:
        InputError: ``missing_column``, with the wanted and the existing columns.
        ConfigError: Some fields are numbers and some are names.
    """
    name, corpus = file.name, file.corpus
    wanted, given = wanted_fields(corpus)
    header = 0
    if not are_numbers(wanted):
        if any(are_numbers([field]) for field in wanted):
            raise ConfigError(f"{name}: give all fields by number or all by name in the header")
        header = 1
        for field in wanted:
            if first.count(field) != 1:
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
