"""A pipeline that applies its steps at once gives what a runner gives."""

import apache_beam as beam
import pytest
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

from pairweave.pipelines.engines.local.table_pipeline import TablePipeline, UnsupportedStepError


class Held(beam.DoFn):
    """Emits what it holds when a bundle ends."""

    def start_bundle(self):
        self.held = []

    def process(self, element):
        self.held.append(element)

    def finish_bundle(self):
        window = GlobalWindow()
        yield WindowedValue(sum(self.held), window.max_timestamp(), (window,))


class Both(beam.PTransform):
    """A step of several."""

    def expand(self, numbers):
        odd = numbers | "Odd" >> beam.Filter(lambda number: number % 2)
        total = beam.pvalue.AsSingleton(odd | "Total" >> beam.CombineGlobally(sum))
        every = beam.pvalue.AsList(odd)
        doubled = numbers | "Double" >> beam.FlatMap(lambda number: [number, 2 * number])
        keyed = doubled | "Key" >> beam.Map(lambda number: (number % 3, number))
        groups = keyed | "Group" >> beam.GroupByKey() | "Again" >> beam.Reshuffle()
        return groups | "Join" >> beam.Map(
            lambda group, total, every: (group[0], sorted(group[1]), total, sorted(every)),
            total,
            every=every,
        )


def graph(pipeline):
    numbers = pipeline | "Numbers" >> beam.Create([1, 2, 3, 4, 5])
    joined = numbers | "Both" >> Both()
    held = numbers | "Held" >> beam.ParDo(Held())
    count = numbers | "Count" >> beam.combiners.Count.Globally()
    return (joined, held, count) | "All" >> beam.Flatten()


def test_steps_give_what_a_runner_gives():
    actual = graph(TablePipeline()).elements
    assert (15 in actual, 5 in actual) == (True, True)
    with beam.Pipeline("FnApiRunner") as pipeline:
        assert_that(graph(pipeline), equal_to(actual), label="same")


def test_a_step_can_be_left_out():
    pipeline = TablePipeline(without=("Fail",))
    rows = pipeline | "Rows" >> beam.Create([1])
    assert (rows | "Fail" >> beam.Map(lambda number: number / 0)).elements == []
    with pytest.raises(ZeroDivisionError):
        _ = rows | "Other" >> beam.Map(lambda number: number / 0)


def windowed(number, window=beam.DoFn.WindowParam):
    return number, window


class Windowed(beam.DoFn):
    def process(self, element, window=beam.DoFn.WindowParam):
        yield element, window


@pytest.mark.parametrize("step", [beam.Map(windowed), beam.ParDo(Windowed())], ids=["map", "dofn"])
def test_a_step_that_needs_a_runner_is_named(step):
    rows = TablePipeline() | "Rows" >> beam.Create([1])
    with pytest.raises(UnsupportedStepError, match=r"DoFn|Windowed"):
        _ = rows | "Window" >> step
