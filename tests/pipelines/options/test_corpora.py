"""Which corpora a job reads: what each of a list says itself goes before what stands around it."""

import pytest

from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.options.corpora import check_run_options, corpora_of
from pairweave.pipelines.options.corpus_options import PairCorpus
from pairweave.transforms.errors import ConfigError


def corpora(**given):
    return corpora_of(AugmentOptions.model_validate({"output": "out", **given}))


def test_what_a_corpus_says_itself_goes_before_what_stands_around_the_list():
    own = {"corpus": "own", "input": ("a.tsv",), "source_lang": "fr", "html_entities": "keep"}
    inheriting = {"corpus": "inheriting", "input": ("b.tsv",)}
    around = {"source_lang": "en", "target_lang": "de", "html_entities": "decode"}
    made = {each.name: each for each in corpora(corpora=[own, inheriting], **around)}
    told = {name: (c.source_lang, c.target_lang, c.html_entities) for name, c in made.items()}
    assert told == {"own": ("fr", "de", "keep"), "inheriting": ("en", "de", "decode")}
    assert [made[name].input for name in ("own", "inheriting")] == [("a.tsv",), ("b.tsv",)]


@pytest.mark.parametrize(
    ("inputs", "source_lang"),
    [
        (("a.po",), None),
        (("a.po", "b.po.gz", "c.po.zst", "d.po.xz", "e.po.bz2"), None),
        (("a.po", "b.tsv"), "und"),
        (("b.tsv", "a.po"), "und"),
        (("a.tsv",), "und"),
    ],
)
def test_only_files_that_are_all_po_imply_english(inputs, source_lang):
    """The reader of PO then says `en`; English of other files would be a guess."""
    (made,) = corpora(input=inputs)
    assert (made.source_lang, made.target_lang) == (source_lang, "und")


def test_a_given_language_goes_before_that_of_the_format():
    (made,) = corpora(input=("a.po",), source_lang="pt-BR", target_lang="gl")
    assert (made.source_lang, made.target_lang) == ("pt-BR", "gl")


def test_a_given_format_implies_its_language_too():
    assert corpora(input=("a.txt",), format="po")[0].source_lang is None
    assert corpora(input=("a.txt",), format="tsv")[0].source_lang == "und"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "no input: give --input FILE ..., or --source_input FILE --target_input FILE, or"),
        (
            {"corpora": [{"input": ("a.tsv",)}], "input": ("b.tsv",)},
            "give corpora in the YAML file, or corpus, --input",
        ),
        (
            {"corpora": [{"input": ("a.tsv",)}], "source_input": ("b",), "target_input": ("c",)},
            "not both",
        ),
        ({"corpora": [{"input": ("a.tsv",)}], "corpus": "x"}, "not both"),
        (
            {"corpora": [{"input": ("a.tsv",), "licence": "mit"}]},
            "a corpus with a licence needs a name",
        ),
        (
            {"corpora": [{"corpus": "x", "input": (name,)} for name in ("a.tsv", "b.tsv")]},
            "two corpora are named x",
        ),
    ],
)
def test_corpora_that_contradict_each_other_are_refused(given, message):
    with pytest.raises(ConfigError) as refused:
        corpora(**given)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"corpus": "x"}, "corpus: the pairs of a run (from_run) keep their corpus"),
        ({"licence": "mit"}, "licence: the pairs of a run (from_run) keep their licence"),
        (
            {"source_field": "1"},
            "source_field: the pairs of a run (from_run) are read from its own columns",
        ),
    ],
)
def test_what_the_pairs_of_a_run_have_already_is_refused(own, told):
    corpus = PairCorpus(from_run=("run",), **own)
    with pytest.raises(ConfigError) as refused:
        check_run_options(corpus, own)
    assert told in str(refused.value)
    check_run_options(corpus, ())  # inherited, for the sake of other corpora
    check_run_options(PairCorpus(from_run=("run",), **dict.fromkeys(own)), own)  # not given
    check_run_options(PairCorpus(input=("a.tsv",), **own), own)
