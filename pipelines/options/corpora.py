"""From options to the corpora of a job."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from pairweave.pipelines.options.base import Corpus, InputOptions
from pairweave.pipelines.options.corpus_options import FieldOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.formats import registry
from pairweave.transforms.formats.registry import FormatOptions
from pairweave.transforms.option_marks import AGREES, GIVES_PAIRS, mark_of, marked
from pairweave.transforms.planning.earlier_run import input_of_run
from pairweave.transforms.storage.byte_streams import without_compression
from pairweave.transforms.text.iso_languages import UNDETERMINED
from pairweave.transforms.units import CorpusInput

_OF_RUN = ("corpus", "licence")
"""Options whose values the pairs of a finished run already have."""

_OF_FILES = tuple(FieldOptions.model_fields)
"""Options that say where the texts are in files; the shards of a run do not need them."""


def corpora_of(options: InputOptions) -> tuple[CorpusInput, ...]:
    """Return the corpora from flags or a YAML file.

    A corpus in a list inherits the options around the list that it does not set, except for files.

    Raises:
        ConfigError: There is no corpus, or both a list and a single corpus.
    """
    kind = options.corpus_kind()
    set_options = options.model_fields_set & kind.model_fields.keys()
    single = kind(**{name: getattr(options, name) for name in set_options})
    has_single = _gives(single, "files") or _gives(single, "runs")
    if not options.corpora:
        if not has_single:
            raise ConfigError(f"no input: give {_ways(kind)}, or a YAML file with corpora")
        return tuple(_corpus_inputs(single, set_options))
    has_more = _gives(single, "translations") or getattr(single, "score_input", None)
    if has_single or has_more or single.corpus is not None:
        raise ConfigError(f"give corpora in the YAML file, or corpus, {_ways(kind)}, not both")
    around = {name: getattr(single, name) for name in single.model_fields_set}
    names = [corpus.corpus for corpus in options.corpora]
    corpora: list[CorpusInput] = []
    for corpus in options.corpora:
        if corpus.corpus is None and corpus.licence is not None:
            raise ConfigError("a corpus with a licence needs a name (corpus: ...)")
        if corpus.corpus is not None and names.count(corpus.corpus) > 1:
            raise ConfigError(f"two corpora are named {corpus.corpus}; give each its own name")
        own = {name: getattr(corpus, name) for name in corpus.model_fields_set}
        corpora.extend(_corpus_inputs(kind(**{**around, **own}), own.keys()))
    return tuple(corpora)


def _giving(kind: type[Corpus], what: str) -> list[str]:
    """Return the options that name the files, the runs or the translations of a corpus."""
    fields = kind.model_fields.items()
    return [name for name, field in fields if mark_of(field, GIVES_PAIRS) == what]


def _gives(corpus: Corpus, what: str) -> bool:
    """Return True if a corpus has files, runs or translations, as far as the job allows them."""
    return any(getattr(corpus, name) for name in _giving(type(corpus), what))


def _ways(kind: type[Corpus]) -> str:
    """Return the options by which a job's corpus can be given, for messages."""
    ways = {
        "input": "--input FILE ...",
        "source_input": "--source_input FILE --target_input FILE",
        "from_run": "--from_run DIR",
    }
    return ", or ".join(way for name, way in ways.items() if name in kind.model_fields)


def _corpus_inputs(corpus: Corpus, own: Collection[str]) -> Iterator[CorpusInput]:
    """Yield the input in files, if there are any, and an input for each finished run.

    Args:
        corpus: The corpus, including inherited options.
        own: The options that the corpus sets itself.

    Raises:
        ConfigError: A corpus of finished runs sets an option whose value their pairs already have:
            a name, a licence, or the columns that texts are read from.
    """
    values = corpus.model_dump(exclude={*_OF_RUN, *_giving(type(corpus), "runs")})
    runs = getattr(corpus, "from_run", ())
    check_run_options(corpus, own)
    _check_tags_differ(corpus, own)
    if _gives(corpus, "files") or not runs:
        yield _corpus_input(corpus.corpus, values)
    for directory in runs:
        yield input_of_run(
            directory, values["source_lang"], values["target_lang"], _reading_settings(corpus)
        )


def check_run_options(corpus: Corpus, own: Collection[str]) -> None:
    """Refuse options that do not apply to a corpus that consists of finished runs alone.

    Args:
        corpus: A corpus, including inherited options.
        own: The options that the corpus sets itself.

    Raises:
        ConfigError: The corpus sets an option whose value its pairs already have: a name, a
            licence, or the columns that texts are read from.
    """
    if not getattr(corpus, "from_run", ()) or _gives(corpus, "files"):
        return
    for name in (*_OF_RUN, *_OF_FILES):
        if name in own and getattr(corpus, name) is not None:
            what = f"keep their {name}" if name in _OF_RUN else "are read from its own columns"
            raise ConfigError(f"{name}: the pairs of a run (from_run) {what}; leave it out")


def _check_tags_differ(corpus: Corpus, own: Collection[str]) -> None:
    """Refuse ``tags_differ`` in a corpus whose tags are not kept.

    A corpus in a list may inherit the option without using it, if another corpus keeps its tags.
    """
    if "tags_differ" in own and getattr(corpus, "inline_tags", None) != "index":
        raise ConfigError("tags_differ: only with --inline_tags index; add that, or leave it out")


def _reading_settings(corpus: Corpus) -> dict[str, Any]:
    """Return the settings for reading the rows of a finished run, by the names of `CorpusInput`."""
    kind = type(corpus)
    left_out = {*_OF_RUN, *_giving(kind, "runs"), *_giving(kind, "files"), *_OF_FILES}
    left_out |= {*marked(kind, AGREES), *FormatOptions.model_fields}
    return corpus.model_dump(exclude=left_out)


def _corpus_input(name: str | None, values: dict[str, Any]) -> CorpusInput:
    implied = _implies_source_lang(values.get("format"), values.get("input", ()))
    settings = {key: each for key, each in values.items() if key not in FormatOptions.model_fields}
    if values["source_lang"] is None and not implied:
        settings["source_lang"] = UNDETERMINED
    settings["target_lang"] = values["target_lang"] or UNDETERMINED
    format_options = registry.given_options(values)
    corpus = CorpusInput(name=name, format_options=format_options, **settings)
    registry.check_corpus(corpus)
    return corpus


def _implies_source_lang(form: str | None, inputs: Sequence[str]) -> bool:
    """Return True if the formats of all files imply a source language, as PO does."""
    if form is not None and registry.input_format(form).source_lang is not None:
        return True
    names = [without_compression(name) for name in inputs]
    formats = registry.extensions() if names else {}
    implying = tuple(ending for ending, each in formats.items() if each.source_lang is not None)
    return bool(names) and all(name.endswith(implying) for name in names)
