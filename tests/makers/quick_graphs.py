"""Make Beam build graphs faster by caching what it recomputes for one job.

The tests run hundreds of small jobs, and a fifth of the time of each goes into reading the
signatures of the same methods of the same steps. Tests that run a job in their own process keep
them; commands that tests start as processes run Beam as it is.
"""

import functools
import inspect
import weakref

from apache_beam.transforms import core


@functools.cache
def install():
    """Keep signatures from now on."""
    core.get_function_args_defaults = _arguments_of(core.get_function_args_defaults)


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
