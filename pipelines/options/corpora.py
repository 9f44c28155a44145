"""From options to the corpora of a job."""

import re

from pairweave.pipelines.options.base import CorpusOptions, InputOptions
from pairweave.pipelines.options.format_names import FormatOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.formats import registry
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
    has_single = bool(single.input or single.source_input or single.target_input)
    if not options.corpora:
        if not has_single:
            raise ConfigError(
                "no input: give --input FILE ..., or --source_input FILE --target_input FILE, "
                "or a YAML file with corpora"
            )
        return (_corpus_input(single),)
    if has_single or single.translation_input or single.corpus is not None:
        raise ConfigError(
            "give corpora in the YAML file, or corpus, --input and --source_input, not both"
        )
    around = {name: getattr(single, name) for name in single.model_fields_set}
    names = [corpus.corpus for corpus in options.corpora]
    corpora = []
    for corpus in options.corpora:
        if corpus.corpus is None and corpus.licence is not None:
            raise ConfigError("a corpus with a licence needs a name (corpus: ...)")
        if corpus.corpus is not None and names.count(corpus.corpus) > 1:
            raise ConfigError(f"two corpora are named {corpus.corpus}; give each its own name")
        own = {name: getattr(corpus, name) for name in corpus.model_fields_set}
        corpora.append(_corpus_input(CorpusOptions(**{**around, **own})))
    return tuple(corpora)


def _corpus_options(options: InputOptions) -> set[str]:
    return options.model_fields_set & set(CorpusOptions.model_fields)


def _corpus_input(corpus: CorpusOptions) -> CorpusInput:
    values = corpus.model_dump(exclude={"corpus", "licence"})
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
