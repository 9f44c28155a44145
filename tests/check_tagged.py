"""Check the output of `augment` without a line of the job's own code.

Usage: python tests/check_tagged.py OUTPUT SOURCE_FILE TARGET_FILE [SOURCE_FILE TARGET_FILE …]

Reads the shards with pyarrow and the corpora with gzip, and checks that
- each row without its tags is a pair of the input, character for character, and has its id;
- tags are well formed, properly nested on both sides (unless the run allowed crossing) and the same
  on both sides; their number is below 30 % of the words and at most 9;
- the column `tags` says exactly where they stand;
- every input pair is kept or rejected, each reject has a reason, and the manifest counts the same;
- every file has the size and the hash that the manifest states.
"""

import gzip
import hashlib
import json
import re
import sys
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq

TOKEN = re.compile(r"<(/?)a_([0-9])>")
WORD = re.compile(r"\w+")


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
    pairs = Counter(pair for i in range(0, len(files), 2) for pair in read_pairs(files[i : i + 2]))
    counts = Counter()
    kept, last_id = {}, ""
    for path in sorted(output.glob("part-*.parquet")):
        for row in pq.read_table(path).to_pylist():
            check_row(row, counts, crossing=crossing)
            assert row["id"] >= last_id, "rows are not sorted by id"
            last_id = row["id"]
            pair = (parse(row["source"], crossing=True)[0], parse(row["target"], crossing=True)[0])
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
    assert manifest["counts"]["plain rows"] == counts["plain"]
    assert manifest["counts"]["tagged rows"] == counts["tagged"]
    assert manifest["counts"]["tags"] == counts["tags"]
    return {**counts, "kept": len(kept), "rejected": dict(reasons), "read": pairs.total()}


def check_row(row, counts, *, crossing):
    """Check one row of the output."""
    counts[row["kind"]] += 1
    source, source_tags = parse(row["source"], crossing=crossing)
    target, target_tags = parse(row["target"], crossing=crossing)
    assert source_tags.keys() == target_tags.keys(), row
    said = {
        tag["index"]: (
            (tag["source_start"], tag["source_end"]),
            (tag["target_start"], tag["target_end"]),
        )
        for tag in row["tags"]
    }
    assert said == {i: (source_tags[i], target_tags[i]) for i in source_tags}, row
    assert len(row["tags"]) == len(said)
    assert all(tag["form"] == "pair" for tag in row["tags"])
    counts["tags"] += len(said)
    if row["kind"] == "plain":
        assert not said, row
        return
    assert 1 <= len(said) <= 9, row
    for text, tags in ((source, source_tags), (target, target_tags)):
        assert len(tags) < 0.3 * max(len(text.split()), len(WORD.findall(text))), row
        for start, end in tags.values():
            assert 0 <= start < end <= len(text), row
            assert text[start:end].strip() == text[start:end], row
            for border in (start, end):
                inside = text[max(0, border - 1) : border + 1]
                assert not re.fullmatch(r"[^\W_]{2}", inside) or not inside.isascii(), (row, inside)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(check(sys.argv[1], sys.argv[2:]), indent=2) + "\n")
