"""Check the output of `augment` without a line of the job's own code.

Usage: python tests/check_tagged.py OUTPUT SOURCE_FILE TARGET_FILE [SOURCE_FILE TARGET_FILE …]

Reads the shards with pyarrow and the corpora with gzip, and checks that
- each row without its tags is a pair of the input, character for character, and has its id;
- tags are well formed, properly nested on both sides (unless the run allowed crossing) and the same
  on both sides; their number is below 30 % of the words and at most 9; none parts an element of the
  text's own HTML, a word, what hyphens join, a URL, an e-mail address or a placeholder; each that
  is not empty holds a letter or a digit on both sides, unless the run allowed punctuation alone;
- the column `tags` says exactly where they stand, in whatever representation, and what their form
  is: a pair, self-closing, or one half of a pair; a pair may have two parts on one side;
- every input pair is kept or rejected, each reject has a reason, and the manifest counts the same;
- every file has the size and the hash that the manifest states.
"""

import gzip
import hashlib
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

TOKEN = re.compile(r"<(/?)a_([0-9])>")
WORD = re.compile(r"\w+")
ANY_TOKEN = re.compile(r"<a_(?P<open>[0-9])>|</a_(?P<close>[0-9])>|<a_(?P<empty>[0-9])/>")
OWN_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*)(?:\s[^<>]*)?(/?)>")
# Of scripts whose words have no spaces between them; nothing here knows their words. A run of
# katakana is one word.
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff"
    "\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\U00020000-\U0003ffff]"
)
KATAKANA = re.compile("[\u30a1-\u30fa\u30fc\u31f0-\u31ff\uff66-\uff9f]")
# Letters with what hyphens join to them, a hyphen at the end included; two hyphens are a dash.
HYPHENS = re.compile(r"[^\W_]+(?:-[^\W_]+)*(?:-(?![-\w]))?")
UNBROKEN = re.compile(
    r"https?://[\w./-]*\w|[\w.]+@[\w.-]+\w|%\(\w+\)[sd]|%[sd]\b|\{[A-Za-z_]\w*\}|#[A-Z]+[0-9]*#"
    r"|[0-9]+(?:[.,/:][0-9]+)+"
)
NEVER_CLOSED = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "wbr"}

# Of each representation: what opens, closes and is empty, with what tells one from another.
SYMBOLS = {
    "xliff": r'(?P<open><(?:g|bx) id="\d+"/?>)|(?P<close></g>|<ex id="\d+"/>)'
    r'|(?P<empty><x id="\d+"/>)',
    "masked": r"(?P<open>XLF_(?:OPENG|BX),\d+)_?|(?P<close>XLF_(?:CLOSEG|EX),\d+)_?"
    r"|(?P<empty>XLF_X,\d+)_?",
    "html": r"(?P<empty><(?:br|img|wbr|hr)\b[^<>]*>)|(?P<open><[a-z][a-z0-9-]*>)"
    r"|(?P<close></[a-z][a-z0-9-]*>)",
}


class Reading(NamedTuple):
    """A text without its tags, and of each number the forms and ranges in their order."""

    text: str
    elements: dict[int, list[tuple[str, int, int]]]

    @staticmethod
    def said(tags, side):
        """Return what the column says of a side; a range that two entries share is there once."""
        elements = defaultdict(list)
        for tag in tags:
            element = (tag["form"], tag[f"{side}_start"], tag[f"{side}_end"])
            if element not in elements[tag["index"]]:
                elements[tag["index"]].append(element)
        return {index: sorted(ranges, key=lambda e: e[1:]) for index, ranges in elements.items()}


def parse_forms(text, *, crossing=False):
    """Read indexed tags of any form."""
    plain, last, waiting, pairs = "", 0, {}, []
    elements = defaultdict(list)
    for place, match in enumerate(ANY_TOKEN.finditer(text)):
        plain += text[last : match.start()]
        last = match.end()
        index, here = int(match[match.lastgroup]), len(plain)
        if match["open"]:
            assert index not in waiting, f"tag {index} opened twice: {text}"
            waiting[index] = place, here
        elif match["empty"]:
            elements[index].append(("self_closing", here, here))
        elif index in waiting:
            opened, start = waiting.pop(index)
            pairs.append((opened, place))
            elements[index].append(("pair", start, here))
        else:
            elements[index].append(("close", here, here))
    for index, (_, start) in waiting.items():
        elements[index].append(("open", start, start))
    for index, ranges_of_tag in elements.items():
        assert len(ranges_of_tag) == 1 or {form for form, *_ in ranges_of_tag} == {"pair"}, (
            f"tag {index}: {text}"
        )
    for start, end in pairs:
        crossed = any(start < other < end < behind for other, behind in pairs)
        assert crossing or not crossed, f"badly nested: {text}"
    ranges = {
        index: sorted(ranges_of_tag, key=lambda e: e[1:])
        for index, ranges_of_tag in elements.items()
    }
    return Reading(plain + text[last:], ranges)


