"""Pages of the documentation, their blocks of code, and the commands in these."""

import dataclasses
import re
import shlex
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "generated" not in path.parts),
]
SITE = [
    *PAGES,
    *(path for path in sorted((ROOT / "deploy").rglob("*.md")) if "target" not in path.parts),
    *(ROOT / name for name in ("SECURITY.md", "CODE_OF_CONDUCT.md")),
    *(
        ROOT / name / "README.md"
        for name in ("examples", "examples/plugin", "tests", "tests/benchmarks")
    ),
]
"""All pages whose commands and links are checked; those of `PAGES` are also run."""
VARIABLES = {"BUCKET": "gs://a-bucket", "REGION": "europe-west4", "VERSION": "0.1.0"}
"""Values of the variables in commands; any other is its own name in lower case."""
FENCE = re.compile(r"^( *)```([a-z]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
CONFIGURED = re.compile(r"# (pairweave \S+ .*?--config (\S+).*?)(?:  .*)?\n")


@dataclasses.dataclass(frozen=True)
class Block:
    """A block of code of a page."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        """Return the page and the line, for messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def configuration(self) -> str | None:
        """Return the name that the first line of a YAML block gives it, in its command."""
        match = CONFIGURED.match(self.text) if self.language == "yaml" else None
        return match[2] if match else None


def blocks(page: Path) -> list[Block]:
    """Return the blocks of code of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, match.start()) + 2, match[2], textwrap.dedent(match[3]))
        for match in FENCE.finditer(text)
    ]


def commands(block: Block) -> list[str]:
    """Return the commands of a block: its lines, or the first comment of a YAML file."""
    if block.configuration:
        return [CONFIGURED.match(block.text)[1]]
    if block.language != "sh":
        return []
    lines = block.text.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def words(command: str) -> list[str]:
    """Return the words of the first program of a command, without comment and redirection."""
    given = re.sub(r"\$([A-Z]+)", lambda name: VARIABLES.get(name[1], name[1].lower()), command)
    parts = shlex.split(given, comments=True)
    ends = [position for position, word in enumerate(parts) if word in ("|", ">", "<", "&&")]
    return parts[: ends[0]] if ends else parts


def own_commands(page: Path) -> list[tuple[Block, str]]:
    """Return the commands of pairweave on a page, with their blocks."""
    pairs = [(block, command) for block in blocks(page) for command in commands(block)]
    return [(block, command) for block, command in pairs if command.startswith("pairweave ")]
