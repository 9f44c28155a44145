"""Running the graph of a job in this process, step by step, for tables in memory.

The steps of a graph are functions on batches and shards. A runner of Beam takes seconds to start,
whatever the input: it translates the graph, checks types, encodes every element. For a few thousand
pairs that is most of the time, so here each step is applied as soon as it is added to the pipeline.
The functions are those that a runner calls, so the rows are the same.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.internal import util
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.transforms import core, ptransform
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue


class UnsupportedStepError(Exception):
    """A step that only a runner of Beam can run; its message is the step's name."""


class Values(beam.PCollection[Any]):
    """The elements of a step, all of them in memory."""

    def __init__(self, pipeline: "TablePipeline", elements: list[Any]) -> None:
        super().__init__(pipeline)
        self.elements = elements
        self._windowing = core.Windowing(GlobalWindows())


class TablePipeline(beam.Pipeline):
    """A pipeline that applies each step when it is added.

    It holds the elements of every step whose result is in use, so the input must fit the memory
    several times.
    """

    def __init__(self, without: Iterable[str] = ()) -> None:
        """Make an empty pipeline.

        Args:
            without: Labels of steps to leave out; they give no element.
        """
        # The constructor of the base class would make a runner and check its options.
        self.runner = None  # type: ignore[assignment]
        self._options = PipelineOptions([])
        self._without = frozenset(without)

    def apply(self, transform: Any, pvalueish: Any = None, label: str | None = None) -> Any:  # noqa: ANN401
        """Apply a step to its input.

        Raises:
            UnsupportedStepError: It needs a runner.
        """
        if isinstance(transform, ptransform._NamedPTransform):
            return self.apply(transform.transform, pvalueish, label or transform.label)
        if label in self._without:
            return Values(self, [])
        elements = self._primitive(transform, pvalueish)
        if elements is not None:
            return Values(self, list(elements))
        outputs = transform.expand(pvalueish)
        if isinstance(outputs, beam.PCollection) and not isinstance(outputs, Values):
            raise UnsupportedStepError(type(transform).__name__)
        return outputs

    def _primitive(self, transform: Any, inputs: Any) -> Iterable[Any] | None:  # noqa: ANN401
        """Return the elements of a primitive step; None for one composed of other steps."""
        if isinstance(transform, beam.Create):
            return transform.values
        if isinstance(transform, beam.Reshuffle):
            return _elements(inputs)
        if isinstance(transform, beam.Flatten):
            return (element for part in inputs for element in _elements(part))
        if isinstance(transform, beam.GroupByKey):
            return _grouped(_elements(inputs))
        if isinstance(transform, beam.CombineGlobally):
            return _combined(transform, _elements(inputs))
        if isinstance(transform, beam.ParDo):
            return _mapped(transform, _elements(inputs))
        if transform.__class__.__module__.startswith("apache_beam.ml"):
            raise UnsupportedStepError(type(transform).__name__)
        return None


def _elements(inputs: object) -> list[Any]:
    if not isinstance(inputs, Values):
        raise UnsupportedStepError(type(inputs).__name__)
    return inputs.elements


def _grouped(pairs: Iterable[tuple[Any, Any]]) -> Iterable[tuple[Any, list[Any]]]:
    groups: dict[Any, list[Any]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups.items()


def _combined(step: beam.CombineGlobally, elements: list[Any]) -> list[Any]:
    if step.args or step.kwargs or step.as_view:
        raise UnsupportedStepError("CombineGlobally")
    if not elements and not step.has_defaults:
        return []
    combine = (
        step.fn if isinstance(step.fn, beam.CombineFn) else core.CombineFn.from_callable(step.fn)
    )
    accumulator = combine.create_accumulator()
    for element in elements:
        accumulator = combine.add_input(accumulator, element)
    return [combine.extract_output(accumulator)]


def _mapped(step: beam.ParDo, elements: list[Any]) -> Iterator[Any]:
    function: Any = step.fn
    if _wants_more(function):
        raise UnsupportedStepError(type(function).__name__)
    sides = [_side(side) for side in step.side_inputs]
    positional, named = util.insert_values_in_args(step.args, step.kwargs, sides)
    function.setup()
    function.start_bundle()
    for element in elements:
        yield from _plain(function.process(element, *positional, **named))
    yield from _plain(function.finish_bundle())
    function.teardown()


def _wants_more(function: Any) -> bool:  # noqa: ANN401
    """Tell whether a function needs more from a runner than its element, such as its window."""
    wrapped = getattr(function, "_fn", None)
    called = [function.process, wrapped, getattr(wrapped, "_argspec_fn", None)]
    defaults = [
        each
        for function_part in called
        for each in getattr(function_part, "__defaults__", None) or ()
    ]
    return any(isinstance(default, core._DoFnParam) for default in defaults)


def _plain(outputs: Iterable[Any] | None) -> Iterator[Any]:
    for output in outputs or ():
        yield output.value if isinstance(output, WindowedValue) else output


def _side(side: beam.pvalue.AsSideInput) -> Any:  # noqa: ANN401
    """Return the value that a step gets for a side input."""
    elements = _elements(side.pvalue)
    if isinstance(side, beam.pvalue.AsSingleton) and len(elements) == 1:
        return elements[0]
    if isinstance(side, beam.pvalue.AsList | beam.pvalue.AsIter):
        return list(elements)
    raise UnsupportedStepError(type(side).__name__)
