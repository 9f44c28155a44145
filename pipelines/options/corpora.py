"""From options to the corpora of a job."""

import re
from collections.abc import Iterator
from typing import Any

from pairweave.pipelines.options.base import CorpusOptions, InputOptions
from pairweave.pipelines.options.format_names import FormatOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.formats import registry
from pairweave.transforms.planning.earlier_run import input_of_run
from pairweave.transforms.units import CorpusInput

UNDETERMINED = "und"
"""The language tag of text whose language is not given (BCP 47)."""


def corpora_of(options: InputOptions) -> tuple[CorpusInput, ...]:
    """Return the corpora from flags or a YAML file.

    A corpus in a list inherits the options around the list that it does not set, except for files.

    Raises:
        ConfigError: There is no corpus, or both a list and a single corpus.
    """
    single = CorpusOptions(**{name: getattr(options, name) for name in _corpus_options(options)})
    has_single = bool(single.input or single.source_input or single.target_input or single.from_run)
    if not options.corpora:
        if not has_single:
            raise ConfigError(
                "no input: give --input FILE ..., or --source_input FILE --target_input FILE, "
                "--from_run DIR, or a YAML file with corpora"
            )
        return tuple(_corpus_inputs(single))
    if has_single or single.translation_input or single.corpus is not None:
        raise ConfigError(
            "give corpora in the YAML file, or corpus, --input and --source_input, not both"
        )
    around = {name: getattr(single, name) for name in single.model_fields_set}
    names = [corpus.corpus for corpus in options.corpora]
    corpora: list[CorpusInput] = []
    for corpus in options.corpora:
        if corpus.corpus is None and corpus.licence is not None:
            raise ConfigError("a corpus with a licence needs a name (corpus: ...)")
        if corpus.corpus is not None and names.count(corpus.corpus) > 1:
            raise ConfigError(f"two corpora are named {corpus.corpus}; give each its own name")
        own = {name: getattr(corpus, name) for name in corpus.model_fields_set}
        corpora.extend(_corpus_inputs(CorpusOptions(**{**around, **own})))
    return tuple(corpora)


def _corpus_options(options: InputOptions) -> set[str]:
    return options.model_fields_set & set(CorpusOptions.model_fields)


def _corpus_inputs(corpus: CorpusOptions) -> Iterator[CorpusInput]:
    """Yield the input in files, if there is any, and one for each finished run.

    Raises:
        ConfigError: A corpus of finished runs has a name or a licence: their pairs keep theirs.
    """
    in_files = corpus.input or corpus.source_input or corpus.target_input
    if in_files or not corpus.from_run:
        yield _corpus_input(corpus)
    else:
        for name in ("corpus", "licence"):
            if getattr(corpus, name) is not None:
                raise ConfigError(
                    f"{name}: the pairs of a run (from_run) keep their {name}; leave it out"
                )
    for directory in corpus.from_run:
        yield input_of_run(
            directory, corpus.source_lang, corpus.target_lang, _reading_settings(corpus)
        )


def _reading_settings(corpus: CorpusOptions) -> dict[str, Any]:
    """Return how the rows of a finished run are read, by the names of `CorpusInput`."""
    files = {"input", "source_input", "target_input", "source_lang", "target_lang", "from_run"}
    left_out = {"corpus", "licence", "format", *files, *FormatOptions.model_fields}
    return corpus.model_dump(exclude=left_out)


def _corpus_input(corpus: CorpusOptions) -> CorpusInput:
    values = corpus.model_dump(exclude={"corpus", "licence", "from_run"})
    if corpus.source_lang is None and not _implies_source_lang(corpus):
        values["source_lang"] = UNDETERMINED
    values["target_lang"] = corpus.target_lang or UNDETERMINED
    fields = FormatOptions.model_fields
    given = {name: values.pop(name) for name in fields}
    own = {name: value for name, value in given.items() if value != fields[name].get_default()}
    made = CorpusInput(name=corpus.corpus, format_options=own, **values)
    registry.check_corpus(made)
    return made


def _implies_source_lang(corpus: CorpusOptions) -> bool:
    """Return True if the formats of all files imply a source language, as PO does."""
    if corpus.format is not None and registry.input_format(corpus.format).source_lang is not None:
        return True
    names = [re.sub(r"\.(gz|zst)$", "", name) for name in corpus.input]
    found = registry.extensions() if names else {}
    implying = tuple(ending for ending, each in found.items() if each.source_lang is not None)
    return bool(names) and all(name.endswith(implying) for name in names)
