"""The exported files in plain Python, row by row."""

import json

BREAKS = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def escaped(text):
    """Write backslashes, tabs and line breaks as two characters."""
    return "".join(BREAKS.get(character, character) for character in text)


def unescaped(text):
    """Read what `escaped` wrote."""
    original, position = "", 0
    names = {written[1]: plain for plain, written in BREAKS.items()}
    while position < len(text):
        if text[position] == "\\":
            original += names[text[position + 1]]
            position += 2
        else:
            original += text[position]
            position += 1
    return original


def fits(row, form):
    """Tell whether a format can carry a row as it is."""
    signs = {"wets": "\n\r", "moses": "\n\r", "mt5": "\t\n\r", "tsv": "\t\n\r"}.get(form, "")
    names = ["source", "masked", "suggestion"] if form in ("wets", "mt5") else ["source", "target"]
    if form == "tsv":
        names = [name for name, value in row.items() if isinstance(value, str)]
    if any(sign in row[name] for name in names for sign in signs):
        return False
    return not collides(row, form)


def collides(row, form):
    """Tell whether a text of a row is what stands for something else."""
    if form in ("wets", "mt5") and row["suggestion"] == "<NULL_REP>":
        return True
    return form == "mt5" and ("<sep>" in row["source"] or "<sep>" in row["masked"])


def quoted(field):
    """Return a field of CSV, in quotes if it needs them."""
    return '"' + field.replace('"', '""') + '"' if set(field) & set('",\r\n') else field


def files_of(rows, form):
    """Return the text of each file of a format, by ending; all rows fit."""
    if form == "jsonl":
        lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
        return {".jsonl": "".join(f"{line}\n" for line in lines)}
    if form == "moses":
        sides = {".src": "source", ".tgt": "target"}
        return {end: "".join(row[side] + "\n" for row in rows) for end, side in sides.items()}
    if form == "tsv":
        names = [name for name, value in rows[0].items() if not isinstance(value, list)]
        lines = ["\t".join("" if row[n] is None else str(row[n]) for n in names) for row in rows]
        return {".tsv": "".join(f"{line}\n" for line in ["\t".join(names), *lines])}
    if form == "csv":
        names = [name for name, value in rows[0].items() if not isinstance(value, list)]
        text = ",".join(names) + "\r\n"
        for row in rows:
            fields = ["" if row[name] is None else str(row[name]) for name in names]
            text += ",".join(map(quoted, fields)) + "\r\n"
        return {".csv": text}
    suggestions = [row["suggestion"] or "<NULL_REP>" for row in rows]
    if form == "mt5":
        lines = [
            f"{row['source']} <sep> {row['masked']}\t{suggestion}\n"
            for row, suggestion in zip(rows, suggestions, strict=True)
        ]
        return {".mt5.tsv": "".join(lines)}
    return {
        ".src": "".join(row["source"] + "\n" for row in rows),
        ".mask": "".join(row["masked"] + "\n" for row in rows),
        ".tgt": "".join(f"{suggestion}\n" for suggestion in suggestions),
    }
