"""The slow twin of `transforms.kernels.hmm.fragment_translations`, in plain Python over tuples."""

SWAP = 0.3


def combine_slowly(words, choices, most):
    """Return the best translations of a fragment.

    Args:
        words: The fragment's words.
        choices: For each word, its translations and their weights, falling.
        most: Most translations.
    """
    best = [[(1.0, ())]]
    for place, word in enumerate(words):
        longer = [
            (score * weight, (*text, choice))
            for score, text in best[place]
            for choice, weight in choices[word]
        ]
        if place:
            longer += [
                (score * SWAP * weight * other_weight, (*text, choice, other))
                for score, text in best[place - 1]
                for choice, weight in choices[word]
                for other, other_weight in choices[words[place - 1]]
            ]
        best.append(sorted(longer, key=lambda item: -item[0])[:most])
    return [text for _, text in best[-1]] if words else []
