"""One pass over a TMX or XLIFF file: that it can be read to its end, its rows and its languages."""

from pairweave.transforms.errors import InputError
from pairweave.transforms.formats.tmx import TmxHandler
from pairweave.transforms.formats.xliff import XliffHandler
from pairweave.transforms.planning.scan import Digests, Scan
from pairweave.transforms.reading.language_tags import ANY, matches
from pairweave.transforms.reading.xml_rows import parse_rows
from pairweave.transforms.units import ReadLimits


def scan_xml(
    path: str,
    name: str,
    compression: str,
    kind: str,
    langs: tuple[str, str],
    limits: ReadLimits,
) -> Scan:
    """Pass over an XML file.

    Args:
        path: The file.
        name: Its name, for messages.
        compression: ``none``, ``gzip`` or ``zstd``.
        kind: ``tmx`` or ``xliff``.
        langs: The wanted languages; if both are `ANY`, those of the file are, where it has one
            pair of them.
        limits: Bounds on expansion and on segments.

    Raises:
        InputError: The file as a whole cannot be used: as
            `transforms.reading.xml_stream.parse_xml`, ``unsupported_format``, or
            ``language_not_found``.
    """
    digests = Digests()
    handler = TmxHandler(*langs, limits) if kind == "tmx" else XliffHandler(*langs, limits)
    text = digests.text_of(path, name, compression, limits)
    rows = sum(1 for _ in parse_rows(text, name, limits, handler))
    guessed = None
    if isinstance(handler, TmxHandler):
        _require(handler.is_tmx, name, "a tmx element", "TMX")
        if langs == (ANY, ANY):
            guessed = handler.guess_languages()
        if guessed is None:
            _require_languages(list(handler.languages.values()), langs, name)
    else:
        _require(bool(handler.version), name, "an xliff element with a version", "XLIFF")
        if langs == (ANY, ANY):
            guessed = handler.guess_languages()
        for side in (0, 1):
            found = [pair[side] for pair in handler.languages]
            if all(found):
                _require_languages(found, (langs[side],), name)
    return Scan(
        digests.size,
        digests.sha256.hexdigest(),
        rows,
        digests.cut(rows),
        digests.whole.hexdigest(),
        text_bytes=digests.text_bytes,
        langs=guessed,
        rows_with_tags=handler.rows_with_tags,
    )


def _require(found: object, name: str, what: str, kind: str) -> None:
    if not found:
        raise InputError("unsupported_format", name, f"the document has not {what}: no {kind}")


def _require_languages(found: list[str], wanted: tuple[str, ...], name: str) -> None:
    for language in wanted:
        if language == ANY and len(wanted) > 1 and found:
            raise InputError(
                "language_not_found",
                name,
                f"which languages? The file has {_listed(found)}; "
                "give --source_lang and --target_lang",
            )
        if language != ANY and found and not any(matches(language, other) for other in found):
            raise InputError(
                "language_not_found",
                name,
                f"nothing is in {language}; the file has {_listed(found)}",
            )


def _listed(languages: list[str]) -> str:
    return ", ".join(sorted({language or "(none)" for language in languages}))
