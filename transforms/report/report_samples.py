"""The rows that a report shows: kept pairs with their tags or links, rejected ones by reason."""

from collections.abc import Mapping, Sequence
from typing import Any

from pairweave.transforms.report.link_drawing import draw_links
from pairweave.transforms.report.sample_groups import Group, measures_of_row
from pairweave.transforms.report.shown_text import Piece, linked_words, pieces

MAX_CHARS = 1_500
"""Maximum number of characters to show of one side of a kept pair."""

MAX_REJECTED_CHARS = 400
"""Maximum number of characters to show of one side of a rejected pair."""

MAX_LINKS = 80
"""Maximum number of links to show of one pair."""

TAG_COLOURS = 10
"""Colours of tags that the page's style has; a tag's index picks one."""

Row = Mapping[str, Any]
Shown = dict[str, Any]


def sample_groups(groups: Sequence[Group]) -> list[Shown]:
    """Return the page's content on groups of kept rows, with the values to sort them by."""
    ids = sorted(row["id"] for group in groups for row in group.rows)
    places = {key: place for place, key in enumerate(ids)}
    return [
        {
            "name": group.name,
            "pairs": [
                {
                    **pair,
                    "place": places[row["id"]],
                    "measures": {name: f"{n:g}" for name, n in measures_of_row(row).items()},
                }
                for pair, row in zip(kept_samples(group.rows), group.rows, strict=True)
            ],
        }
        for group in groups
    ]


def kept_samples(rows: Sequence[Row]) -> list[Shown]:
    """Return the page's content on kept rows."""
    return [
        {
            "corpus": row.get("corpus", ""),
            "place": 0,
            "measures": {},
            "sides": _sides(row, MAX_CHARS, tagged=row.get("kind") != "plain" and "tags" in row),
            "suggestion": _suggestion(row) if "suggestion" in row else None,
            "links": _links(row) if "links" in row else None,
            "about": [
                str(row[name])
                for name in ("corpus", "kind", "method", "operation", "id")
                if row.get(name)
            ],
        }
        for row in rows
    ]


def rejected_samples(counts: Mapping[str, int], rows: Mapping[str, Sequence[Row]]) -> list[Shown]:
    """Return the page's content on rejected rows by reason, the most frequent reason first."""
    return [
        {
            "name": reason,
            "number": number,
            "pairs": [_rejected(row) for row in rows.get(reason, [])],
        }
        for reason, number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]


def border_rows(borders: Sequence[Row]) -> list[Shown]:
    """Return the page's content on pairs at the border of each rule."""
    return [
        {
            "rule": border["rule"],
            "limit": _limit(border),
            **{name: [_at_border(row) for row in border[name]] for name in ("kept", "rejected")},
        }
        for border in borders
    ]


def _limit(border: Row) -> str:
    if border["limit"] is None:
        return "by the selection"
    return f"{'at least' if border['least'] else 'at most'} {border['limit']}"


def _at_border(row: Row) -> Shown:
    return {
        "sides": _sides(row, MAX_REJECTED_CHARS, tagged=False),
        "raw": "",
        "said": f"{row['value']:.3g}",
        **{name: row[name] for name in ("corpus", "file", "line")},
    }


def _rejected(row: Row) -> Shown:
    has_texts = row["source"] is not None or row["target"] is not None
    raw = (row["raw"] or b"").decode("utf-8", "backslashreplace")
    return {
        "measures": {},
        "sides": _sides(row, MAX_REJECTED_CHARS, tagged=False) if has_texts else [],
        "raw": _cut(raw, MAX_REJECTED_CHARS),
        "said": f"{row['stage']}: {row['detail']}" if row["detail"] else row["stage"],
        **{name: row[name] for name in ("corpus", "file", "line")},
    }


def _sides(row: Row, most_chars: int, *, tagged: bool) -> list[Shown]:
    """Return the texts of a row; tagged ones are split where a tag begins or ends."""
    sides = []
    for side in ("source", "target", "masked", "translation"):
        if side not in row or (side == "translation" and row[side] is None):
            continue
        text = row[side]
        shown = _cut(text or "", most_chars)
        whole = [Piece(shown, None, is_token=False)] if shown else []
        sides.append(
            {
                "language": row.get("source_lang" if side == "source" else "target_lang", ""),
                "tagged": tagged,
                "missing": "" if text else "no text" if text is None else "empty",
                "pieces": pieces(shown) if tagged else whole,
            }
        )
    return sides


def _cut(text: str, most_chars: int) -> str:
    if len(text) <= most_chars:
        return text
    return f"{text[:most_chars]}… ({len(text):,} characters)"


def _suggestion(row: Row) -> Shown:
    return {
        "language": row.get("target_lang", ""),
        "text": _cut(row["suggestion"], MAX_CHARS),
        "hint": row.get("hint") or "",
    }


def _links(row: Row) -> Shown:
    words = linked_words(row)
    return {
        "words": words[:MAX_LINKS],
        "left": max(0, len(words) - MAX_LINKS),
        "drawing": draw_links(row),
    }
