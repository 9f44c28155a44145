"""The metrics of markup transfer by their definitions, in plain Python."""

import math
from collections import Counter
from itertools import combinations
from xml.etree import ElementTree as ET

from pairweave.transforms.markup.markup import Kind, closes


def bleu(outputs, wanted):
    """BLEU of lines of words (Papineni et al. 2002), unsmoothed."""
    lines = [bleu_counts(*pair) for pair in zip(outputs, wanted, strict=True)]
    *counts, long, wished = (sum(column) for column in zip(*lines, strict=True))
    hits, totals = counts[:4], counts[4:]
    if not all(hits):
        return 0.0
    logs = [math.log(hit / total) for hit, total in zip(hits, totals, strict=True)]
    penalty = 1 if long >= wished else math.exp(1 - wished / long)
    return 100 * penalty * math.exp(sum(logs) / 4)


def bleu_counts(one, other):
    """Hits of a line by order, its n-grams by order, its words, and those of its reference."""
    hits, totals = [], []
    for order in range(1, 5):
        said, right = _ngrams(one, order), _ngrams(other, order)
        hits.append(sum(min(times, right[gram]) for gram, times in said.items()))
        totals.append(sum(said.values()))
    return [*hits, *totals, len(one.split()), len(other.split())]


def _ngrams(line, order):
    words = line.split()
    return Counter(tuple(words[at : at + order]) for at in range(len(words) - order + 1))


def same_structure(one, other):
    """Tell whether two texts are XML trees of the same names."""
    try:
        trees = [ET.fromstring(f"<ROOT>{text}</ROOT>") for text in (one, other)]
    except ET.ParseError:
        return None
    return _same(*trees)


def _same(one, other):
    return (
        one.tag == other.tag
        and len(one) == len(other)
        and all(_same(a, b) for a, b in zip(one, other, strict=True))
    )


def span_f1s(hypothesis, reference):
    """F1 of each name's words; every word is letters between blanks, and no tag parts one."""
    spans, wanted = _words_by_name(hypothesis), _words_by_name(reference)
    scores = []
    for name, words in wanted.items():
        if name not in spans:
            scores.append(0.0)
            continue
        said, right = list(spans[name].values()), list(words.values())
        rest, same = list(right), 0
        for word in said:
            if word in rest:
                rest.remove(word)
                same += 1
        if not said or not right:
            scores.append(float(said == right))
        elif not same:
            scores.append(0.0)
        else:
            precision, recall = same / len(said), same / len(right)
            scores.append(2 * precision * recall / (precision + recall))
    return scores


def _words_by_name(marked):
    """Return each pair's words by where they begin, those of one name and key together."""
    names = {}
    for start, end, name in _pairs(marked):
        words = names.setdefault(name, {})
        at = 0
        for word in marked.text.split(" "):
            if word and start <= at and at + len(word) <= end:
                words[at] = word
            at += len(word) + 1
    return names


def _pairs(marked):
    """Return (start, end, (name, key)) of each pair in the order they open."""
    pairs, used = [], set()
    for at, tag in enumerate(marked.tags):
        if tag.kind is Kind.CLOSE:
            for before in range(at - 1, -1, -1):
                opening = marked.tags[before]
                if before not in used and opening.kind is Kind.OPEN and closes(opening, tag):
                    used.add(before)
                    pairs.append((before, opening.offset, tag.offset, (opening.name, opening.key)))
                    break
    return [pair[1:] for pair in sorted(pairs)]


def positions(hypothesis, reference):
    """Tags, those placed right, and the sum of distances; None if the lines cannot be compared."""
    if hypothesis.text != reference.text:
        return None
    if sorted(tag.raw for tag in hypothesis.tags) != sorted(tag.raw for tag in reference.tags):
        return None
    rest = [(tag.raw, tag.offset) for tag in hypothesis.tags]
    correct = distance = 0
    for tag in reference.tags:
        if (tag.raw, tag.offset) in rest:
            rest.remove((tag.raw, tag.offset))
            correct += 1
        distance += min(
            abs(tag.offset - other.offset) for other in hypothesis.tags if other.raw == tag.raw
        )
    return len(reference.tags), correct, distance


def failures(hypothesis, source):
    """Changed, dropped and added tags of an output without pieces of tags."""
    missing = [(tag.kind, tag.name, tag.key) for tag in source.tags]
    added = []
    for tag in hypothesis.tags:
        identity = (tag.kind, tag.name, tag.key)
        if identity in missing:
            missing.remove(identity)
        else:
            added.append(identity)
    changed = 0
    for kind, name, key in list(missing):
        other = next((new for new in added if new[:2] == (kind, name) and new[2]), None)
        if key and other:
            missing.remove((kind, name, key))
            added.remove(other)
            changed += 1
    return changed, len(missing), len(added)


def kappa(votes):
    """Fleiss' kappa of what each person said of each subject ``[subject][person]``."""
    said = [vote for subject in votes for vote in subject]
    chance = sum((said.count(vote) / len(said)) ** 2 for vote in set(said))
    if chance == 1:
        return None
    agreeing = [
        sum(a == b for a, b in combinations(subject, 2)) / math.comb(len(subject), 2)
        for subject in votes
    ]
    return (sum(agreeing) / len(agreeing) - chance) / (1 - chance)
