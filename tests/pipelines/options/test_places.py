"""Every option that names a file, a directory or a model is known wherever such options matter.

An option that is neither in `TEXTS` nor names plugins nor has a role on its field fails the first
test.
"""

import importlib
import json
import pathlib
import re
import typing

import pytest

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.command_line.command_table import COMMANDS
from pairweave.pipelines.engines.dataflow import places
from pairweave.pipelines.options.base import (
    GraphOptions,
    Options,
    PlannedOptions,
    left_out_options,
)
from pairweave.pipelines.recipes import recipe
from pairweave.pipelines.refresh import night_config
from pairweave.pipelines.refresh.chain import table_names
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering.rule_block import RuleBlock
from pairweave.transforms.option_marks import NOT_AT_NIGHT, UNPLANNED, marked
from pairweave.transforms.option_places import role_of
from pairweave.transforms.output.signature_line import InFull, flat_configuration
from pairweave.transforms.plugins.plugin_kind import NamesPlugins

TEXTS = frozenset(
    {
        *("corpus", "licence", "source_lang", "target_lang", "source_field", "target_field"),
        *("document_field", "translation_field", "score_field", "links_field"),
        *("revision", "translator_revision", "token_budget", "accelerator", "template"),
        *("memory", "change", "objectives", "device", "accept", "filter"),
    }
)
"""Options that are texts but no places."""

TEXTS_OF_COMMANDS = frozenset({"aligner", "instruction", "system", "weights", "start", "only"})
"""Such options of commands that are no jobs."""

OPTIONS_ELSEWHERE = ("commands/ablate.py", "options/base.py")
"""Modules with options, besides those whose name ends with ``options``."""

KINDS = {
    "tokens": "sentencepiece:{}",
    "translator": "ctranslate2:{}",
    "scorer": "ctranslate2:{}",
    "reverse_scorer": "transformers:{}",
    "detector": "fasttext:{}",
    "second_aligner": "encoder:{}:layer=8",
}
"""Options with a path behind a kind, and perhaps before settings."""

NOT_OF_WORKERS = frozenset(
    {
        *("glossary", "tag_profile", "fit_lengths", "score_weights"),  # read by the launcher
        *("pharaoh", "scores", "beads", "program_path"),  # written by it; part of the image
    }
)
"""Places that no worker opens."""

BY_DIGEST = frozenset({"encoder", "idf", "projection", "earlier", "known_pairs", "taken_down"})
"""Options that a plan leaves out, and has the digests of what they name under the same names."""


COMPANIONS = {
    "encoder": {"scorer": "yisi2"},
    "idf": {"scorer": "yisi2", "encoder": "owner/name"},
    "projection": {"scorer": "yisi2", "encoder": "owner/name"},
    "glossary": {"method": "glossary"},
    "translator": {"method": "fragment"},
    "links": {"aligner": "given"},
    "attention": {"aligner": "given"},
    "forward_links": {"aligner": "given", "reverse_links": "a.en"},
    "reverse_links": {"aligner": "given", "forward_links": "a.en"},
    "scorer": {"reverse_scorer": "transformers:owner/name"},
    "reverse_scorer": {"scorer": "transformers:owner/name"},
    "program_path": {"aligner": "external", "program": "fast_align"},
    "parallel_source_input": {"parallel_target_input": "a.de"},
    "parallel_target_input": {"parallel_source_input": "a.en"},
    "filter.score_model": {"min_score": 0.5},
}
"""Options that a place needs beside it in a job's options."""

OF_ONE_JOB = {
    ("suggest", "translator"): {},
    ("suggest", "fit_lengths"): {"methods": "random"},
    ("bitext", "encoder"): {"scorer": "encoder"},
}
"""Such options, where those of one job are others."""


def model_of(command):
    module, _, name = COMMANDS[command].options.partition(":")
    return getattr(importlib.import_module(module), name)


def names_plugins_alone(field):
    facts = (isinstance(fact, NamesPlugins) for fact in field.metadata)
    return any(facts) and role_of(field) is None


def is_text(field):
    if names_plugins_alone(field):
        return False
    return "str" in str(field.annotation) and "Literal" not in str(field.annotation)


def texts_of(model):
    """Yield the options of a class that are texts or lists of them, and those of its rules."""
    for name, field in model.model_fields.items():
        if is_text(field):
            yield name
        elif name == "filter":
            yield from (f"filter.{inner}" for inner in texts_of(RuleBlock))


def places_of(model):
    return sorted(name for name in texts_of(model) if name.removeprefix("filter.") not in TEXTS)


def jobs(kind):
    return [job for job in COMMANDS if COMMANDS[job].options and issubclass(model_of(job), kind)]


def cases(kind):
    """Return each place with each job that has it, if its class is of a kind."""
    return [(job, name) for job in jobs(kind) for name in places_of(model_of(job))]


def text_of(name, path):
    return KINDS.get(name.removeprefix("filter."), "{}").format(path)


def made(model, name, value):
    """Return options with one place, unchecked."""
    if name.startswith("filter."):
        block = RuleBlock.model_construct(**{name.removeprefix("filter."): value})
        return model.model_construct(output="", filter=block)
    is_list = typing.get_origin(model.model_fields[name].annotation) is tuple
    return model.model_construct(**{"output": "", name: (value,) if is_list else value})


