"""Paths that are probably no path on this disk are refused, instead of read or written there."""

import pytest

from pairweave.pipelines.command_line import mistaken_paths
from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.transforms.errors import ConfigError
from tests.makers import corpora, runs

LANGS = ("--source_lang", "en", "--target_lang", "de")
PAIRS = ("--source_input", "corpus.en", "--target_input", "corpus.de", *LANGS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("augment", *PAIRS, "--output", "gs:/bucket/out"),
            "--output gs:/bucket/out: has one slash after gs: and would be a path on this disk; "
            "give gs://bucket/out, or ./gs:/bucket/out if you mean a folder named gs:",
        ),
        (
            ("augment", *PAIRS, "--output", "out", "--model", "S3:/bucket/m"),
            "--model S3:/bucket/m: has one slash after S3: and would be a path on this disk; give "
            "S3://bucket/m,",
        ),
        (
            ("augment", "--input", "corpus.tsv", "az:/c/*.tsv", *LANGS, "--output", "out"),
            "--input az:/c/*.tsv: has one slash after az: and would be a path on this disk",
        ),
        (
            ("align", *PAIRS, "--output", "out", "--tokens", "sentencepiece:gs:/bucket/m"),
            "--tokens gs:/bucket/m: has one slash after gs:",
        ),
        (
            ("export", "run", "--format", "tsv", "--output", "file:/data/out"),
            "--output file:/data/out: has one slash after file: and would be a path on this disk; "
            "give /data/out,",
        ),
        (
            ("augment", *PAIRS, "--output", "~/out"),
            "--output ~/out: begins with ~, which would be the name of a folder here; give the "
            "whole path, or ./~/out if you mean that folder",
        ),
        (("align", *PAIRS, "--output", "out", "--pharaoh", "~me/x"), "--pharaoh ~me/x: begins"),
        (("preview", "gs:/bucket/run"), "--directory gs:/bucket/run: has one slash after gs:"),
    ],
    ids=lambda words: words[0] if isinstance(words, tuple) else "",
)
def test_such_a_path_is_refused_before_anything_is_written(tmp_path, words, message):
    corpora.write_corpus(tmp_path, 3)
    before = sorted(tmp_path.iterdir())
    status, _, errors = runs.run_here(*words, cwd=tmp_path)
    assert status == 2
    assert f"pairweave: {message}" in errors
    assert sorted(tmp_path.iterdir()) == before


def test_a_corpus_of_a_file_of_options_is_checked_too(tmp_path):
    (tmp_path / "c.yaml").write_text(
        "corpora: [{corpus: a, input: gs:/b/a.tsv, source_lang: en, target_lang: de}]\noutput: o\n"
    )
    status, _, errors = runs.run_here("augment", "--config", "c.yaml", cwd=tmp_path)
    assert status == 2
    assert "--input gs:/b/a.tsv: has one slash after gs:" in errors


@pytest.mark.parametrize(
    "path", ["gs://b/x", "./gs:/b/x", "gs:b", "logs:/x", "a/gs:/x", "/gs:/x", "./~/x", "a~/x"]
)
def test_other_paths_pass(path):
    mistaken_paths.check(AugmentOptions(input=("a.tsv",), output=path))


def test_a_model_below_the_home_directory_passes():
    mistaken_paths.check(AugmentOptions(input=("a.tsv",), output="o", model="~/model"))


def test_a_refusal_is_an_error_of_the_users_own():
    with pytest.raises(ConfigError, match="hf://o/n"):
        mistaken_paths.check(AugmentOptions(input=("hf:/o/n",), output="o"))
