"""The tables of code points."""

import regex

from pairweave.transforms.text import codepoints


def test_no_letter_of_a_script_lies_behind_the_end_of_scripts():
    behind = "".join(map(chr, range(codepoints.SCRIPTS_END, 0x110000)))
    scripts = "".join(rf"\p{{Script={script}}}" for script in codepoints.SCRIPTS)
    assert regex.search(f"[{scripts}]", behind) is None
