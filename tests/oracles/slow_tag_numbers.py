"""Rows with shuffled numbers, their tags numbered again as the text of the source has them."""

import re

TAG = re.compile(r"(</?a_)([0-9])(/?>)")


def renumbered(row):
    """Return a row whose tags are numbered from 0 as the text of its source first has them."""
    first = dict.fromkeys(match[2] for match in TAG.finditer(row["source"]))
    number = {old: new for new, old in enumerate(first)}

    def written(match):
        return f"{match[1]}{number[match[2]]}{match[3]}"

    return {
        **row,
        **{side: TAG.sub(written, row[side]) for side in ("source", "target")},
        "tags": [{**tag, "index": number[str(tag["index"])]} for tag in row["tags"]],
    }


def numbered(rows, order):
    """Return rows with shuffled numbers in an order, without tagged rows that repeat others."""
    if order == "shuffled":
        return rows
    kept, seen = [], set()
    for row in map(renumbered, rows):
        key = row["id"], row["source"], row["target"]
        if row["kind"] == "plain" or key not in seen:
            kept.append(row)
            seen.add(key)
    return kept
