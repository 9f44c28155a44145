"""Sphinx's configuration: `sphinx-build -W -n -c docs . build/docs`, or `make docs`.

The sources are Markdown all over the repository, so that their links lead to the same places on the
site, in a clone and on a forge. The pages of the reference are written from the code first.
"""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

import reference_pages  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = PROJECT["name"]
version = release = PROJECT["version"]
author = "The pairweave authors"
project_copyright = author
root_doc = "docs/index"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

FOLDERS = {"docs", "deploy", "examples", "tests"}
FILES = {"CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "CODE_OF_CONDUCT.md"}
# Excluded folders are not entered, so `.venv` and links to other folders cost no time.
exclude_patterns = sorted(path.name for path in ROOT.iterdir() if path.name not in FOLDERS | FILES)
include_patterns = [*FILES, *(f"{folder}/**.md" for folder in FOLDERS)]

myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of other libraries, whose pages are not asked for

html_theme = "furo"  # for phones and dark screens, too
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["static"]
html_css_files = ["tables.css"]
smartquotes = False  # two hyphens begin an option
html_title = f"pairweave {version}"
html_show_sourcelink = False

autodoc_typehints = "description"
autodoc_member_order = "bysource"

# Addresses of other people can be away for a while: `make docs-links` asks them.
linkcheck_timeout = 30
linkcheck_anchors = False
linkcheck_ignore = [r"https?://localhost", r"http://127\.0\.0\.1"]

reference_pages.write(ROOT / "docs" / "reference" / "generated")
