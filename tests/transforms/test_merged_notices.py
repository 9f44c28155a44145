import pytest

from pairweave.transforms.counted import counted
from pairweave.transforms.merged_notices import merged
from pairweave.transforms.units import Notice


def notices(message, counts):
    return [
        Notice("code", f"f{number}.xlf", count, message.format(count))
        for number, count in enumerate(counts)
    ]


@pytest.mark.parametrize(
    "message", ["{} segments have no target", "of 12, {} have no target", "{}"]
)
@pytest.mark.parametrize("counts", [(1, 1, 1, 1), (1, 2, 1, 3), (5, 6, 7, 1)])
def test_counts_of_files_that_say_the_same_are_added(message, counts):
    (notice,) = merged(notices(message, counts))
    assert notice.file == "f0.xlf and 3 other files"
    assert notice.count == sum(counts)
    assert notice.message == message.format(sum(counts))


@pytest.mark.parametrize("counts", [(1, 1, 1, 1), (1, 2, 1, 3), (2, 2, 2, 1)])
def test_one_and_several_say_the_same(counts):
    each = [
        Notice("code", f"f{number}.xlf", count, f"left out: {counted(count, 'segment')} of 99")
        for number, count in enumerate(counts)
    ]
    (notice,) = merged(each)
    assert notice.message == f"left out: {sum(counts)} segments of 99"
    assert [one.message for one in merged(each[:1])] == [each[0].message]


def test_a_count_with_a_comma_is_one_number():
    assert merged(notices("{:,} of 1,100 rows", (100, 1_200, 3, 4)))[0].message == (
        "1,307 of 1,100 rows"
    )


def test_files_up_to_three_are_named_one_by_one():
    assert len(merged(notices("{} rows", (1, 1, 1)))) == 3


def test_a_number_that_is_not_the_count_stays():
    (notice,) = merged(notices("{} rows are longer than 1 of 1,000", (4, 5, 6, 7)))
    assert notice.message == "22 rows are longer than 1 of 1,000"
