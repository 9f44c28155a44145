"""The edit distance of two forests by its definition, for small ones."""

import functools


def parse(structure):
    """Return the forest of a structure: a tuple of ``(name, children)``."""
    children = [[]]
    names = []
    for event in structure:
        if event == "/":
            inside = tuple(children.pop())
            children[-1].append((names.pop(), inside))
        else:
            names.append(event)
            children.append([])
    return tuple(children[0])


def size(forest):
    """Return the number of elements of a forest."""
    return sum(1 + size(inside) for _, inside in forest)


@functools.cache
def distance(one, other):
    """Return the least number of elements to insert, delete or rename.

    The last element of either forest is deleted, or inserted, or both correspond.
    """
    if not one or not other:
        return size(one) + size(other)
    (name, inside), (other_name, other_inside) = one[-1], other[-1]
    return min(
        distance(one[:-1] + inside, other) + 1,
        distance(one, other[:-1] + other_inside) + 1,
        distance(one[:-1], other[:-1]) + distance(inside, other_inside) + (name != other_name),
    )
