"""`--tags_differ` is refused where it would have no effect."""

import pytest

from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.options.corpora import corpora_of
from pairweave.transforms.errors import ConfigError


def options(**given):
    return AugmentOptions.model_validate({"output": "out", **given})


@pytest.mark.parametrize(
    "given",
    [
        {"input": ("a.tsv",), "tags_differ": "keep"},
        {"input": ("a.tsv",), "tags_differ": "reject", "inline_tags": "strip"},
        {"corpora": [{"input": ("a.tsv",), "tags_differ": "keep"}]},
    ],
)
def test_it_is_refused_of_a_corpus_that_does_not_keep_its_tags(given):
    with pytest.raises(ConfigError, match="tags_differ: only with --inline_tags index"):
        corpora_of(options(**given))


@pytest.mark.parametrize(
    "given",
    [
        {"input": ("a.tsv",), "tags_differ": "keep", "inline_tags": "index"},
        {
            "tags_differ": "keep",
            "corpora": [{"input": ("a.tsv",)}, {"input": ("b.tsv",), "inline_tags": "index"}],
        },
        # A night of `refresh` has only the corpora with new files.
        {"tags_differ": "keep", "corpora": [{"input": ("a.tsv",)}]},
        {"input": ("a.tsv",), "inline_tags": "strip"},
    ],
)
def test_it_is_taken_otherwise(given):
    assert len(corpora_of(options(**given))) == len(given.get("corpora", [None]))
