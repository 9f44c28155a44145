"""Scores of beads, bead by bead, as Thompson and Koehn's (2019) scorer counts them."""


def _share(beads, wanted):
    """Return the strict and the lax share of beads that hit, and how many there are."""
    strict = lax = 0
    for source, target in beads:
        exact = (source, target) in wanted
        overlaps = any(
            set(source) & set(ours) and set(target) & set(theirs) for ours, theirs in wanted
        )
        strict += exact
        lax += exact or overlaps
    count = len(beads)
    return (strict / count, lax / count) if count else (0.0, 0.0)


def scores(beads, gold):
    """Return strict precision, recall and F1, then lax ones, of one document."""
    beads = {(tuple(s), tuple(t)) for s, t in beads if s or t}
    gold = {(tuple(s), tuple(t)) for s, t in gold if s or t}
    precisions = _share(beads, gold)
    recalls = _share({b for b in gold if all(b)}, {b for b in beads if all(b)})
    result = []
    for precision, recall in zip(precisions, recalls, strict=True):
        both = precision + recall
        result += [precision, recall, 2 * precision * recall / both if both else 0.0]
    return result
