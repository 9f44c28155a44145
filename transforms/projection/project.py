"""Project the tags of a source onto its translation (detag and project).

Text is translated without its tags; each tag is then placed at the translations of the words next
to it (Hanneman and Dinu 2020, section 4.1). Every tag of the source occurs in the result exactly
once, and the target's text is unchanged.
"""

import bisect
import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
import regex

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.kernels.links import projection
from pairweave.transforms.kernels.links.projection_evidence import (
    THOUSAND,
    Characters,
    LinkMasses,
    TokenizedText,
)
from pairweave.transforms.links.soft_links import SoftLinks
from pairweave.transforms.markup.markup import Element, Marked, Tag, find_elements
from pairweave.transforms.option_values import require_choice
from pairweave.transforms.projection import hanneman_dinu
from pairweave.transforms.projection.characters import characters
from pairweave.transforms.projection.projection_weights import ProjectionWeights, shipped_weights
from pairweave.transforms.projection.tag_nesting import (
    Spans,
    find_parents,
    find_relations,
    order_tags,
    settle,
)
from pairweave.transforms.text.joined_tokens import join_tokens
from pairweave.transforms.text.whole_words import join_numbers

RULES = ("best", "paper")

Tokens = Sequence[tuple[int, int]]
"""Half-open ranges of code points, ascending, disjoint and not empty."""

_JOINERS = "'-\N{RIGHT SINGLE QUOTATION MARK}\N{NON-BREAKING HYPHEN}"


_TURN = regex.compile(r"(?<=\p{Ll}\p{Ll}|[.:;,!?)\]»”])(?=\p{Lu})")

_UNCASED = regex.compile(r"\p{Lo}")

_OTHER_LETTER = regex.compile(r"(?V1)[\p{Lo}\p{M}--\p{Inherited}]")

_CASED_LETTERS = regex.compile(r"[\p{Latin}\p{Greek}\p{Cyrillic}]+")

_BEFORE_LETTER = regex.compile(
    r"(?<=[.:;,!?)\]»”]|[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D]\u200C)(?=\p{Lo})"
)
"""After a mark, or in scripts of India after a virama and a non-joiner, as before a suffix."""

_ADDRESS = regex.compile(r"[/\\@_%${}=&#]|www\.")

_GRAPHEME = regex.compile(r"\X")

