"""Similarity of the element trees of two texts, a share that rises with each element put right.

The distance is the least number of elements to insert, delete or rename (Zhang and Shasha 1989,
section 4), as in the reward TreeSim (Song et al. 2025), divided by the elements of the larger tree
as in TEDS (Zhong et al. 2020, section 5). Summaries of that paper do not say by what TreeSim is
divided, so its figures may differ from these.
"""

import dataclasses
from collections.abc import Sequence

END = "/"
"""Marks the end of an element in a structure."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Tree:
    """Elements in postorder, the root last.

    Attributes:
        names: The name of each.
        first: The number of its leftmost leaf, which is its own if it has no children.
        roots: The last element with each leftmost leaf, ascending: their trees cover all others.
    """

    names: tuple[str, ...]
    first: tuple[int, ...]
    roots: tuple[int, ...]


def tree_similarity(one: Sequence[str], other: Sequence[str]) -> float:
    """Return ``1 - distance / elements``, in [0, 1].

    All elements of a text are below a root, which counts as an element, so that texts without
    elements are equal.

    Args:
        one: Names of elements and their ends, in order (`xml_metrics.find_structure`).
        other: The same for the other text.

    >>> tree_similarity(("b", "/", "i", "/"), ("b", "/", "u", "/"))
    0.6666666666666667
    >>> tree_similarity(("b", "i", "/", "/"), ("i", "/"))
    0.6666666666666667
    """
    if tuple(one) == tuple(other):
        return 1.0
    trees = _tree(one), _tree(other)
    return 1 - tree_distance(*trees) / max(len(tree.names) for tree in trees)


def _tree(structure: Sequence[str]) -> _Tree:
    names: list[str] = []
    first: list[int] = []
    open_elements: list[tuple[str, int]] = []
    for event in ("", *structure, END):
        if event == END:
            name, leaf = open_elements.pop()
            names.append(name)
            first.append(leaf)
        else:
            open_elements.append((event, len(names)))
    last = {leaf: number for number, leaf in enumerate(first)}
    return _Tree(tuple(names), tuple(first), tuple(sorted(last.values())))


def tree_distance(one: _Tree, other: _Tree) -> int:
    """Return the least number of elements to insert, delete or rename to make one tree the other.

    The time is at most proportional to the product of both trees' elements and depths.
    """
    below = [[0] * len(other.names) for _ in one.names]
    for root in one.roots:
        for other_root in other.roots:
            _fill(one, other, root, other_root, below)
    return below[-1][-1]


def _fill(one: _Tree, other: _Tree, root: int, other_root: int, below: list[list[int]]) -> None:
    """Find the distances between the trees whose leftmost leaves are those of two roots.

    Args:
        one: One tree.
        other: The other.
        root: An element of `one.roots`.
        other_root: An element of `other.roots`.
        below: The distance between the trees below two elements, ``[one, other]``; those of smaller
            roots are given, those with the leftmost leaf of these roots are written.
    """
    start, other_start = one.first[root], other.first[other_root]
    # before: distances from no elements to the elements from the leftmost leaf up to each.
    before = [list(range(other_root - other_start + 2))]
    for at in range(start, root + 1):
        above = before[-1]
        row = [above[0] + 1]
        for by in range(other_start, other_root + 1):
            column = by - other_start
            changed = min(above[column + 1], row[column]) + 1
            if one.first[at] == start and other.first[by] == other_start:
                renamed = above[column] + (one.names[at] != other.names[by])
                below[at][by] = min(changed, renamed)
                row.append(below[at][by])
            else:
                rest = before[one.first[at] - start][other.first[by] - other_start]
                row.append(min(changed, rest + below[at][by]))
        before.append(row)
