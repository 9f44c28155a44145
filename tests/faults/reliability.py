"""The table in ``deploy/RELIABILITY.md``: one row for each cell, as the tests found it."""

import fcntl

from tests.makers import runs

TABLE = runs.ROOT / "deploy" / "RELIABILITY.md"
HEAD = "| fault | where | exit status | the same command again | bytes |"
LINE = "| --- | --- | --- | --- | --- |"


def row(cell, statuses):
    """Return the row of a cell whose runs ended with these exit statuses."""
    first, *others = map(str, statuses)
    if cell.together:
        first, others = " and ".join([first, *others]), []
    again = ", then ".join(others) or "not needed"
    shown = f"{first} ({cell.says})" if cell.says else first
    return f"| {cell.fault} | {cell.engine} | {shown.replace('|', '/')} | {again} | golden |"


def rows():
    """Return the rows of the table as it is."""
    lines = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.is_file() else []
    start = lines.index(LINE) + 1 if LINE in lines else len(lines)
    return [line for line in lines[start:] if line.startswith("| ")]


def place(line):
    """Return the fault and the engine of a row."""
    return tuple(part.strip() for part in line.split("|")[1:3])


def write(line):
    """Put a row into the table in place of the cell's old one; rows are sorted."""
    with TABLE.open("r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        before, _, after = file.read().partition(f"{HEAD}\n{LINE}\n")
        lines = after.splitlines()
        old = [each for each in lines if each.startswith("| ") and place(each) != place(line)]
        rest = [each for each in lines if not each.startswith("| ")]
        file.seek(0)
        file.truncate()
        file.write("\n".join([before + HEAD, LINE, *sorted([*old, line], key=place), *rest]) + "\n")
