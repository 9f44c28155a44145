from collections import Counter

from pairweave.transforms.report.histogram_charts import ALL, MAX_CORPORA, charts


def test_corpora_stand_after_all_of_them_in_the_same_bars():
    actual = Counter({("tags", "a", 1): 3, ("tags", "a", 4): 1, ("tags", "b", 2): 4})
    (chart,) = charts(actual)
    assert [each["name"] for each in chart["charts"]] == [ALL, "a", "b"]
    assert [each["total"] for each in chart["charts"]] == [8, 4, 4]
    assert [each["median"] for each in chart["charts"]] == ["2", "1", "2"]
    assert [row["tags"] for row in chart["rows"]] == ["1", "2", "3", "4"]
    assert [row["a"] for row in chart["rows"]] == [0.75, 0, 0, 0.25]
    assert [row[ALL] for row in chart["rows"]] == [3 / 8, 0.5, 0, 1 / 8]
    assert [bar["height"] for bar in chart["charts"][0]["bars"]] == [0.75, 1, 0, 0.25]
    assert chart["charts"][1]["bars"][0]["label"] == "1: 3 (75 %)"


def test_one_corpus_has_one_chart():
    (chart,) = charts({("ratio", "a", 7): 2})
    assert [each["name"] for each in chart["charts"]] == ["a"]
    assert chart["rows"] == [{"times": "1 to 1.1", "a": 1}]


def test_a_corpus_may_have_the_name_of_a_column():
    actual = {("tags", name, 1): 1 for name in ("tags", ALL)}
    (chart,) = charts(actual)
    assert [name for name, _ in chart["columns"]] == ["tags*", f"{ALL}*", ALL, "tags"]


def test_of_many_corpora_the_largest_have_charts_and_all_count():
    actual = {("depth", f"c{number:02}", 1): number + 1 for number in range(30)}
    (chart,) = charts(actual)
    names = [each["name"] for each in chart["charts"]]
    assert names == [ALL, *(f"c{29 - number}" for number in range(MAX_CORPORA))]
    assert chart["left"] == 30 - MAX_CORPORA
    assert chart["charts"][0]["total"] == sum(range(1, 31))


def test_two_runs_stand_in_their_order_without_a_sum():
    actual = {("tags", "second", 1): 9, ("tags", "first", 2): 1}
    (chart,) = charts(actual, together=False)
    assert [each["name"] for each in chart["charts"]] == ["first", "second"]
    assert chart["rows"][0] == {"tags": "1", "first": 0, "second": 1}


def test_a_golden_set_stands_beside_the_masks_of_the_run():
    actual = {("mask", "a", 1): 2, ("tags", "a", 1): 2}
    tags, masks = charts(actual, {"1": 3, "2": 1})
    assert [each["name"] for each in tags["charts"]] == ["a"]
    assert [row["golden set"] for row in masks["rows"]] == [0.75, 0.25]
