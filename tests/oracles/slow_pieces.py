"""The slow twin of tokens made of an encoder's pieces, and of their links: sets and loops.

Shares nothing with `models.encoder.pieces` and `transforms.kernels.text.encoder_pieces` but what
both are meant to do.
"""

import itertools

import regex

WHITE_SPACE = regex.compile(r"\p{White_Space}")


def trim(text, start, end):
    """Return a range without the white space at its ends, or None where nothing is left."""
    inside = [place for place in range(start, end) if not WHITE_SPACE.match(text[place])]
    return (inside[0], inside[-1] + 1) if inside else None


def tokens(text, spans):
    """Return the tokens of a text: stretches between borders that lie inside no piece.

    >>> tokens("ab cd", [(0, 2), (2, 4), (3, 5), (5, 5)])
    [(0, 2), (3, 5)]
    """
    pieces = [span for span in (trim(text, *span) for span in spans) if span]
    borders = sorted(
        {
            border
            for border in (place for piece in pieces for place in piece)
            if not any(start < border < end for start, end in pieces)
        }
    )
    return [
        stretch
        for stretch in itertools.pairwise(borders)
        if any(start < stretch[1] and stretch[0] < end for start, end in pieces)
    ]


def tokens_of(span, tokens):
    """Return the tokens that a piece lies on: those that it shares a character with.

    A piece that shares none, a lone word mark, lies on the token that begins where it ends.
    """
    start, end = span
    shared = {place for place, token in enumerate(tokens) if token[0] < end and start < token[1]}
    return shared or {place for place, token in enumerate(tokens) if token[0] == end}


def links(piece_links, source_spans, target_spans, source_tokens, target_tokens):
    """Return the links of tokens whose pieces are linked."""
    return {
        (i, j)
        for source, target in piece_links
        for i in tokens_of(source_spans[source], source_tokens)
        for j in tokens_of(target_spans[target], target_tokens)
    }
