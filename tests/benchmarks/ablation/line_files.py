"""Line-parallel text files of an ablation's sets."""

import gzip


def read_lines(path):
    """Return the lines of a text, which may be packed by gzip."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="\n") as lines:
        return [line.removesuffix("\n") for line in lines]


def write_lines(folder, name, endings, rows):
    """Write each column of rows to ``folder/name.ending``, a line for each row."""
    for number, ending in enumerate(endings):
        lines = "".join(f"{row[number]}\n" for row in rows)
        (folder / f"{name}.{ending}").write_text(lines, encoding="utf-8")
    print(f"{name}: {len(rows)} lines")
