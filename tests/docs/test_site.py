"""The site of the documentation is built without a warning, and its reference is the code's."""

import doctest
import subprocess
import sys

import pytest

from pairweave.pipelines import cli
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
    for words, (model, about) in actual.items():
        page = reference.options_page(words, model, about)
        rows = [line for line in page.splitlines() if line.startswith("| `--")]
        assert len(rows) == len(model.model_fields), words
    assert "| `--max_tags` | whole number, at least 1, at most" in reference.options_page(
        "augment", *actual["augment"]
    )


def test_the_examples_in_its_docstrings_hold(reference):
    assert doctest.testmod(reference).failed == 0


def test_meanings_are_shown_as_they_are(reference):
    assert reference._cell("with --mix, &#39; or [a|b]") == r"with `--mix`, \&#39; or \[a\|b\]"


def test_columns_have_their_meanings(reference):
    page = reference.columns_page()
    for schema in reference.SCHEMAS.values():
        for field in schema:
            assert column_meanings.MEANINGS[field.name].split("|")[0] in page


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
