"""The flags of Beam's pipeline options, which may follow a job's own."""

import argparse
import functools
import importlib.util
import re
from pathlib import Path
from typing import Any, cast

from pairweave.pipelines.command_line.parsers import Parser

OF_JOB_SERVER = ("--flink_conf_dir",)
"""Options of Beam's job server that Beam's Python code does not declare."""

_BEAM_OPTION_FILES = (
    "options/pipeline_options.py",
    "runners/dask/dask_runner.py",
    "runners/render.py",
    "yaml/options.py",
)
"""Where Beam declares pipeline options; a test compares them with the options of its parser."""


@functools.cache
def in_source() -> frozenset[str]:
    """Return the flags in the source of those modules of Beam that declare options."""
    beam = importlib.util.find_spec("apache_beam")
    folders = [] if beam is None else beam.submodule_search_locations or []
    paths = (Path(folder, name) for folder in folders for name in _BEAM_OPTION_FILES)
    texts = (path.read_text(encoding="utf-8") for path in paths if path.exists())
    return frozenset(flag for text in texts for flag in re.findall(r"""["'](--[\w-]+)["']""", text))


def actions() -> dict[str, argparse.Action]:
    """Return the flags of Beam's pipeline options, each with what its parser does."""
    return parser_of("pairweave")._option_string_actions


@functools.cache
def parser_of(prog: str) -> Parser:
    """Return a parser for the flags of Beam's pipeline options."""
    from apache_beam.options.pipeline_options import PipelineOptions

    parser: Any = Parser(prog=prog, add_help=False, allow_abbrev=False, conflict_handler="resolve")
    for group in PipelineOptions.__subclasses__():
        if group.__module__.startswith("apache_beam."):
            group._add_argparse_args(parser)
    for flag in OF_JOB_SERVER:
        parser.add_argument(flag)
    return cast("Parser", parser)