def subclasses(kind):
    for child in kind.__subclasses__():
        yield child
        yield from subclasses(child)


def test_every_option_of_every_command_that_is_a_place_has_a_role():
    root = pathlib.Path(flags.__file__).parents[1]
    for path in [*root.rglob("*options.py"), *(root / name for name in OPTIONS_ELSEWHERE)]:
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        importlib.import_module(f"pairweave.pipelines.{module}")
    lacking = {
        (kind.__name__, name)
        for kind in subclasses(Options)
        if kind.__module__.startswith("pairweave.")
        for name in {*texts_of(kind)} - TEXTS - TEXTS_OF_COMMANDS
        if not name.startswith("filter.") and role_of(kind.model_fields[name]) is None
    }
    assert lacking == set()


@pytest.mark.parametrize(("job", "name"), cases(GraphOptions))
def test_dataflow_is_told_of_every_file_that_workers_open(job, name):
    last = name.removeprefix("filter.")
    actual = list(places.opened(made(model_of(job), name, text_of(name, "/somewhere"))))
    assert ((last, "/somewhere") in actual) != (last in NOT_OF_WORKERS)


@pytest.mark.parametrize(("job", "name"), cases(GraphOptions))
def test_an_option_with_the_name_of_a_hubs_model_is_marked(job, name):
    if name.startswith("filter."):
        return  # a fitted aligner and a detector are on a disk
    field = model_of(job).model_fields[name]
    assert role_of(field) is not None
    # A data set at hf:// is no model.
    told = bool(re.search(r"hub name|(?<!hf://)OWNER/NAME|encoder:MODEL", field.description))
    told |= name in ("scorer", "reverse_scorer")  # "given as in --translator", "likewise"
    assert role_of(field).on_hub == told


@pytest.mark.parametrize("job", jobs(PlannedOptions))
def test_the_help_shows_what_is_given(job, capsys):
    with pytest.raises(SystemExit):
        flags.parse(model_of(job), f"pairweave {job}", "", ["--help", "all"], beam=False)
    shown = capsys.readouterr().out
    assert [name for name in places_of(model_of(job)) if f"--{name} TEXT" in shown] == []


@pytest.mark.parametrize(
    ("job", "name"),
    [case for case in cases(GraphOptions) if case[0] in table_names.MAIN],
)
def test_a_night_notices_new_content_at_the_same_place(job, name, tmp_path):
    model, last = model_of(job), name.removeprefix("filter.")
    if last in marked(model, UNPLANNED, NOT_AT_NIGHT):
        return
    if last in model.corpus_kind().model_fields:
        assert last in night_config.input_keys()  # whose files the ledger compares
        return
    (tmp_path / "file").write_text("one")
    options = made(model, name, text_of(name, tmp_path / "file"))
    before = night_config.settings_of(job, options)
    (tmp_path / "file").write_text("two")
    assert night_config.settings_of(job, options) != before


@pytest.mark.parametrize(("job", "name"), cases(PlannedOptions))
def test_a_signature_has_the_digest_in_short(job, name):
    model, last = model_of(job), name.removeprefix("filter.")
    elsewhere = {*model.corpus_kind().model_fields, *left_out_options(made(model, name, "x"))}
    if last in elsewhere - BY_DIGEST or last == "exclude":
        return  # in the plan as the corpora, by another name, or as their number
    digest = "0123456789abcdef" * 4
    for value in ([{"sha256": digest}], text_of(name, digest)):
        settings = {"filter": {last: value}} if name.startswith("filter.") else {name: value}
        assert digest not in str(flat_configuration(settings))


def test_a_signature_has_a_program_in_full():
    digest = "0123456789abcdef" * 4
    settings = {"program_version": InFull(digest), "vocabulary": [digest]}
    assert flat_configuration(settings) == settings


@pytest.mark.parametrize(
    ("job", "name"),
    [case for case in cases(PlannedOptions) if case[0] in recipe.jobs()],
)
def test_a_recipe_misses_what_is_not_there_before_its_first_step(job, name, tmp_path, monkeypatch):
    if name in ("output", "pharaoh", "scores", "beads"):
        return
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.en").write_text("a b\n")
    (tmp_path / "a.de").write_text("c d\n")
    lines = {"source_input": "a.en", "target_input": "a.de"}
    more = OF_ONE_JOB.get((job, name), COMPANIONS.get(name, {}))
    step = {"job": job, "source_lang": "en", "target_lang": "de"} | lines
    step |= {"model": "owner/name"} if job == "finetune" else {}
    if name in ("input", "from_run"):
        step = {key: value for key, value in step.items() if key not in lines}
    value = text_of(name, tmp_path / "missing")
    step |= {"filter": {name[7:]: value, **more}} if name.startswith("filter.") else {}
    step |= {} if name.startswith("filter.") else {**more, name: value}
    (tmp_path / "r.yaml").write_text(json.dumps({"steps": [step]}))
    with pytest.raises(ConfigError, match=f"{re.escape(str(tmp_path / 'missing'))}"):
        recipe.read_recipe("r.yaml", "out", {})