_REFERENCE = regex.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});")
"""A character reference, as `transforms.kernels.text.unbreakable` reads it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Placed:
    """A translation with the tags of its source.

    Attributes:
        marked: The translation with the tags.
        order: For each tag of the source, its number among the tags of the translation.
        confidences: For each tag of the source, the share of tags placed on such evidence that are
            where people put them, in [0, 1]; empty for the rules ``paper``.
    """

    marked: Marked
    order: tuple[int, ...]
    confidences: tuple[float, ...]


def project_tags(
    source: Marked,
    target_text: str,
    source_tokens: Tokens,
    target_tokens: Tokens,
    links: SoftLinks,
    rules: str = "best",
    weights: ProjectionWeights | None = None,
) -> Marked:
    """Project the tags of a source onto its translation.

    Args:
        source: The source with its tags.
        target_text: The translation, without tags.
        source_tokens: Tokens of the source's text. Call `cut_tokens` before aligning them, so that
            no tag is inside a token.
        target_tokens: Tokens of the translation.
        links: Links between them. ``paper`` ignores their probabilities.
        rules: ``best``: the places with the most evidence (`transforms.kernels.links.projection`).
            ``paper``: `transforms.projection.hanneman_dinu`.
        weights: Weights of the evidence for ``best``; the shipped ones by default.

    Returns:
        The translation with the source's tags, each once, nested as in the source. No tag is
        inside a character reference such as ``&gt;``, nor inside a number such as ``2½`` or a
        formula such as ``H₂O``, unless one of the source's is.

    Raises:
        ConfigError: There are no such rules.
        WorkerError: A link is outside the tokens.

    >>> from pairweave.transforms.markup.markup import parse_markup
    >>> tokens = [(0, 1), (2, 7), (8, 13)], [(0, 3), (4, 10), (11, 16)]
    >>> links = SoftLinks.certain([(0, 0), (1, 2), (2, 1)])
    >>> str(project_tags(parse_markup("a <b>green</b> house"), "une maison verte", *tokens, links))
    'une maison <b>verte</b>'
    """
    return place_tags(
        source, target_text, source_tokens, target_tokens, links, rules, weights
    ).marked


def place_tags(
    source: Marked,
    target_text: str,
    source_tokens: Tokens,
    target_tokens: Tokens,
    links: SoftLinks,
    rules: str = "best",
    weights: ProjectionWeights | None = None,
) -> Placed:
    """Project the tags of a source like `project_tags`, and add the confidence of each."""
    require_choice("rules", rules, RULES)
    _require_inside(links, len(source_tokens), len(target_tokens))
    if not source.tags:
        return Placed(Marked(target_text, ()), (), ())
    sides = lay_out(source, target_text, source_tokens, target_tokens, links)
    elements = find_elements(source.tags)
    parents = find_parents(elements)
    starts = np.array([element.start for element in elements], np.int64)
    ends = np.array([element.end for element in elements], np.int64)
    confidences: tuple[float, ...] = ()
    if rules == "paper":
        placed = hanneman_dinu.place_elements(
            elements,
            len(target_text),
            _tokens(sides[0]),
            _tokens(sides[1]),
            sides[2].sources,
            sides[2].targets,
        )
        spans = Spans([start for start, _ in placed], [end for _, end in placed])
        nested = False
    else:
        weights = shipped_weights() if weights is None else weights
        relations = find_relations(elements)
        every = projection.Elements(starts, ends, _keyed(source, elements), relations)
        new_starts, new_ends, margins, nested = projection.place_elements(
            *sides, every, weights.arrays()
        )
        spans = Spans(new_starts.tolist(), new_ends.tolist())
        margins[_guessed(elements, margins, sides)] = -1
        confidences = _confidences(elements, margins.tolist(), weights)
    if not nested:
        spans.places, spans.gains = projection.gains_of_elements(*sides[:3], starts, ends)
        settle(elements, parents, spans)
    ordered = order_tags(elements, parents, spans)
    tags = [_moved(source.tags[tag], offset) for tag, offset in ordered]
    order = [0] * len(ordered)
    for place, (tag, _) in enumerate(ordered):
        order[tag] = place
    return Placed(Marked(target_text, tuple(tags)), tuple(order), confidences)


def lay_out(
    source: Marked,
    target_text: str,
    source_tokens: Tokens,
    target_tokens: Tokens,
    links: SoftLinks,
) -> tuple[TokenizedText, TokenizedText, LinkMasses, Characters]:
    """Return a pair in the form for kernels, with its tokens cut at the source's tags.

    Args:
        source: The source with its tags.
        target_text: The translation.
        source_tokens: As for `project_tags`.
        target_tokens: The same for the translation.
        links: Links between them.
    """
    cut_source, cut_target = cut_tokens(source, target_text, source_tokens, target_tokens)
    if (len(cut_source), len(cut_target)) != (len(source_tokens), len(target_tokens)):
        links = _cut_links(links, source_tokens, target_tokens, cut_source, cut_target)
    cut_target, links = _join_parts(source, target_text, cut_source, cut_target, links)
    return (
        TokenizedText(*_bounds(cut_source), _points(source.text)),
        TokenizedText(*_bounds(cut_target), _points(target_text)),
        LinkMasses(
            np.ascontiguousarray(links.source),
            np.ascontiguousarray(links.target),
            _thousandths(links.forward),
            _thousandths(links.reverse),
        ),
        characters(),
    )


def _keyed(source: Marked, elements: Sequence[Element]) -> np.ndarray:
    """Tell which elements have tags with an id, bool ``[element]``."""
    return np.array([bool(source.tags[element.first].key) for element in elements], np.bool_)


def _moved(tag: Tag, offset: int) -> Tag:
    return Tag(tag.kind, tag.name, tag.key, tag.raw, offset)


def _tokens(text: TokenizedText) -> list[tuple[int, int]]:
    return list(zip(text.starts.tolist(), text.ends.tolist(), strict=True))


def _guessed(
    elements: Sequence[Element],
    margins: np.ndarray,
    sides: tuple[TokenizedText, TokenizedText, LinkMasses, Characters],
) -> np.ndarray:
    """Tell which elements are placed only because no other place exists, not because of links.

    Such a place is certain for an element around the whole source, and a guess for an element
    around part of it.

    Returns:
        bool ``[element]``.
    """
    source, _, links, _ = sides
    guessed = np.zeros(len(elements), np.bool_)
    for number in np.flatnonzero(margins == projection.CERTAIN).tolist():
        start, end = elements[number].start, elements[number].end
        inside = (source.ends > start) & (source.starts < end)
        guessed[number] = 0 < inside.sum() < len(inside) and not inside[links.sources].any()
    return guessed


def _confidences(
    elements: Sequence[Element], margins: Sequence[int], weights: ProjectionWeights
) -> tuple[float, ...]:
    """Return the confidence of each tag, which is that of its element."""
    confidences = {}
    for element, margin in zip(elements, margins, strict=True):
        confidence = weights.confidence(margin)
        for number in (element.opening, element.closing):
            if number is not None:
                confidences[number] = confidence
    return tuple(confidences[number] for number in sorted(confidences))


def _require_inside(links: SoftLinks, source: int, target: int) -> None:
    for tokens, count, side in ((links.source, source, "source"), (links.target, target, "target")):
        if len(tokens) and not 0 <= tokens.min() <= tokens.max() < count:
            raise WorkerError(
                f"links of {side} tokens {tokens.min()} to {tokens.max()}, but the {side} has "
                f"{count} tokens, numbered from 0"
            )


def cut_tokens(
    source: Marked, target_text: str, source_tokens: Tokens, target_tokens: Tokens
) -> tuple[Tokens, Tokens]:
    """Split source tokens at the tags inside them, and target tokens where such tags may belong.

    ``rate<x/>July`` is one word of the text without its tag, and so is ``KursJuli``. The links
    of their parts show where the tag belongs. A target token is split where it begins or ends with
    a part, where a new word may begin (``sJ``, ``O2``), and in proportion if each side is a single
    token.

    Args:
        source: The source with its tags.
        target_text: The translation.
        source_tokens: As for `project_tags`.
        target_tokens: The same for the translation.

    Returns:
        The tokens of both sides; unchanged if no tag is inside a token.

    >>> from pairweave.transforms.markup.markup import parse_markup
    >>> cut_tokens(parse_markup("rate<x/>July"), "KursJuli", [(0, 8)], [(0, 8)])
    ([(0, 4), (4, 8)], [(0, 4), (4, 8)])
    """
    offsets = sorted({tag.offset for tag in source.tags})
    cuts = _glued(source.text, target_text, target_tokens) if source.tags else set()
    inside = bool(cuts)
    token_starts = [start for start, _ in source_tokens]
    for at in offsets:
        number = bisect.bisect_left(token_starts, at) - 1
        if number < 0 or source_tokens[number][1] <= at:
            continue
        inside = True
        start, end = source_tokens[number]
        if len(source_tokens) == len(target_tokens) == 1:
            cuts |= _proportional_cut(target_text, (at - start) / (end - start), target_tokens[0])
        else:
            left, right = source.text[start:at], source.text[at:end]
            for token in target_tokens:
                cuts |= _likely_cuts(target_text, token, left, right)
    if not inside:
        return source_tokens, target_tokens
    return _cut_at(source_tokens, offsets), _cut_at(target_tokens, sorted(cuts))


def _glued(source_text: str, text: str, tokens: Tokens) -> set[int]:
    """Return the places where a capital, a letter after a mark or another script begins a word.

    Without its tags, a translation joins two words where only a tag was between them
    (``l'ongletFichier``, ``Variante :Type``, ``עםCtrl``). A word that also occurs in the source
    stays one word (``LibreOffice``), and so does text that looks like an address or a path.
    """
    turns = [match.start() for match in _TURN.finditer(text)]
    if _UNCASED.search(text):
        turns += [match.start() for match in _BEFORE_LETTER.finditer(text)]
        turns += _script_turns(text)
    if not turns:
        return set()
    known = source_text.casefold()
    starts = [start for start, _ in tokens]
    cuts = set()
    for at in turns:
        number = bisect.bisect_left(starts, at) - 1
        if number < 0 or tokens[number][1] <= at:
            continue
        start, end = tokens[number]
        if text[start:end].casefold() not in known and _may_part(text, at):
            cuts.add(at)
    return cuts


def _script_turns(text: str) -> list[int]:
    """Return the places between a letter of Latin, Greek or Cyrillic and one of another script."""
    turns = []
    for match in _CASED_LETTERS.finditer(text):
        start, end = match.span()
        if start and _OTHER_LETTER.match(text, start - 1):
            turns.append(start)
        if _UNCASED.match(text, end):
            turns.append(end)
    return turns


def _may_part(text: str, at: int) -> bool:
    """Tell whether two parts of a word may begin here: not in an address, a path or a grapheme."""
    # The characters around the offset up to the next space on each side.
    before = text[:at].rpartition(" ")[2]
    run = before + text[at:].partition(" ")[0]
    if _ADDRESS.search(run):
        return False
    return any(match.start() == len(before) for match in _GRAPHEME.finditer(run))


def _likely_cuts(text: str, token: tuple[int, int], left: str, right: str) -> set[int]:
    """Return the places in a target token that may correspond to a split of a source token."""
    start, end = token
    word = text[start:end]
    if word == left + right:
        return {start + len(left)}
    ends_so = len(right) > 1 or not right.isalpha()
    if len(word) > len(left) > 1 and word.startswith(left):
        cuts = {start + len(left)}
    elif ends_so and len(word) > len(right) and word.endswith(right):
        cuts = {end - len(right)}
    else:
        cuts = _turns(text, start, end)
    return {at for at in cuts if _may_part(text, at)}


def _turns(text: str, start: int, end: int) -> set[int]:
    """Return the places inside a token at which a new word may begin."""
    return {at for at in range(start + 1, end) if _turns_at(text[at - 1], text[at])}


def _turns_at(left: str, right: str) -> bool:
    if left.isalnum():
        return (
            (left.islower() and right.isupper())
            or (left.isalpha() and right.isdigit())
            or (left.isdigit() and right.isalpha())
        )
    return right.isupper() and left not in _JOINERS


def _proportional_cut(text: str, share: float, token: tuple[int, int]) -> set[int]:
    start, end = token
    at = start + round(share * (end - start))
    if not start < at < end:
        return set()
    turns = _turns(text, start, end)
    cut = min(turns, key=lambda turn: (abs(turn - at), turn), default=at)
    return {cut} if _may_part(text, cut) else set()


def _cut_at(tokens: Tokens, cuts: Sequence[int]) -> list[tuple[int, int]]:
    parts = []
    for start, end in tokens:
        first, last = bisect.bisect_right(cuts, start), bisect.bisect_left(cuts, end)
        bounds = [start, *cuts[first:last], end]
        parts += list(itertools.pairwise(bounds))
    return parts


def _cut_links(
    links: SoftLinks, source: Tokens, target: Tokens, cut_source: Tokens, cut_target: Tokens
) -> SoftLinks:
    """Turn links of tokens into links of their parts: in order if both tokens are split."""
    firsts = _first_parts(source, cut_source), _first_parts(target, cut_target)
    rows = []
    for link, ends in enumerate(zip(links.source.tolist(), links.target.tolist(), strict=True)):
        one, other = (
            range(of[token], of[token + 1]) for of, token in zip(firsts, ends, strict=True)
        )
        rows += [(one[i], other[j], link) for i, j in _matching_parts(len(one), len(other))]
    columns = np.array(sorted(rows), np.int64).reshape(-1, 3)
    return SoftLinks(
        columns[:, 0].copy(),
        columns[:, 1].copy(),
        links.forward[columns[:, 2]],
        links.reverse[columns[:, 2]],
    )


def _matching_parts(one: int, other: int) -> list[tuple[int, int]]:
    """Return the pairs of parts that overlap if one length is divided in two ways.

    >>> _matching_parts(2, 3)
    [(0, 0), (0, 1), (1, 1), (1, 2)]
    """
    return [
        (i, j)
        for i in range(one)
        for j in range(other)
        if i * other < (j + 1) * one and j * one < (i + 1) * other
    ]


def _join_parts(
    source: Marked,
    target_text: str,
    source_tokens: Tokens,
    target_tokens: Tokens,
    links: SoftLinks,
) -> tuple[Tokens, SoftLinks]:
    """Merge target tokens that are parts of one thing into one token with the links of all.

    Aligners have a token for each part of ``2½``. Where a tag of the source splits such a number,
    the tokens are not joined, so that the target is split in the same way. The end of an address
    before a character reference may include the beginning of that reference (``www.x.de&gt`` of
    ``www.x.de&gt;``).
    """
    joined = target_tokens
    if not target_text.isascii():
        joined = join_numbers(target_text, joined)
        if len(joined) < len(target_tokens) and _splits_number(source, source_tokens):
            joined = target_tokens
    if "&" in target_text:
        references = [match.span() for match in _REFERENCE.finditer(target_text)]
        joined = join_tokens(joined, references)
    if len(joined) == len(target_tokens):
        return target_tokens, links
    starts = [start for start, _ in joined]
    whole_of = np.array([bisect.bisect_right(starts, at) - 1 for at, _ in target_tokens], np.int64)
    ends = np.stack([links.source, whole_of[links.target]])
    (sources, targets), link_of = np.unique(ends, axis=1, return_inverse=True)
    forward, reverse = np.zeros(len(sources)), np.zeros(len(sources))
    np.maximum.at(forward, link_of.ravel(), links.forward)
    np.maximum.at(reverse, link_of.ravel(), links.reverse)
    return joined, SoftLinks(sources, targets, forward, reverse)


def _splits_number(source: Marked, tokens: Tokens) -> bool:
    """Tell whether a tag of the source is inside a number."""
    offsets = {tag.offset for tag in source.tags}
    numbers = set(join_numbers(source.text, tokens)) - set(tokens)
    return any(start < at < end for start, end in numbers for at in offsets)


def _first_parts(tokens: Tokens, parts: Tokens) -> list[int]:
    starts = [start for start, _ in parts]
    return [*(bisect.bisect_left(starts, start) for start, _ in tokens), len(parts)]


def _bounds(tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
    flat = np.array(tokens, np.int64).reshape(-1, 2)
    return flat[:, 0].copy(), flat[:, 1].copy()


def _thousandths(probabilities: np.ndarray) -> np.ndarray:
    return np.rint(probabilities * THOUSAND).astype(np.int64)


def _points(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
