"""Make Beam build graphs faster by keeping what it recomputes for one job.

The tests run hundreds of small jobs. A third of the time of each goes into looking up the same
facts of the same steps again and again, and into compressing each step as if it were large. To
weigh a side input, Beam goes through all modules. Tests that run a job in their own process save
that time; commands that tests start as processes run Beam as it is.
"""

import argparse
import bz2
import functools
import inspect
import sys
import types
import weakref

from apache_beam.internal import cloudpickle_pickler
from apache_beam.options import pipeline_options
from apache_beam.runners.worker import statecache
from apache_beam.transforms import core, userstate


@functools.cache
def install():
    """Replace these parts of Beam in this process."""
    argparse._ = str  # Beam makes tens of parsers; each would look for translations of their titles
    core.get_function_args_defaults = _arguments_of(core.get_function_args_defaults)
    userstate.get_dofn_specs = _specs_of(userstate.get_dofn_specs)
    pipeline_options.PipelineOptions._visible_option_list = _options_of
    statecache.get_deep_size = _size_of
    cloudpickle_pickler.bz2 = types.SimpleNamespace(compress=_compress, decompress=bz2.decompress)


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


def _specs_of(specs_of):
    """Keep which classes of steps have neither state nor timers; Beam asks that of a step often."""
    without = weakref.WeakSet()

    @functools.wraps(specs_of)
    def kept(step):
        # A method that a single step was given may ask for state.
        if any(map(inspect.ismethod, vars(step).values())):
            return specs_of(step)
        if type(step) in without:
            return set(), set()
        specs = specs_of(step)
        if not any(specs):
            without.add(type(step))
        return specs

    return kept


def _options_of(options):
    """Return the names of options as Beam does, without those that Python gives each object."""
    return sorted(name for name in vars(options._visible_options) if name[0] != "_")


def _size_of(*values):
    """Return the bytes of values themselves; only a large cache hangs on what they hold."""
    return sum(map(sys.getsizeof, values))


def _compress(data, compresslevel):  # noqa: ARG001 - as Beam calls it
    """Compress in blocks of 100 kB; to prepare one of 900 kB takes longer than a step itself."""
    return bz2.compress(data, 1)
