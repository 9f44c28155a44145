"""The ratio margin of every pair of a small corpus, one cosine at a time."""


def margins(sources, targets, vectors, count, neighbours):
    """Return the margin of each pair.

    Args:
        sources: Texts.
        targets: Their translations.
        vectors: Vector of each text, of length 1, for either side.
        count: How many neighbours count.
        neighbours: Which pairs' sides may be neighbours.
    """
    near = [
        {text for text, may in zip(side, neighbours, strict=True) if may}
        for side in (targets, sources)
    ]
    values = []
    for source, target in zip(sources, targets, strict=True):
        one, other = vectors[0][source], vectors[1][target]
        of_source = sorted((one @ vectors[1][text] for text in near[0]), reverse=True)[:count]
        of_target = sorted((other @ vectors[0][text] for text in near[1]), reverse=True)[:count]
        mean = sum(of_source) / len(of_source) / 2 + sum(of_target) / len(of_target) / 2
        cosine = one @ other
        values.append(cosine / mean if mean > 0 and cosine > 0 else 0.0)
    return values
