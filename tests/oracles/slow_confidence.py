"""The slow twin of `transforms.kernels.links.confidence`, in plain Python over dictionaries."""


def mean_beliefs(forward, reverse):
    """Return the mean posterior of each link of two lists of (source, target, posterior)."""
    ahead, back = ({(i, j): p for i, j, p in links} for links in (forward, reverse))
    return {link: (ahead.get(link, 0) + back.get(link, 0)) / 2 for link in {*ahead, *back}}


def score_slowly(beliefs, links, box):
    """Return the score of a box (source start and end, target start and end)."""
    source, target = range(box[0], box[1]), range(box[2], box[3])
    score = 1.0
    for (i, j), belief in beliefs.items():
        if (i in source) != (j in target):
            score *= 1 - belief
    surest = [1.0]
    for side, words in ((0, source), (1, target)):
        for word in words:
            inside = [
                belief
                for link, belief in beliefs.items()
                if link[side] == word and link[0] in source and link[1] in target
            ]
            if any(link[side] == word for link in links):
                surest.append(max(inside, default=0.0))
    return score * min(surest)
