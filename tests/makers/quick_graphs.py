"""Make Beam build graphs faster by caching what it recomputes for one job.

Building and running the graph of a small job takes half a second of CPU time, and the tests run
hundreds. Half of it goes into parsing the same flags for each step, and into reading the
signatures of the same methods of the same steps. Both depend on nothing else, so tests that run a
job in their own process keep them; commands that tests start as processes run Beam as it is.
"""

import argparse
import functools
import inspect
import weakref

from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.transforms import core


@functools.cache
def install():
    """Keep parsed flags and signatures from now on."""
    PipelineOptions.view_as = _view_as(PipelineOptions.view_as)
    core.get_function_args_defaults = _arguments_of(core.get_function_args_defaults)


def _view_as(view_as):
    parsed = {}

    @functools.wraps(view_as)
    def kept(self, cls):
        if self._flags is None:
            return view_as(self, cls)
        key = cls, tuple(self._flags)
        if key not in parsed:
            parsed[key] = vars(cls(list(self._flags))._visible_options)
        view = cls.__new__(cls)
        values = {name: list(v) if isinstance(v, list) else v for name, v in parsed[key].items()}
        view._flags = self._flags
        view._visible_options = argparse.Namespace(**values)
        view._all_options = self._all_options
        for name, value in values.items():
            self._all_options.setdefault(name, value)
        return view

    return kept


def _arguments_of(arguments_of):
    known = weakref.WeakKeyDictionary()

    @functools.wraps(arguments_of)
    def kept(function):
        if not inspect.ismethod(function):
            return arguments_of(function)
        if function.__func__ not in known:
            known[function.__func__] = arguments_of(function)
        names, defaults = known[function.__func__]
        return list(names), list(defaults)

    return kept
