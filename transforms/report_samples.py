"""The rows that a report shows: kept pairs with their tags or links, rejected ones by reason."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pairweave.transforms.html_elements import Html, element
from pairweave.transforms.report_style import TAG_COLOURS
from pairweave.transforms.shown_text import linked_words, pieces

MOST_CHARS = 1_500
"""Characters shown of one side of a kept pair."""

MOST_REJECTED_CHARS = 400
"""Characters shown of one side of a rejected pair."""

MOST_LINKS = 80
"""Links shown of one pair."""

Row = Mapping[str, Any]


def kept_samples(kept: int, rows: Sequence[Row]) -> Html:
    """Return kept rows side by side; tags in the same colour on both sides."""
    if not rows:
        return Html("")
    said = f"{len(rows)} of the {kept:,} pairs kept, the first by id."
    note = element("p", said, class_="soft")
    return element("section", element("h2", "Pairs to look at"), note, *map(_kept, rows))


def _kept(row: Row) -> Html:
    parts = [_sides(row, MOST_CHARS, tagged=row.get("kind") != "plain" and "tags" in row)]
    if "suggestion" in row:
        parts.append(_suggestion(row))
    if "links" in row:
        parts.append(_links(row))
    parts.append(element("p", " · ".join(_about(row)), class_="soft"))
    return element("article", *parts, class_="pair")


def _about(row: Row) -> Iterable[str]:
    for name in ("corpus", "kind", "method", "operation", "id"):
        if row.get(name):
            yield str(row[name])


def rejected_samples(counts: Mapping[str, int], rows: Mapping[str, Sequence[Row]]) -> Html:
    """Return rejected rows under their reasons, the most frequent reason first."""
    if not counts:
        return Html("")
    parts = []
    for reason, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        found = rows.get(reason, [])
        seen = f"{len(found)} of {number:,}" if found else f"{number:,}, none in the shards shown"
        parts.append(element("h3", element("code", reason), f" ({seen})"))
        parts += [_rejected(row) for row in found]
    return element("section", element("h2", "Rejected pairs to look at"), *parts)


def _rejected(row: Row) -> Html:
    parts = []
    if row["source"] is not None or row["target"] is not None:
        parts.append(_sides(row, MOST_REJECTED_CHARS, tagged=False))
    if row["raw"]:
        raw = row["raw"].decode("utf-8", "backslashreplace")
        parts.append(element("p", element("code", _cut(raw, MOST_REJECTED_CHARS)), dir="auto"))
    said = f"{row['stage']}: {row['detail']}" if row["detail"] else row["stage"]
    place = f"{row['corpus']} · {row['file']}, line {row['line']:,}"
    parts.append(element("p", f"{said} · {place}", class_="soft"))
    return element("article", *parts, class_="pair")


def _sides(row: Row, most_chars: int, *, tagged: bool) -> Html:
    sides = []
    for side in ("source", "target", "masked", "translation"):
        if side not in row or (side == "translation" and row[side] is None):
            continue
        text = row[side]
        if not text:
            said = "no text" if text is None else "empty"
            content: list[Html] = [element("i", said, class_="soft")]
        elif tagged:
            content = _coloured(_cut(text, most_chars))
        else:
            content = [element("span", _cut(text, most_chars))]
        language = row.get("source_lang" if side == "source" else "target_lang", "")
        sides.append(element("p", *content, lang=language, dir="auto"))
    return element("div", *sides, class_="sides")


def _cut(text: str, most_chars: int) -> str:
    if len(text) <= most_chars:
        return text
    return f"{text[:most_chars]}… ({len(text):,} characters)"


def _coloured(text: str) -> list[Html]:
    """Return tagged text in which each tag, and what it holds, has its own colour."""
    parts = []
    for piece in pieces(text):
        colour = "" if piece.tag is None else f" t{piece.tag % TAG_COLOURS}"
        if piece.is_token:
            # Brackets and digits would be reordered inside text that runs from right to left.
            parts.append(element("bdi", piece.text, class_=f"token{colour}", dir="ltr"))
        else:
            parts.append(element("span", piece.text, class_=f"words{colour}"))
    return parts


def _suggestion(row: Row) -> Html:
    """Return what may stand in place of a row's mask; nothing for a deletion."""
    text = row["suggestion"]
    shown = element("span", _cut(text, MOST_CHARS), class_="words t6") if text else "nothing"
    parts = [shown]
    if row.get("hint"):
        parts.append(element("span", f" (hint: {row['hint']})", class_="soft"))
    return element("p", *parts, lang=row.get("target_lang", ""), dir="auto")


def _links(row: Row) -> Html:
    words = linked_words(row)
    chips = [
        element("span", element("bdi", source), " → ", element("bdi", target), class_="link")
        for source, target in words[:MOST_LINKS]
    ]
    if len(words) > MOST_LINKS:
        chips.append(element("span", f"and {len(words) - MOST_LINKS:,} more"))
    return element("div", *chips, class_="links")
