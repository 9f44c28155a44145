"""Links of the documentation lead somewhere, and what it lists is what the code has."""

import re
from pathlib import Path

import pytest

from pairweave.pipelines.command_line import command_table
from pairweave.pipelines.commands import completion
from pairweave.pipelines.refresh.gates import Gates
from pairweave.transforms import findings, rejects, screen
from pairweave.transforms.filtering import rules
from pairweave.transforms.formats import registry
from pairweave.transforms.output.documents.manifest_model import Manifest
from tests.docs import pages

LINK = re.compile(r"(?<!\\)\[[^\]]*\]\(([^)\s]+)\)")


def anchors(path):
    """Return the anchors of a page's headings, as forges and MyST make them."""
    text = pages.FENCE.sub("", path.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    shown = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", each).replace("`", "") for each in headings]
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in shown}


@pytest.mark.parametrize("page", pages.SITE, ids=lambda path: str(path.relative_to(pages.ROOT)))
def test_links_lead_to_files_and_headings(page):
    text = pages.FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in LINK.findall(re.sub(r"`[^`\n]*`", "", text)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.is_file(), f"{link}: no such file"
        if anchor:
            assert anchor in anchors(target), f"{link}: no such heading"


def test_the_readme_fits_its_length_and_has_the_pages():
    text = (pages.ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    index = (pages.ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in (pages.ROOT / "docs" / "howto").glob("*.md"):
        assert f"(howto/{page.name})" in index


def test_every_format_is_named():
    text = (pages.ROOT / "docs" / "howto" / "formats.md").read_text(encoding="utf-8")
    words = set(re.findall(r"\.?\w+", text.lower()))
    endings = {ending for actual in registry.input_formats() for ending in actual.extensions}
    assert not (endings | {*registry.export_names(), *registry.input_names()}) - words


TROUBLES = (pages.ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")


def test_messages_are_those_of_the_code():
    table = TROUBLES.partition("## By message")[2].partition("\n## ")[0]
    actual = re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)
    sources = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("models", "pipelines", "transforms")
        for path in Path(pages.ROOT, folder).rglob("*.py")
    )
    joined = re.sub(r'"\s*\n\s*f?"', "", sources)  # literals over several lines
    of_others = {"No space left on device", "File too large", "Disk quota exceeded"}
    assert len(actual) > 15
    assert [each for each in actual if each not in joined and each not in of_others] == []


def test_every_reject_reason_is_explained_in_a_row_of_its_own():
    table = TROUBLES.partition("## Reject reasons")[2]
    explained = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    reasons = [each.value for each in (*screen.ScreenReject, *rejects.Reject)]
    assert sorted(explained) == sorted(reasons)


def test_the_lists_of_commands_are_whole():
    from pairweave.pipelines import cli

    text = (pages.ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`pairweave (\w+)", text))
    assert cli.COMMANDS.keys() <= named


def rows_of(page, heading):
    """Return the first two cells of each row of the tables below a heading of a page."""
    text = (pages.ROOT / "docs" / page).read_text(encoding="utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0] if heading else text
    return re.findall(r"^ *\| (`[^|]+) \| ((?:[^|]|\\\|)+) \|", section, re.MULTILINE)


def test_every_kind_of_finding_is_explained():
    rows = rows_of("howto/check.md", "What it finds")
    assert {name for cell, _ in rows for name in re.findall(r"`(\w+)`", cell)} == {*findings.KINDS}


def test_every_key_of_the_manifest_is_explained():
    rows = rows_of("reference/runs.md", "The manifest")
    named = [name for cell, _ in rows for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted(Manifest.model_fields)


def test_gates_of_refresh_have_these_defaults():
    cells = [cell for cell, _ in rows_of("howto/refresh.md", "Quality gates")]
    found = re.findall(r"`(\w+)` \((none|[\d.,]+)", "\n".join(cells))
    text = (pages.ROOT / "docs/howto/refresh.md").read_text(encoding="utf-8")
    found += re.findall(r"`(nights|min_compared)` \(([\d,]+)\)", text)
    stated = {
        name: None if default == "none" else float(default.replace(",", ""))
        for name, default in found
    }
    assert stated == {
        name: field.default for name, field in Gates.model_fields.items() if name in stated
    }
    without = Gates.model_fields.keys() - stated.keys()
    assert without == {"max_reason", "max_findings"}
    assert all(f"`{name}: {{" in "".join(cells) for name in without)


def test_rules_of_filter_have_these_defaults():
    text = (pages.ROOT / "docs/howto/filter.md").read_text(encoding="utf-8")
    table = text.partition("| reason | rejected by default | option |")[2]
    stated = dict(re.findall(r"`--((?:max|min)_[\w…]+) ([\d.]+)`", table.partition("\n\n")[0]))
    fields = command_table.job_options("filter").model_fields
    for rule in rules.RULES:
        default = stated.get(rule.option, stated["max_…_mismatch"])
        assert fields[rule.option].default == float(default), rule.option


OF_OTHERS = {
    *("copy_files", "e", "external-bin-dir", "f", "first-step", "last-step", "root-dir"),  # GIZA++
    *("conf", "jars", "repo-type", "tsv", "tsv-fields", "vocabs"),  # Spark, hf, Marian
    *("split_digits", "user_defined_symbols_file"),  # SentencePiece
    *("dist", "adjust-vma", "update_golden"),  # pytest, objdump
    *("file", "rm", "tag", "volume"),  # docker
    *("azure_connection_string", "blob_service_endpoint", "disk_size_gb", "flink_master"),  # Beam
    *("max_num_workers", "no_auth", "project", "region", "s3_access_key_id", "s3_endpoint_url"),
    *("s3_secret_access_key", "sdk_container_image", "temp_location"),
}
"""Options on the pages that other programs or Beam have."""


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda path: str(path.relative_to(pages.ROOT)))
def test_options_in_the_text_exist(page):
    commands = (*command_table.COMMANDS, *command_table.SUBCOMMANDS)
    own = {option for name in commands for option in completion.options_of(name)}
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w-])--([a-z][\w-]*)(?!\w*…)", text))
    assert {name for name in named - own - OF_OTHERS if not name.endswith("_")} == set()


def test_no_option_of_other_programs_is_listed_in_vain():
    texts = "".join(page.read_text(encoding="utf-8") for page in pages.PAGES)
    assert [name for name in OF_OTHERS if f"--{name}" not in texts] == []


@pytest.mark.parametrize("page", pages.SITE, ids=lambda path: str(path.relative_to(pages.ROOT)))
def test_targets_of_make_and_programs_of_the_tests_exist(page):
    text = page.read_text(encoding="utf-8")
    makefile = (pages.ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z][a-z-]*)", text, re.MULTILINE)) <= targets
    modules = [name.replace(".", "/") for name in re.findall(r"python -m (tests[.\w]*\w)", text)]
    paths = re.findall(r"(?<![\w/.])tests/[\w/.-]+\.py\b", text)
    found = [*paths, *(name if (pages.ROOT / name).is_dir() else f"{name}.py" for name in modules)]
    assert [name for name in found if not (pages.ROOT / name).exists()] == []
