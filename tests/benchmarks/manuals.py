"""Take parallel segments with inline markup out of translated manuals in HTML.

python -m tests.benchmarks.manuals SHARE OUTPUT

SHARE is ``usr/share`` of unpacked Debian packages: ``installation-guide-amd64``, ``gimp-help-en``
with ``gimp-help-ja`` and so on, ``debian-reference-en`` with ``debian-reference-ja`` and
``debian-reference-zh-cn``. OUTPUT gets a file for each manual and language that is there, in the
format of ``help/``: JSON lines with ``id``, ``source`` and ``target``. Blocks of two pages
correspond if they have the same place in the page and the same tags; where other blocks of the same
kind correspond but for their tags, both sides are without.
"""

import difflib
import gzip
import html
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import lxml.html

SEGMENTS = frozenset(
    ("p", "li", "dt", "dd", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "caption")
)
CONTAINERS = frozenset(
    ("body", "div", "dl", "head", "nav", "ol", "pre", "table", "title", "tr", "ul")
)
BLOCKS = SEGMENTS | CONTAINERS | {"blockquote", "hr", "tbody", "thead"}
CLASS = re.compile(r"[a-z][a-z_-]*")
TAG = re.compile(r"</?[a-z_-]+/?>")
CUT = "\0"
"""Stands in a text for a block inside it."""

CODES = {"zh_CN": "zh", "zh-cn": "zh"}
"""Names of languages in the packages that are not BCP 47 tags."""

UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
"""Letters that a text in one of these languages has; what has none is not translated."""
WITH_SUCH_LETTERS = ("ja", "ko", "zh")


class Block(NamedTuple):
    """A segment of a page: the elements round it, its place among those inside, and its text."""

    place: str
    text: str

    @property
    def tags(self) -> Counter[str]:
        """Return its tags."""
        return Counter(TAG.findall(self.text))

    @property
    def plain(self) -> str:
        """Return its text without tags, escaped as it was."""
        return TAG.sub("", self.text).strip()


def name_of(element: lxml.html.HtmlElement) -> str | None:
    """Return the name of an inline element: its DocBook name, ``link`` or its own; or none."""
    classes = (element.get("class") or "").split()
    if element.tag == "a":
        return "link" if element.get("href") else None
    if classes and CLASS.fullmatch(classes[0]):
        return classes[0]
    return None if element.tag == "span" else element.tag


def inner(element: lxml.html.HtmlElement) -> str:
    """Return the inline content of an element, with `CUT` in place of blocks inside it."""
    parts = [html.escape(element.text or "", quote=False)]
    for child in element:
        if isinstance(child.tag, str):
            if child.tag in BLOCKS:
                parts.append(CUT)
            elif child.tag == "br":
                parts.append(" ")
            elif child.tag == "img":
                parts.append("<img/>")
            else:
                body, name = inner(child), name_of(child)
                parts.append(f"<{name}>{body}</{name}>" if name and body.strip() else body)
        parts.append(html.escape(child.tail or "", quote=False))
    return "".join(parts)


def blocks_of(path: Path) -> list[Block]:
    """Return the segments of a page, in order."""
    blocks = []
    for element in lxml.html.fromstring(path.read_bytes()).find(".//body").iter():
        around = [each.tag for each in element.iterancestors()]
        if element.tag not in SEGMENTS or "pre" in around:
            continue
        texts = (re.sub(r"\s+", " ", text).strip() for text in inner(element).split(CUT))
        place = "/".join((element.tag, *around[:3]))
        blocks += [Block(f"{place}/{n}", text) for n, text in enumerate(filter(None, texts))]
    return blocks


def matched(one: list[Block], other: list[Block]) -> Iterator[tuple[int, Block, Block]]:
    """Yield the blocks of two pages that correspond, with the number of the first."""
    if [block.place for block in one] == [block.place for block in other]:
        yield from ((n, *both) for n, both in enumerate(zip(one, other, strict=True)))
        return
    keys = [
        [(block.place, tuple(sorted(block.tags.items()))) for block in blocks]
        for blocks in (one, other)
    ]
    for a, b, size in difflib.SequenceMatcher(None, *keys, autojunk=False).get_matching_blocks():
        yield from ((a + n, one[a + n], other[b + n]) for n in range(size))


def write_segments(pages: list[tuple[str, Path, Path]], language: str, output: Path) -> int:
    """Write the segments of pages in two languages, each pair once; return their number."""
    seen = set()
    with gzip.open(output, "wt", encoding="utf-8") as file:
        for name, *paths in pages:
            for number, *both in matched(*map(blocks_of, paths)):
                texts = tuple(block.plain for block in both)
                untranslated = language in WITH_SUCH_LETTERS and not UNSPACED.search(texts[1])
                is_known = texts in seen or texts[0] == texts[1]
                if is_known or untranslated or not all(re.search(r"\w", text) for text in texts):
                    continue
                seen.add(texts)
                if both[0].tags == both[1].tags:
                    texts = tuple(block.text for block in both)
                row = {"id": f"{name}#{number}", "source": texts[0], "target": texts[1]}
                file.write(f"{json.dumps(row, ensure_ascii=False)}\n")
    return len(seen)


def manuals(share: Path) -> Iterator[tuple[str, str, list[tuple[str, Path, Path]]]]:
    """Yield the name, language and pages of each manual, English and translated."""
    for name, folder in (
        ("guide", share / "doc" / "installation-guide-amd64"),
        ("gimp", share / "gimp" / "2.0" / "help"),
    ):
        english = sorted((folder / "en").glob("*.html"))
        for language in sorted(path.name for path in folder.glob("*/") if path.name != "en"):
            both = ((page, folder / language / page.name) for page in english)
            yield name, language, _named(name, both)
    english = sorted((share / "debian-reference").glob("ch*.en.html"))
    for language in ("ja", "zh-cn"):
        both = (
            (page, page.with_name(page.name.replace(".en.", f".{language}."))) for page in english
        )
        yield "reference", language, _named("reference", both)


def _named(name: str, both: Iterable[tuple[Path, Path]]) -> list[tuple[str, Path, Path]]:
    """Return the pages that are there in both languages, with their names."""
    return [(f"{name}/{one.name}", one, other) for one, other in both if other.exists()]


def main(share: Path, output: Path) -> None:
    """Write the segments of all manuals that are there."""
    output.mkdir(parents=True, exist_ok=True)
    for name, language, pages in manuals(share):
        if pages:
            code = CODES.get(language, language)
            path = output / f"{name}.en-{code}.jsonl.gz"
            sys.stdout.write(f"{path}: {write_segments(pages, code, path):,} segments\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
