"""Line-parallel text files of an ablation's sets."""


def write_lines(folder, name, endings, rows):
    """Write each column of rows to ``folder/name.ending``, a line for each row."""
    for number, ending in enumerate(endings):
        lines = "".join(f"{row[number]}\n" for row in rows)
        (folder / f"{name}.{ending}").write_text(lines, encoding="utf-8")
    print(f"{name}: {len(rows)} lines")
