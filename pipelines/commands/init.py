"""The command ``init``: looks at files and writes the YAML file of a first run."""

import collections
import itertools
import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import yaml

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.command_line.command_table import COMMANDS
from pairweave.pipelines.commands.command_options import InitOptions
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.filtering import detectors
from pairweave.transforms.formats import registry
from pairweave.transforms.formats.csv import DELIMITERS
from pairweave.transforms.planning.plan import Plan, make_plan
from pairweave.transforms.storage import files
from pairweave.transforms.text.iso_languages import NAMES
from pairweave.transforms.units import CorpusInput, ReadLimits

_LOOK_ROWS = 500
"""Rows at the beginning of the first file in which languages and tags are looked for."""

_TAG = r"</?[A-Za-z][^<>]*>"
_UNKNOWN = "und"


def main(name: str, arguments: Sequence[str]) -> int:
    """Look at files and write a YAML file."""
    options, _ = flags.parse(
        InitOptions, f"pairweave {name}", COMMANDS[name].about, arguments, beam=False
    )
    if files.exists(options.output):
        raise ConfigError(f"{options.output}: already exists; give another --output, or delete it")
    given = _input(options.files)
    plan, of_format = _planned(given)
    text = _yaml({**given, **of_format}, plan, _texts(plan))
    files.write_alone(options.output, text.encode())
    terminal.say(text)
    terminal.say(f"pairweave augment --config {options.output} --output first/")
    return 0


def _input(paths: Sequence[str]) -> dict[str, Any]:
    """Return which option takes the files: two files of text are the sides of a corpus."""
    known = [path for path in paths if _suffixes(path) & registry.extensions().keys()]
    if len(known) == len(paths):
        return {"input": tuple(paths)}
    if known or len(paths) != 2:
        endings = " ".join(registry.extensions())
        raise ConfigError(
            "give files with both sides of each pair "
            f"({endings}), or two files of text, the source and its translation line by line"
        )
    return {"source_input": (paths[0],), "target_input": (paths[1],)}


def _planned(given: dict[str, Any]) -> tuple[Plan, dict[str, str]]:
    """Return the plan of reading the files, and the options of their format that it needs."""
    refused: InputError | None = None
    for name in DELIMITERS:
        options = {} if refused is None else {"csv_delimiter": name}
        corpus = CorpusInput(_UNKNOWN, _UNKNOWN, format_options=options, **given)
        try:
            return make_plan([corpus]), options
        except InputError as error:
            refused = refused or error
            if ".csv" not in _suffixes(error.path):
                break
    assert refused is not None
    raise refused


def _suffixes(path: str) -> set[str]:
    return {suffix.lower() for suffix in PurePath(path).suffixes}


def _texts(plan: Plan) -> pa.Table:
    """Return source and target of the first rows that could be read.

    Raises:
        ConfigError: There are none.
    """
    batches = itertools.chain.from_iterable(
        registry.read_unit(unit, ReadLimits(), _LOOK_ROWS) for unit in plan.units
    )
    first = list(itertools.islice(batches, 1))
    if not first:
        names = " ".join(file.name for file in plan.files)
        raise ConfigError(f"{names}: has no pair to look at; give files with at least one")
    rows = pa.Table.from_batches(first)
    whole = rows.filter(pc.and_(rows["source"].is_valid(), rows["target"].is_valid()))
    if not whole.num_rows:
        row = rows.slice(0, 1).to_pylist()[0]
        raise ConfigError(
            f"{row['file']}:{row['line']}: {row['detail']} [{row['reason']}]; none of the first "
            f"{rows.num_rows:,} rows is a pair that can be read"
        )
    return whole.select(["source", "target"])


def _yaml(given: dict[str, Any], plan: Plan, rows: pa.Table) -> str:
    """Return a commented file of options."""
    languages = {
        side: _language(rows[side].to_pylist(), given.get(f"{side}_input", ()))
        for side in ("source", "target")
    }
    lines = [f"# {file.name}: {file.format}, {file.rows:,} rows" for file in plan.files]
    lines += [f"# {notice}" for notice in plan.notices]
    lines += _written(
        {name: list(each) if isinstance(each, tuple) else each for name, each in given.items()}
    )
    for side, (language, why) in languages.items():
        lines += [f"{line}  # {why}" for line in _written({f"{side}_lang": language})]
    tagged = sum(
        pc.sum(pc.match_substring_regex(rows[side], _TAG)).as_py() or 0
        for side in ("source", "target")
    )
    if tagged:
        lines += [
            f"# {tagged:,} of the first {2 * rows.num_rows:,} texts contain tags: index keeps them "
            "as the tags of their pairs,",
            "# strip removes them, raw takes them for text",
            "inline_tags: strip",
        ]
    lines += [
        "# tagged rows for each row without tags",
        "mix: 1.0",
        "# most tags in a pair",
        "max_tags: 9",
        "# sentences of dev and test sets, which must not be trained on",
        "# exclude: [dev.txt]",
    ]
    return "\n".join(lines) + "\n"


def _written(values: dict[str, object]) -> list[str]:
    """Return a line of YAML for each value."""
    lines = []
    for name, value in values.items():
        # Alone, a word would be followed by the end of a document.
        text = yaml.safe_dump([value], allow_unicode=True, default_flow_style=True, width=10_000)
        lines.append(f"{name}: {text.strip()[1:-1]}")
    return lines


def _language(texts: Iterable[str], paths: Iterable[str]) -> tuple[str, str]:
    """Return the language of one side, and how it is known."""
    named = {part for path in paths for part in re.split(r"[._-]", PurePath(path).name)[1:]}
    by_name = sorted(named & NAMES.keys())
    detected = _detected(texts)
    if detected is None:
        if len(by_name) == 1:
            return by_name[0], "by the file's name"
        return _UNKNOWN, "not known: give the tag of the language, such as en"
    if by_name and detected not in by_name:
        return detected, f"detected, but the file's name says {by_name[0]}: are sides exchanged?"
    return detected, "detected"


def _detected(texts: Iterable[str]) -> str | None:
    """Return the most frequent language of some texts; None without a detector or an answer."""
    for name in ("cld2", "langid"):
        try:
            detector = detectors.load(name)
        except ConfigError:
            continue
        found = collections.Counter(filter(None, map(detector.detect, texts)))
        return found.most_common(1)[0][0] if found else None
    return None