def template_pattern(forms):
    """Return the pattern of a template's symbols."""
    groups = zip(("open", "close", "empty"), forms, strict=True)
    parts = [
        f"(?P<{name}>{re.escape(form).replace(re.escape('{index}'), '[0-9]')})"
        for name, form in groups
    ]
    return "|".join(parts)


def read_symbols(text, pattern):
    """Return the text without symbols and (kind, place, symbol); </g> gets what it closes."""
    plain, last, marks, stack = "", 0, [], []
    for match in re.finditer(pattern, text):
        plain += text[last : match.start()]
        last = match.end()
        kind = match.lastgroup
        symbol = match[kind]
        if symbol.startswith("<g "):
            stack.append(symbol)
        elif symbol == "</g>":
            symbol += stack.pop()
        marks.append((kind, len(plain), symbol))
    assert not stack, f"never closed: {text}"
    return plain + text[last:], marks


def check_symbols(row, pattern):
    """Check that symbols of a representation stand where the column says; return both texts."""
    texts, may_be = {}, defaultdict(list)
    for side in ("source", "target"):
        texts[side], marks = read_symbols(row[side], pattern)
        said = defaultdict(list)
        for index, elements in Reading.said(row["tags"], side).items():
            for form, start, end in elements:
                if form in ("pair", "open"):
                    said["open", start].append(index)
                if form in ("pair", "close"):
                    said["close", end].append(index)
                if form == "self_closing":
                    said["empty", start].append(index)
        written = defaultdict(list)
        for kind, place, symbol in marks:
            written[kind, place].append(symbol)
            may_be[kind, symbol].append(set(said[kind, place]))
        counts = [
            {key: len(values) for key, values in one.items() if values} for one in (said, written)
        ]
        assert counts[0] == counts[1], (row, side)
    meant = {key: set.intersection(*sets) for key, sets in may_be.items()}
    assert all(meant.values()), row
    kinds = {
        "pair": {"open", "close"},
        "self_closing": {"empty"},
        "open": {"open"},
        "close": {"close"},
    }
    halves = {(tag["index"], kind) for tag in row["tags"] for kind in kinds[tag["form"]]}
    assert len(meant) == len(halves), row
    return texts["source"], texts["target"]


def check_own_markup(text, start, end):
    """Check that a range holds both tags of each of the text's own elements or neither."""
    stack = []
    for match in OWN_TAG.finditer(text):
        inside = start <= match.start() and match.end() <= end
        assert inside or match.end() <= start or end <= match.start(), (text, match[0])
        name = match[2]
        if match[1]:
            names = [other for other, _ in stack]
            if name in names:
                place = len(names) - 1 - names[::-1].index(name)
                assert stack[place][1] == inside or start == end, (text, match[0])
                del stack[place]
        elif not match[3] and name.lower() not in NEVER_CLOSED:
            stack.append((name, inside))


def inside_word(text, border):
    """Tell whether a border parts a word or something else that is one thing."""
    if not 0 < border < len(text):
        return False
    sides = text[border - 1], text[border]
    if any(map(UNSPACED.match, sides)):
        return False
    if any(map(KATAKANA.match, sides)):
        return all(map(KATAKANA.match, sides))
    return any(
        match.start() < border < match.end()
        for pattern in (HYPHENS, UNBROKEN)
        for match in pattern.finditer(text)
        if not (pattern is HYPHENS and UNSPACED.search(match[0]))
    )


def check_words(text, elements):
    """Check that one side of a tag that is not empty holds a letter or a digit."""
    inside = "".join(text[start:end] for _, start, end in elements)
    assert not inside or any(map(str.isalnum, inside)), (text, inside)


def parse(text, *, crossing=False):
    """Return the text without tags and {index: (start, end)}."""
    plain, spans, open_at, stack, last = "", {}, {}, [], 0
    for match in TOKEN.finditer(text):
        plain += text[last : match.start()]
        last = match.end()
        index = int(match[2])
        if not match[1]:
            assert index not in open_at, f"tag {index} opened twice: {text}"
            assert index not in spans, f"tag {index} used twice: {text}"
            open_at[index] = len(plain)
            stack.append(index)
        else:
            assert index in open_at, f"tag {index} closed before it is opened: {text}"
            if not crossing:
                assert stack[-1] == index, f"badly nested: {text}"
            stack.remove(index)
            spans[index] = (open_at.pop(index), len(plain))
    assert not open_at, f"never closed: {text}"
    return plain + text[last:], spans


