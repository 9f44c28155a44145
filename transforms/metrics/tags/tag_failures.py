"""Flagrant failures: errors in an output's tags, independent of its words.

The kinds are those of Hanneman and Dinu (2020, section 6.1); the distinctions are ours: a missing
or new tag counts as one failure only, and nesting is checked among the remaining tags.
"""

import dataclasses
import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pairweave.transforms.indexed_tag import PIECE_PATTERN, PREFIX
from pairweave.transforms.markup.markup import (
    INDEXED,
    Form,
    Kind,
    Marked,
    Syntax,
    closes,
    find_elements,
)

Identity = tuple[Kind, str, str]
Chain = tuple[tuple[str, str, str], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Failures:
    """Counts of failures, in a line or in total.

    Attributes:
        changed_id: Tags whose key (``id``, the number of an indexed tag) differs from the
            source's: one of the source's keys is missing, and a tag of its kind and name has a new
            one.
        dropped: Tags of the source that the output lacks.
        mutilated: Pieces of tags among the output's words that the source does not have there.
            Each replaces a missing tag, if there is one, which then does not count as dropped.
        badly_nested: Elements complete on both sides that are in other elements than in the source,
            cross others, or close before they open.
        added: Tags of the output that the source lacks.
    """

    changed_id: int = 0
    dropped: int = 0
    mutilated: int = 0
    badly_nested: int = 0
    added: int = 0

    @property
    def total(self) -> int:
        """Return the sum."""
        return sum(dataclasses.astuple(self))

    def __add__(self, other: "Failures") -> "Failures":
        """Add, failure by failure."""
        ours, theirs = dataclasses.astuple(self), dataclasses.astuple(other)
        return Failures(*(one + two for one, two in zip(ours, theirs, strict=True)))


def find_failures(hypothesis: Marked, source: Marked, syntax: Syntax) -> Failures:
    """Count the failures of one output.

    >>> from pairweave.transforms.markup.markup import XLIFF, parse_markup
    >>> source = parse_markup('a <g id="1">b</g> <x id="2"/>', XLIFF)
    >>> find_failures(parse_markup('<g id="3">b</g> id="2"/> a', XLIFF), source, XLIFF)
    Failures(changed_id=1, dropped=0, mutilated=1, badly_nested=0, added=0)
    """
    pieces = _find_pieces(hypothesis, source, syntax)
    if not pieces and not source.tags and not hypothesis.tags:
        return Failures()
    wanted, output = _identities(source), _identities(hypothesis)
    missing, added = wanted - output, output - wanted
    changed = _changed_keys(missing, added)
    lost = missing.total() - changed
    return Failures(
        changed_id=changed,
        dropped=max(0, lost - pieces),
        mutilated=pieces,
        badly_nested=_count_badly_nested(hypothesis, source),
        added=added.total() - changed,
    )


def count_failures(
    hypotheses: Sequence[Marked], sources: Sequence[Marked], syntax: Syntax
) -> tuple[Failures, ...]:
    """Count the failures of each output ``[line]``."""
    return tuple(
        find_failures(hypothesis, source, syntax)
        for hypothesis, source in zip(hypotheses, sources, strict=True)
    )


def _identities(marked: Marked) -> Counter[Identity]:
    return Counter((tag.kind, tag.name, tag.key) for tag in marked.tags)


def _changed_keys(missing: Counter[Identity], added: Counter[Identity]) -> int:
    """Return how many missing tags have a counterpart of their kind and name with another key."""
    gone: Counter[tuple[Kind, str]] = Counter()
    new: Counter[tuple[Kind, str]] = Counter()
    for identities, counts in ((missing, gone), (added, new)):
        for (kind, name, key), times in identities.items():
            if key:
                counts[kind, name] += times
    return (gone & new).total()


def _find_pieces(hypothesis: Marked, source: Marked, syntax: Syntax) -> int:
    """Return the number of pieces of tags among the output's words beyond those of the source."""
    if not any(mark in hypothesis.text for mark in ("<", ">", "=", PREFIX)):
        return 0
    names = syntax.names or frozenset(tag.name for tag in source.tags)
    pieces = Counter(_pieces(hypothesis.text, syntax, names))
    return (pieces - Counter(_pieces(source.text, syntax, names))).total() if pieces else 0


def _pieces(text: str, syntax: Syntax, names: frozenset[str]) -> Iterator[str]:
    """Yield everything that looks like a piece of a tag.

    That is a tag with an error inside, its beginning without its end, its end without its
    beginning, or a key alone. If a syntax allows any names, those of the source are used.
    """
    for match in _piece_pattern(syntax, names).finditer(text):
        piece = match[0]
        # Attributes are matched as a whole, so that no text is scanned twice, and separated here.
        if match.lastgroup != "attributes" or piece.endswith(">") or _has_key(piece, syntax.keys):
            yield piece


def _has_key(piece: str, keys: tuple[str, ...]) -> bool:
    return any(re.search(rf"(?<![\w:.\-]){re.escape(key)}\s*=", piece) for key in keys)


@functools.lru_cache(maxsize=1_024)
def _piece_pattern(syntax: Syntax, names: frozenset[str]) -> re.Pattern[str]:
    if syntax is INDEXED:
        return re.compile(PIECE_PATTERN)
    # Without possessive quantifiers, many incomplete tags would take quadratic time.
    value = r"""(?:"[^"<>]*+"?+|'[^'<>]*+'?+|[^\s"'<>=]++)"""
    attribute = rf"(?<![\w:.\-])[\w:.\-]++\s*+=\s*+{value}"
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    # Without names, the pattern matches nothing.
    name = rf"(?:{'|'.join(map(re.escape, longest_first)) or '(?!)'})"
    head = rf"<\s*+/?\s*+{name}(?![\w.\-])"
    return re.compile(
        rf"{head}[^<>]*+>|</?[A-Za-z_][^<>]*+>|{head}(?:\s++{attribute})*+"
        rf"|(?P<attributes>(?:(?<![\w.\-]){name}\s++)?(?:{attribute}\s*+)++(?:/?\s*+>)?)"
        rf"|/?(?<![\w.\-]){name}\s*+/?\s*+>"
    )


def _count_badly_nested(hypothesis: Marked, source: Marked) -> int:
    if len(hypothesis.tags) < 2:
        return 0
    output_elements, source_elements = _elements(hypothesis), _elements(source)
    common = Counter(name for name, *_ in output_elements) & Counter(
        name for name, *_ in source_elements
    )
    # One identical element more than in the source is added, not badly nested.
    kept = Counter(_chains(output_elements, common)) & Counter(_chains(source_elements, common))
    bad = common.total() - kept.total()
    return bad + max(0, _count_reversed(hypothesis) - _count_reversed(source))


def _elements(marked: Marked) -> list[tuple[tuple[str, str], int, int]]:
    """Return the name and key of each pair and empty tag, and the numbers of its tags."""
    elements = []
    for element in find_elements(marked.tags):
        if element.form in (Form.PAIR, Form.SELF_CLOSING):
            first = element.first
            last = first if element.closing is None else element.closing
            elements.append(((marked.tags[first].name, marked.tags[first].key), first, last))
    return elements


def _chains(
    elements: Sequence[tuple[tuple[str, str], int, int]], common: Counter[tuple[str, str]]
) -> list[tuple[tuple[str, str], Chain]]:
    """Return each common element with the elements that contain or cross it, from outside in.

    If two elements cross, the one that opens later has the other in its list.
    """
    chains = []
    open_pairs: list[tuple[tuple[str, str], int]] = []
    for name, first, last in elements:
        if name not in common:
            continue
        open_pairs = [(outer, end) for outer, end in open_pairs if end > first]
        chain = tuple((*outer, "in" if end > last else "across") for outer, end in open_pairs)
        chains.append((name, chain))
        if last > first:
            open_pairs.append((name, last))
    return chains


def _count_reversed(marked: Marked) -> int:
    """Return the number of unpaired closing tags that match a later opening tag."""
    elements = find_elements(marked.tags)
    opened = [element.first for element in elements if element.form is Form.OPEN]
    times = 0
    for element in elements:
        if element.form is Form.CLOSE:
            tag = marked.tags[element.first]
            fits = (at for at in opened if at > element.first and closes(marked.tags[at], tag))
            later = next(fits, None)
            if later is not None:
                opened.remove(later)
                times += 1
    return times
