"""A sample has a fixed share of each family and area, and a larger one contains a smaller one."""

from collections import Counter

import pytest

pytest.importorskip("cosmic_ray", reason="needs the extra `mutants`")

from tests.mutants import sample

MODULE = '''"""A module."""

TABLE = {"a": 1, "b": 2, "c": 3}


class ToyOptions:
    most: int = 3


def count(one: int, two: int) -> int:
    """Count."""
    if one > two:
        raise ValueError("too many")
    return one - two


def work(options: ToyOptions, found: list[int]) -> int:
    """Work."""
    found.append(options.most + 1)
    found.append(options.most * 2)
    return count(len(found), 7) + count(options.most, 1)
'''


@pytest.fixture
def tree(tmp_path):
    """Return a project with one module in each area."""
    for path in ("transforms/toy.py", "pipelines/run/toy.py", "pipelines/jobs/outside.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(MODULE)
    return tmp_path


def test_areas_and_families_have_their_shares(tree):
    drawn = sample.draw(tree, 20, 1)
    shares = Counter(sample.SHARES)
    assert Counter((fault.area, fault.family) for fault in drawn) == {
        (area, family): shares[family] for area in ("pure", "pipelines") for family in shares
    }
    assert {fault.path for fault in drawn} == {"transforms/toy.py", "pipelines/run/toy.py"}
    assert len({fault.key for fault in drawn}) == 20


def test_a_larger_sample_contains_a_smaller_one_and_another_seed_draws_others(tree):
    drawn = sample.draw(tree, 16, 1)
    assert sample.draw(tree, 7, 1) == drawn[:7]
    assert sample.draw(tree, 16, 1) == drawn
    assert sample.draw(tree, 16, 2) != drawn


def test_where_a_family_has_no_more_places_the_others_go_on(tree):
    drawn = sample.draw(tree, 1000, 1, ["pipelines"])
    actual = Counter(fault.family for fault in drawn)
    assert actual.pop(sample.OPERATOR) > 10
    assert actual == {
        sample.OMITTED_LINE: 3,
        sample.EXCHANGED_ARGUMENTS: 2,
        sample.IGNORED_OPTION: 3,
        sample.OMITTED_ENTRY: 1,
    }
    assert {fault.path for fault in drawn} == {"pipelines/run/toy.py"}
