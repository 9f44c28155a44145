"""The site of the documentation is built without a warning, and its reference is the code's."""

import doctest
import subprocess
import sys

import pytest

from pairweave.pipelines import cli
from pairweave.transforms import option_places
from pairweave.transforms.counts import counters, histograms
from pairweave.transforms.output import column_meanings
from tests.docs import pages

DOCS = pages.ROOT / "docs"


@pytest.fixture(scope="module")
def reference():
    """Return the module that writes the reference."""
    sys.path.insert(0, str(DOCS))
    try:
        import reference_pages
    finally:
        sys.path.remove(str(DOCS))
    return reference_pages


def test_every_command_and_option_has_a_line(reference):
    actual = reference.option_models()
    assert cli.COMMANDS.keys() == {words.split()[0] for words in actual}
    assert {f"refresh {word}" for word in ("status", "takedown", "vacuum")} <= actual.keys()
    for words, forms in actual.items():
        page = reference.options_page(words, forms)
        rows = [line for line in page.splitlines() if line.startswith("| `")]
        assert len(rows) == sum(len(model.model_fields) for model, _ in forms), words
    assert "| `--max_tags` | whole number, at least 1, at most" in reference.options_page(
        "augment", actual["augment"]
    )


def test_words_without_an_option_are_in_capitals(reference):
    page = reference.options_page("gc", reference.option_models()["gc"])
    assert "| `PLACES` | text, one or more | required |" in page
    assert "`--places`" not in page


def test_both_forms_of_a_command_are_on_its_page(reference):
    forms = reference.option_models()["evaluate suggestions"]
    page = reference.options_page("evaluate suggestions", forms)
    assert "| `HYPOTHESIS` |" in page
    assert "| `--golden` |" in page


def options_of(reference):
    """Yield each option of each command: its words, its name and its field."""
    for words, forms in reference.option_models().items():
        for model, _ in forms:
            for option, field in model.model_fields.items():
                yield words, option, field


def test_every_option_has_a_meaning_and_says_its_default_once(reference):
    for words, option, field in options_of(reference):
        about = field.description
        assert about, f"{words} {option}"
        assert not about.endswith("."), f"{words} {option}"
        if reference._default(field) not in ("", "required", "`false`"):
            assert "(default" not in about, f"{words} {option}"


def test_the_value_of_an_option_that_names_a_place_is_not_called_text(reference):
    of_text = [
        f"{words} {option}"
        for words, option, field in options_of(reference)
        if option_places.role_of(field) and option_places.metavar_of(field) == "TEXT"
    ]
    assert of_text == []


def test_the_examples_in_its_docstrings_hold(reference):
    assert doctest.testmod(reference).failed == 0


def test_meanings_are_shown_as_they_are(reference):
    assert reference._cell("with --mix, &#39; or [a|b]") == r"with `--mix`, \&#39; or \[a\|b\]"


def test_columns_have_their_meanings(reference):
    page = reference.columns_page()
    for schema in reference.SCHEMAS.values():
        for field in schema:
            assert column_meanings.MEANINGS[field.name].split("|")[0] in page
    of_kinds = {"yisi2_layer_": "yisi2_layer_NUMBER", "rule_": "rule_NAME"}
    named = {of_kinds.get(name, name) for name in column_meanings.MEANINGS}
    assert {name for name in named if f"| `{name}` | " not in page} == set()


def test_columns_are_added_by_options_of_the_job(reference):
    for job, option, _ in reference.ADDED:
        assert option.split()[0] in reference.job_options(job).model_fields


def test_every_counter_and_histogram_is_described(reference):
    page = reference.counters_page()
    for name, counter in counters.COUNTERS.items():
        assert f"| `{name}` | {counter.jobs} |" in page
    for kind in counters.RULE_COUNTERS:
        assert f"| `{kind}_REASON` | filter |" in page
    for name, histogram in histograms.HISTOGRAMS.items():
        assert f"| `{name}` | {histogram.by} | {histogram.unit} |" in page


def test_the_api_has_every_public_name(reference):
    import pairweave

    page = reference.api_page()
    assert all(f":: pairweave.{name}" in page for name in pairweave.__all__)


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path):
    for name in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(name, reason="needs the extra docs")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-c", str(DOCS)]
    done = subprocess.run(
        [*command, "-d", str(tmp_path / "trees"), str(pages.ROOT), str(tmp_path / "site")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    options = tmp_path / "site" / "docs" / "reference" / "generated" / "options_augment.html"
    assert "--max_tags" in options.read_text(encoding="utf-8")
