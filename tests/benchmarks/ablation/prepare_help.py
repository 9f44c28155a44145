"""Help pages as training, dev and test sets of an ablation, cut by page.

usage: python -m tests.benchmarks.ablation.prepare_help HELP.jsonl.gz OUTPUT/ SOURCE TARGET

A page is one of the test set or the dev set by a hash of its name. A training segment whose source
is one of those sets as well, such as a heading that many pages have, is left out.
"""

import gzip
import hashlib
import sys
from pathlib import Path

import orjson

from pairweave.transforms.markup.markup import find_syntax, parse_markup
from tests.benchmarks.bench_help import TEST_PAGES, is_test_page

DEV_PAGES = 16
"""Of the 256 values of the hash's first byte, those of pages for the learning curve."""

CHARACTERS = range(15, 101)
"""Characters of each side: small models learn little from longer segments in little time."""

HELD_OUT = {"test": 1_000, "dev": 200}
"""Segments of these sets, chosen by a hash of their source."""

MAX_TAGS = 10
"""Elements of a segment that have symbols."""


def set_of(page):
    """Return the set that a page belongs to: test, dev or train."""
    if is_test_page(page):
        return "test"
    byte = hashlib.sha256(page.encode()).digest()[0]
    return "dev" if byte < TEST_PAGES + DEV_PAGES else "train"


def main(path, output, source, target):
    """Write the sets, with the tags of the pages (``.xml``) and without them (``.txt``)."""
    syntax = find_syntax("xml")
    sets = {"test": {}, "dev": {}, "train": {}}
    with gzip.open(path, "rb") as file:
        rows = [orjson.loads(line) for line in file]
    for row in rows:
        sides = [" ".join(row[side].split()) for side in ("source", "target")]
        marked = [parse_markup(side, syntax) for side in sides]
        if not all(len(one.text) in CHARACTERS for one in marked):
            continue
        if max(len(one.tags) for one in marked) > MAX_TAGS:
            continue
        which = sets[set_of(row["id"].partition("#")[0])]
        which.setdefault(marked[0].text, (sides, [one.text for one in marked]))
    held_out = sets["test"].keys() | sets["dev"].keys()
    sets["dev"] = {key: row for key, row in sets["dev"].items() if key not in sets["test"]}
    sets["train"] = {key: row for key, row in sets["train"].items() if key not in held_out}
    for name, most in HELD_OUT.items():
        chosen = sorted(sets[name], key=lambda text: hashlib.sha256(text.encode()).digest())
        sets[name] = {text: sets[name][text] for text in chosen[:most]}
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    for name, result in sets.items():
        for number, language in enumerate((source, target)):
            for kind, suffix in enumerate(("xml", "txt")):
                lines = "".join(f"{row[kind][number]}\n" for row in result.values())
                (folder / f"{name}.{suffix}.{language}").write_text(lines, encoding="utf-8")
        print(f"{name}: {len(result)} segments")


if __name__ == "__main__":
    main(*sys.argv[1:5])
