"""Pairs on a terminal, with a colour for each tag, for ``preview`` and ``demo``."""

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import rich.console
import rich.text

from pairweave.transforms.report.shown_text import linked_words, pieces
from pairweave.transforms.text.control_characters import visible_line

COLOURS = (
    *("bold red", "bold green", "bold yellow", "bold blue", "bold magenta"),
    *("bold cyan", "bold bright_red", "bold bright_green", "bold bright_yellow", "bold white"),
)

Row = Mapping[str, Any]


class _Console(rich.console.Console):
    def on_broken_pipe(self) -> None:
        """End the command like any other command whose reader has left."""
        raise BrokenPipeError


def show(rows: Iterable[Row]) -> None:
    """Print rows: both sides, each tag in its own colour, and links or suggestion if there are any.

    The text is plain if the output is not a terminal.
    """
    console = _Console(file=sys.stdout, highlight=False, soft_wrap=True)
    for number, row in enumerate(rows):
        if number:
            console.print()
        for side in ("source", "target", "masked"):
            if side in row:
                console.print(coloured(row[side]))
        if "suggestion" in row:
            console.print(suggestion(row))
        if "links" in row:
            console.print(links(row))


def coloured(text: str) -> rich.text.Text:
    """Return tagged text with a colour per tag, and control characters made visible."""
    shown = rich.text.Text()
    for piece in pieces(text):
        style = (
            COLOURS[piece.tag % len(COLOURS)] if piece.is_token and piece.tag is not None else ""
        )
        shown.append(visible_line(piece.text), style)
    return shown


def suggestion(row: Row) -> rich.text.Text:
    """Return a row's suggestion, with its method and operation."""
    shown = rich.text.Text()
    shown.append(f"{row['method']}, {row['operation']}: ", "dim")
    shown.append(visible_line(row["suggestion"]) or "nothing", "bold green")
    return shown


def links(row: Row) -> rich.text.Text:
    """Return the linked words of a row, in two alternating colours."""
    shown = rich.text.Text()
    for number, words in enumerate(linked_words(row)):
        shown.append("  " if number else "")
        shown.append("→".join(map(visible_line, words)), "cyan" if number % 2 else "green")
    return shown