def read_pairs(names):
    """Return every input pair, in order, split at newlines only."""
    sides = []
    for name in names:
        data = Path(name).read_bytes()
        if name.endswith(".gz"):
            data = gzip.decompress(data)
        lines = data.decode("utf-8").split("\n")
        if lines[-1] == "":
            lines.pop()
        sides.append([line.removesuffix("\r") for line in lines])
    assert len(sides[0]) == len(sides[1])
    return list(zip(*sides, strict=True))


def check(output, files):
    """Check a run; return what was counted."""
    output = Path(output)
    manifest = json.loads((output / "_manifest.json").read_text())
    for entry in manifest["files"]:
        data = (output / entry["name"]).read_bytes()
        assert len(data) == entry["bytes"], entry
        assert hashlib.sha256(data).hexdigest() == entry["sha256"], entry
    crossing = manifest["configuration"]["nesting"] == "free"
    marks = manifest["configuration"].get("punctuation_tags", False)
    pattern = SYMBOLS.get(manifest["configuration"]["representation"])
    if "template" in manifest["configuration"]:
        pattern = template_pattern(manifest["configuration"]["template"])
    pairs = Counter(pair for i in range(0, len(files), 2) for pair in read_pairs(files[i : i + 2]))
    counts = Counter()
    kept, last_id = {}, ""
    for path in sorted(output.glob("data/part-*.parquet")):
        for row in pq.read_table(path).to_pylist():
            pair = check_row(row, counts, crossing=crossing, pattern=pattern, marks=marks)
            assert row["id"] >= last_id, "rows are not sorted by id"
            last_id = row["id"]
            assert kept.setdefault(row["id"], pair) == pair
    rejected = Counter()
    reasons = Counter()
    for path in sorted((output / "rejects").glob("part-*.parquet")):
        for row in pq.read_table(path).to_pylist():
            assert row["stage"]
            assert row["reason"]
            reasons[row["reason"]] += 1
            rejected[row["source"], row["target"]] += 1
    assert Counter(kept.values()) + rejected == pairs, "kept and rejected pairs are not the input"
    rows = manifest["rows"]
    assert rows["read"] == pairs.total() == len(kept) + rejected.total()
    assert (rows["kept"], rows["rejected"]) == (len(kept), rejected.total())
    assert manifest["rejected"] == dict(reasons)
    assert manifest["counts"]["plain_rows"] == counts["plain"]
    assert manifest["counts"]["tagged_rows"] == counts["tagged"]
    assert manifest["counts"]["tags"] == counts["tags"]
    return {**counts, "kept": len(kept), "rejected": dict(reasons), "read": pairs.total()}


def check_row(row, counts, *, crossing, pattern=None, marks=False):
    """Check one row of the output.

    ``pattern`` finds symbols that are not indexed tags; ``marks``: tags may hold punctuation alone.
    """
    counts[row["kind"]] += 1
    if pattern is None:
        source, source_tags = parse_forms(row["source"], crossing=crossing)
        target, target_tags = parse_forms(row["target"], crossing=crossing)
        assert source_tags == Reading.said(row["tags"], "source"), row
        assert target_tags == Reading.said(row["tags"], "target"), row
    else:
        source, target = check_symbols(row, pattern)
        source_tags, target_tags = (Reading.said(row["tags"], s) for s in ("source", "target"))
    assert source_tags.keys() == target_tags.keys(), row
    times = Counter(tag["index"] for tag in row["tags"])
    for index, ranges in source_tags.items():
        other = target_tags[index]
        assert {form for form, *_ in ranges} == {form for form, *_ in other}, row
        assert max(len(ranges), len(other)) == times[index] <= 2, row
        assert len(ranges) + len(other) <= 3, row
    counts["tags"] += len(times)
    if row["kind"] == "plain":
        assert not times, row
        return source, target
    assert 1 <= len(times) <= 9, row
    for text, tags in ((source, source_tags), (target, target_tags)):
        assert len(tags) < 0.3 * max(len(text.split()), len(WORD.findall(text))), row
        for ranges in tags.values():
            if not marks:
                check_words(text, ranges)
        for _, start, end in (element for ranges in tags.values() for element in ranges):
            assert 0 <= start <= end <= len(text), row
            assert text[start:end].strip() == text[start:end], row
            check_own_markup(text, start, end)
            for border in (start, end):
                assert not inside_word(text, border), (row, text[:border], text[border:])
    return source, target


if __name__ == "__main__":
    sys.stdout.write(json.dumps(check(sys.argv[1], sys.argv[2:]), indent=2) + "\n")
