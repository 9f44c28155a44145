"""Check the output of `suggest` without a line of the job's own code.

Usage: python tests/check_suggestions.py OUTPUT SOURCE REFERENCE TRANSLATION [three more files …]

Reads the shards with pyarrow and the line-parallel corpora with gzip, and checks that
- each row has one mask; the original span in its place gives the masked text back: the translation
  for the method `alignment`, the reference for the others;
- its suggestion is a slice of the reference, and in its place gives a text in which, from the words
  before the mask to those behind it, the reference's words stand;
- a deletion suggests nothing, an insertion covers nothing, and tags stay whole on both sides;
- every input triple is kept or rejected with a reason, and the manifest counts the same;
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

MASK = "<MASK_REP>"
TAG = re.compile(r"<(/?)a_([0-9])>")


def read_triples(names):
    """Return every input triple, in order, split at newlines only."""
    sides = []
    for name in names:
        data = Path(name).read_bytes()
        if str(name).endswith(".gz"):
            data = gzip.decompress(data)
        lines = data.decode("utf-8").split("\n")
        if lines[-1] == "":
            lines.pop()
        sides.append([line.removesuffix("\r") for line in lines])
    assert len({len(side) for side in sides}) == 1
    return list(zip(*sides, strict=True))


def check(output, files):
    """Check a run; return what was counted."""
    output = Path(output)
    manifest = json.loads((output / "_manifest.json").read_text())
    for entry in manifest["files"]:
        data = (output / entry["name"]).read_bytes()
        assert len(data) == entry["bytes"], entry
        assert hashlib.sha256(data).hexdigest() == entry["sha256"], entry
    triples = Counter(
        triple for i in range(0, len(files), 3) for triple in read_triples(files[i : i + 3])
    )
    by_id, reasons, rejected = {}, Counter(), Counter()
    for path in sorted((output / "rejects").glob("part-*.parquet")):
        for row in pq.read_table(path).to_pylist():
            assert row["stage"]
            assert row["reason"]
            reasons[row["reason"]] += 1
            rejected[row["source"], row["target"], row["translation"]] += 1
    kept = triples - rejected
    assert not rejected - triples, "a reject is not of the input"
    by_source = {}
    for triple in kept:
        by_source.setdefault(triple[0], []).append(triple)
    counts, last = Counter(), ("", 0, 0)
    methods = ["random", "alignment", "parallel"]
    for path in sorted(output.glob("data/part-*.parquet")):
        for row in pq.read_table(path).to_pylist():
            place = row["id"], methods.index(row["method"]), row["variant"]
            assert place > last, "rows are not sorted, or a row stands twice"
            last = place
            fits = [triple for triple in by_source[row["source"]] if says(row, triple)]
            assert fits, row
            by_id[row["id"]] = by_id.get(row["id"], set(fits)) & set(fits)
            assert by_id[row["id"]], "the rows of a pair are of different triples"
            counts[row["method"]] += 1
            counts[row["operation"]] += row["method"] == "alignment"
    rows = manifest["rows"]
    assert rows["read"] == triples.total() == rows["kept"] + rejected.total()
    assert rows["kept"] == len(by_id) == kept.total(), "a kept triple has no row"
    assert set().union(*by_id.values()) == set(kept) if by_id else not kept
    assert manifest["rejected"] == dict(reasons)
    for method in methods:
        assert manifest["counts"][f"{method}_examples"] == counts[method]
    return {**counts, "kept": rows["kept"], "rejected": dict(reasons), "read": rows["read"]}


def says(row, triple):
    """Tell whether a row can be of a triple: all that must hold between them holds."""
    _, reference, translation = triple
    carrier = translation if row["method"] == "alignment" else reference
    start, end, suggestion = row["start"], row["end"], row["suggestion"]
    if row["masked"].count(MASK) != 1 or not 0 <= start <= end <= len(carrier):
        return False
    original = carrier[start:end]
    if row["masked"].replace(MASK, original) != carrier or row["masked"].index(MASK) != start:
        return False
    if not (balanced(original) and balanced(suggestion)):
        return False
    if row["method"] != "alignment":
        whole = row["method"] != "parallel" or (start, end) == (0, len(reference))
        return whole and suggestion == original and row["operation"] == "replace"
    if (row["operation"] == "delete") != (suggestion == ""):
        return False
    if (row["operation"] == "insert") != (start == end):
        return False
    return suggestion != original and stands(row["masked"], suggestion, reference)


def stands(masked, suggestion, reference):
    """Tell whether a filled mask and the characters beside it stand so in the reference."""
    before, behind = masked.split(MASK)
    left, right = before.rstrip()[-1:], behind.lstrip()[:1]
    pattern = re.escape(left) + r"\s*" + re.escape(suggestion) + r"\s*" + re.escape(right)
    if not left:
        pattern = r"\A\s*" + pattern
    if not right:
        pattern += r"\s*\Z"
    inside = (
        before[len(before.rstrip()) :] + suggestion + behind[: len(behind) - len(behind.lstrip())]
    )
    # A blank on either side of the filled mask is there if, and only if, the reference has one.
    return any(
        (
            bool(re.match(r"\s", inside)) == bool(re.match(r"\s", match[len(left) :]))
            and bool(re.search(r"\s\Z", inside))
            == bool(re.search(r"\s\Z", match[: len(match) - len(right)]))
        )
        or not (left and right)
        for match in re.findall(f"(?=({pattern}))", reference)
    )


def balanced(text):
    """Tell whether each tag of a text is opened and closed in it."""
    seen = Counter()
    for slash, number in TAG.findall(text):
        if slash and not seen[number]:
            return False
        seen[number] += -1 if slash else 1
    return not any(seen.values())


if __name__ == "__main__":
    sys.stdout.write(json.dumps(check(sys.argv[1], sys.argv[2:]), indent=2) + "\n")
