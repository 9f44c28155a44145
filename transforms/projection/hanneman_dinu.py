"""Tag projection by the rules of Hanneman and Dinu (2020), section 4.1.

The paper gives three rules; ``s`` are source tokens, ``t`` target tokens, ``A`` links:

1. A pair of tags around ``s_a .. s_b`` is placed around ``t_min .. t_max`` of all tokens that ``A``
   links to them.
2. A self-closing tag before ``s_a`` is placed before the first token that ``A`` links to ``s_a``.
3. A pair without tokens or a self-closing tag before the first token is placed before the first
   target token; after the last token, after the last target token.

It mentions further heuristics without naming them. Here they are:

4. A self-closing tag before a token without links is placed according to the next token with links,
   or after the last target token if there is none (as in rule 3 at the end of the text).
5. A pair without tokens, or without links of its tokens, is placed like a self-closing tag, both
   tags together.
6. An opening tag alone is placed like a self-closing one. A closing tag alone is the mirror image:
   after the last token linked to the token before it, or to the nearest earlier one with links, or
   else before the first target token.
7. Malformed nesting of the source does not matter: each pair is placed according to its own tokens.
   Elements that nest in the source are made to nest in the target
   (`transforms.projection.tag_nesting`); those that cross may cross.

Unlike in the paper, target tokens are those of the links instead of BPE pieces.
"""

from collections.abc import Sequence

import numpy as np

from pairweave.transforms.markup.markup import Element, Form

Tokens = Sequence[tuple[int, int]]
Linked = Sequence[Sequence[int]]
"""For each source token, the target tokens that it is linked to."""


def place_elements(
    elements: Sequence[Element],
    target_length: int,
    source_tokens: Tokens,
    target_tokens: Tokens,
    link_source: np.ndarray,
    link_target: np.ndarray,
) -> list[tuple[int, int]]:
    """Place each element of a source independently.

    Args:
        elements: The elements; none starts or ends inside a source token.
        target_length: Code points of the target.
        source_tokens: Ranges of code points.
        target_tokens: The same for the target.
        link_source: Source tokens of the links.
        link_target: Target tokens.

    Returns:
        Offset of each element's first and last tag in the target.
    """
    if not target_tokens:
        return [
            (0, target_length if _tokens_in(element, source_tokens) else 0) for element in elements
        ]
    linked: list[list[int]] = [[] for _ in source_tokens]
    for source, target in zip(link_source.tolist(), link_target.tolist(), strict=True):
        linked[source].append(target)
    placed = []
    for element in elements:
        inside = _tokens_in(element, source_tokens)
        span = place_pair(inside, linked, target_tokens) if inside else None
        if span is None:
            before = sum(1 for _, end in source_tokens if end <= element.start)
            place = place_closing if element.form is Form.CLOSE else place_opening
            at = place(before, linked, target_tokens)
            span = at, at
        placed.append(span)
    return placed


def place_pair(inside: range, linked: Linked, target: Tokens) -> tuple[int, int] | None:
    """Place a pair around all tokens linked to its tokens (rule 1); None if there are none.

    Args:
        inside: The source tokens between its tags.
        linked: Links of each source token.
        target: Target tokens.

    >>> place_pair(range(1, 3), [[0], [3], [1]], [(0, 2), (3, 5), (6, 8), (9, 11)])
    (3, 11)
    """
    tokens = [token for source in inside for token in linked[source]]
    return (target[min(tokens)][0], target[max(tokens)][1]) if tokens else None


def place_opening(before: int, linked: Linked, target: Tokens) -> int:
    """Place a self-closing tag, a pair without tokens, or an opening tag alone (rules 2 to 6).

    Args:
        before: Number of source tokens before the tag.
        linked: Links of each source token.
        target: Target tokens, at least one.

    >>> target = [(0, 2), (3, 5), (6, 8)]
    >>> [place_opening(before, [[1], [], [0, 2]], target) for before in range(4)]
    [0, 0, 0, 8]
    """
    if before == 0:
        return target[0][0]
    for source in range(before, len(linked)):
        if linked[source]:
            return target[min(linked[source])][0]
    return target[-1][1]


def place_closing(before: int, linked: Linked, target: Tokens) -> int:
    """Place a closing tag without its opening one (rule 6).

    Args:
        before: As for `place_opening`.
        linked: As for `place_opening`.
        target: As for `place_opening`.

    >>> target = [(0, 2), (3, 5), (6, 8)]
    >>> [place_closing(before, [[1], [], [0, 2]], target) for before in range(4)]
    [0, 5, 5, 8]
    """
    if before == len(linked):
        return target[-1][1]
    for source in range(before - 1, -1, -1):
        if linked[source]:
            return target[max(linked[source])][1]
    return target[0][0]


def _tokens_in(element: Element, tokens: Tokens) -> range:
    """Return the tokens between an element's tags."""
    inside = [
        number
        for number, (start, end) in enumerate(tokens)
        if start < element.end and element.start < end
    ]
    return range(inside[0], inside[-1] + 1) if inside else range(0)
