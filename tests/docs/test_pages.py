"""Links of the documentation lead somewhere, and what it lists is what the code has."""

import re
from pathlib import Path

import pytest

from pairweave.transforms import rejects, screen
from pairweave.transforms.formats import registry
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
