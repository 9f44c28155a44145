"""Options that a run would not use are refused at its start."""

import pytest

from pairweave.models.ter_aligner import TerAligner
from tests.makers import runs, suggesting

SIDES = ("--source_input", "corpus.en", "--target_input", "corpus.de")
TRANSLATED = (*SIDES, "--translation_input", "corpus.mt")
LANGUAGES = ("--source_lang", "en", "--target_lang", "de")
NOWHERE = ("--translator", "ctranslate2:nowhere")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("unused")
    suggesting.write_triples(directory, 40)
    (directory / "tagged").write_text('a <g id="1">b</g>\n')
    (directory / "plain").write_text("c d\n")
    (directory / "links").write_text("0-0 1-1\n")
    return directory


def refusal(directory, *command):
    """Return the one line that a refused command says."""
    status, out, errors = runs.run_here(*command, cwd=directory)
    assert (status, out) == (2, ""), errors
    assert errors.count("\n") == 1
    return errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--methods", "random", "--aligner", "hmm"),
            "--aligner: for the method alignment, which ",
        ),
        (
            ("--methods", "random", *NOWHERE),
            "--translator: for the method alignment, which --metho",
        ),
        (
            ("--methods", "parallel", "--model", "m"),
            "--model: for the method alignment, which --me",
        ),
        (("--methods", "random,parallel", "--beam_size", "2"), "--beam_size: for the method align"),
        (("--methods", "random", "--heuristic", "union"), "--heuristic: for the method alignment"),
        (("--mix", "inf", "--aligner", "hmm"), "alignment, of which --mix inf makes no example"),
        (("--mix", "inf", "--variants", "2"), "--variants: for the method random, of which --mix "),
        (
            ("--methods", "random,alignment", "--mix", "2"),
            "--mix: the ratio of parallel to other examples",
        ),
        (
            ("--methods", "parallel", "--max_masked_share", "1"),
            "--max_masked_share: for the method",
        ),
        (("--hint_letters", "2"), "--hint_letters: applies to --hint letters"),
        (
            ("--aligner", "hmm", "--model", "m", "--fit_pairs", "9"),
            "--fit_pairs: applies to an hmm ",
        ),
        (
            ("--aligner", "hmm", "--vocabulary", "900"),
            "--vocabulary applies to a SentencePiece model",
        ),
    ],
)
def test_suggest_refuses_what_no_method_in_use_needs(directory, options, message):
    command = ("suggest", *TRANSLATED, *LANGUAGES, *options, "--output", "refused")
    assert message in refusal(directory, *command)
    assert not (directory / "refused").exists()


@pytest.mark.parametrize(
    ("option", "value"), [("--translator", "ctranslate2:m"), ("--method", "fragment")]
)
def test_augment_without_tagged_rows_refuses_what_would_find_them(directory, option, value):
    command = ("augment", *SIDES, *LANGUAGES, "--mix", "0", option, value, "--output", "refused")
    assert f"{option}: --mix 0 tags no pair" in refusal(directory, *command)


@pytest.mark.parametrize("job", ["align", "augment"])
def test_a_fitted_model_takes_no_option_of_the_fit(directory, job):
    command = (job, *SIDES, *LANGUAGES, "--model", "m", "--decode", "viterbi", "--output", "no")
    assert "--decode: applies to an hmm that is fitted in the run; the given --model" in refusal(
        directory, *command
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--links", "links", "--decode", "viterbi"),
            "--decode: applies only to an aligner, but links come fr",
        ),
        (("--links", "links", "--fit_pairs", "9"), "but links come from --links; leave it out"),
        (
            ("--attention", "a.npz", "--layer", "3"),
            "--layer: applies only to an aligner, but links come from -",
        ),
        (("--links", "links", "--attention_method", "naive"), "applies to --attention; give both"),
        (("--heuristic", "union"), "--heuristic: combines two directions for --rules paper"),
    ],
)
def test_tags_project_refuses_options_of_links_that_come_otherwise(directory, options, message):
    sides = ("--source_input", "tagged", "--target_input", "plain")
    command = ("tags", "project", *sides, *options, "--output", "projected")
    assert message in refusal(directory, *command)


def test_plain_rows_alone_are_made_without_an_aligner_and_are_the_same_rows(directory):
    command = ("augment", *SIDES, *LANGUAGES, "--workers", "1")
    runs.run_well_here(*command, "--mix", "0", "--output", "plain_rows", cwd=directory)
    assert not (directory / "plain_rows" / "models").exists()
    runs.run_well_here(*command, "--mix", "1", "--output", "mixed", cwd=directory)
    assert (directory / "mixed" / "models" / "hmm").exists()
    plain, mixed = (runs.rows_of(directory / name) for name in ("plain_rows", "mixed"))
    assert plain == [row for row in mixed if row["kind"] == "plain"]
    assert len(plain) > 30


def test_random_spans_are_drawn_without_looking_at_translations(directory, monkeypatch):
    command = ("suggest", *TRANSLATED, *LANGUAGES, "--workers", "1")
    runs.run_well_here(*command, "--methods", "random", "--output", "random", cwd=directory)
    runs.run_well_here(*command, "--methods", "random,alignment", "--output", "both", cwd=directory)
    actual, both = (runs.rows_of(directory / name) for name in ("random", "both"))
    assert actual == [row for row in both if row["method"] == "random"]
    assert len(actual) > 30

    def fail(*_):
        raise AssertionError("translations were aligned")

    monkeypatch.setattr(TerAligner, "align", fail)
    runs.run_well_here(*command, "--methods", "random", "--output", "again", cwd=directory)


def test_the_longest_side_makes_room_for_the_longest_source(tmp_path):
    sources = [" ".join(f"w{n}" for n in range(size)) for size in (150, 199, 201)]
    targets = ["".join(chr(0x4E00 + n) for n in range(size)) for size in (300, 400, 400)]
    (tmp_path / "en").write_text("".join(f"{text}\n" for text in sources))
    (tmp_path / "zh").write_text("".join(f"{text}\n" for text in targets))
    sides = ("--source_input", "en", "--target_input", "zh", "--source_lang", "en")
    command = ("suggest", *sides, "--target_lang", "zh", "--methods", "random", "--workers", "1")
    command += ("--max_token_chars", "999", "--max_source_words", "200")
    made = runs.run_well_here(*command, "--output", "roomy", cwd=tmp_path)
    assert made.startswith("read     3\nkept     2\nrejected 1  filtered 1\n")
    (row,) = runs.rows_of(tmp_path / "roomy", "rejects/part-*.parquet")
    assert row["detail"] == "source length: 201 words, expected 1 to 200"
    narrow = (*command, "--max_tokens", "250", "--allow_empty", "--output", "narrow")
    told = runs.run_well_here(*narrow, cwd=tmp_path)
    assert "rejected 3  too_long 3" in told
    assert "notice: options: --max_tokens 250 applies to every side, so a source of up to" in told
