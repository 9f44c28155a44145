"""Counts as they are shown to people: single numbers, and distributions."""

import re
from collections import defaultdict
from collections.abc import Mapping

MAX_VALUES = 12
"""Values of a distribution that are listed in full outside the report."""

OF_COLUMN = ("% of ", "times ", "half nats ")
"""How the unit begins where the values of a column are counted."""

_OF_RULE = re.compile(r"pairs that (?P<only>only )?(?P<rule>\w+) would reject(?P<first> first)?")
_BY_NUMBER = re.compile(r"(?P<what>.+) with (?P<number>[0-9]+) (?P<unit>.+)")


def split_counts(
    counts: Mapping[str, int],
) -> tuple[dict[str, int], dict[tuple[str, str], dict[int, int]]]:
    """Separate single numbers from distributions, which have the form ``X with N Y``.

    Returns:
        The single numbers by name; and by ``X`` and ``Y`` the number for each ``N``.

    >>> split_counts({"rows": 3, "rows with 1 tags": 2})
    ({'rows': 3}, {('rows', 'tags'): {1: 2}})
    """
    single = {}
    by_number: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for name, number in sorted(counts.items()):
        match = _BY_NUMBER.fullmatch(name)
        if match:
            by_number[match["what"], match["unit"]][int(match["number"])] = number
        else:
            single[name] = number
    return single, dict(by_number)


def split_rules(
    counts: Mapping[str, int],
) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """Separate other counts from those of each rule of `filter`.

    Returns:
        The others by name; and by rule the pairs that it would reject: in ``all``, as the
        ``first`` rule, and as the ``only`` one.

    >>> split_rules({"pairs": 3, "pairs that script would reject": 2})
    ({'pairs': 3}, {'script': {'all': 2}})
    """
    others = {}
    rules: dict[str, dict[str, int]] = defaultdict(dict)
    for name, number in counts.items():
        match = _OF_RULE.fullmatch(name)
        if match:
            rules[match["rule"]][
                "only" if match["only"] else "first" if match["first"] else "all"
            ] = number
        else:
            others[name] = number
    return others, dict(rules)


def short_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts by name, without distributions that only the report shows.

    Those are of more than `MAX_VALUES` values, or of a column's values (`OF_COLUMN`).

    >>> short_counts({"rows with 1 tags": 2, "pairs with 5 % of score": 3})
    {'rows with 1 tags': 2}
    """
    single, by_number = split_counts(counts)
    for (what, unit), found in by_number.items():
        if len(found) <= MAX_VALUES and not unit.startswith(OF_COLUMN):
            single |= {f"{what} with {value} {unit}": found[value] for value in found}
    return dict(sorted(single.items()))
