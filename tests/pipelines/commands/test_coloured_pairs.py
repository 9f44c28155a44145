"""Pairs in a terminal: a colour for each tag, and no character that steers it."""

import io
import re

import rich.console

from pairweave.pipelines.commands import coloured_pairs
from pairweave.transforms.indexed_tag import TAG_PATTERN


def test_in_a_terminal_both_tokens_of_a_tag_have_its_colour():
    terminal = io.StringIO()
    console = rich.console.Console(
        file=terminal, force_terminal=True, color_system="standard", soft_wrap=True
    )
    console.print(coloured_pairs.coloured("a <a_0>b</a_0> <a_1>c</a_1>"))
    styled = re.findall(rf"\x1b\[([0-9;]+)m({TAG_PATTERN})\x1b\[0m", terminal.getvalue())
    assert [token for _, token in styled] == ["<a_0>", "</a_0>", "<a_1>", "</a_1>"]
    assert styled[0][0] == styled[1][0] != styled[2][0] == styled[3][0]


def test_ten_tags_of_a_line_are_told_apart_by_their_colours():
    text = coloured_pairs.coloured(" ".join(f"<a_{number}>x</a_{number}>" for number in range(10)))
    assert len({span.style for span in text.spans if span.style}) == 10


def test_text_cannot_steer_the_terminal():
    for text in ("\x1b]0;title\x07", "a\rb", "\x9b2J", "[red]x[/red]"):
        shown = coloured_pairs.coloured(text).plain
        assert not re.search(r"[\x00-\x1f\x7f-\x9f]", shown)
    assert shown == "[red]x[/red]"
