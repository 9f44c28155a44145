"""Each family makes the faults that a tired developer makes, and leaves the rest of the text."""

import ast
import difflib

import pytest

from tests.mutants.families.edits import Source
from tests.mutants.families.exchanged_arguments import exchanged_arguments, signatures_of
from tests.mutants.families.ignored_options import defaults_of, ignored_options
from tests.mutants.families.omitted_entries import omitted_entries
from tests.mutants.families.omitted_lines import omitted_lines


def changed_lines(source, changes):
    """Return the lines that each change makes, and check that it says where it is."""
    before = source.text.splitlines()
    result = []
    for change in changes:
        after = source.replaced(change.edits).splitlines()
        ast.parse("\n".join(after))
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        changed = [code for code in matcher.get_opcodes() if code[0] != "equal"]
        assert changed[0][1] < change.line <= changed[-1][2]
        made = [line.strip() for _, _, _, start, end in changed for line in after[start:end]]
        result.append("\n".join(made))
    return result


LINES = Source('''"""Words — with a byte more each."""
import sys

sys.path.append("a")

def work(rows, kept, made):
    """Say what it does."""
    names = [é for é in rows]
    kept.append("é")
    if not names:
        raise ValueError(
            "none"
        )
    rows = sorted(rows)
    made["a"] += 1
    made["b"] = 2
    for row in rows:
        if row:
            continue
        yield row
    if TYPE_CHECKING:
        import typing
    return names
''')


def test_statements_are_omitted_whose_module_still_runs():
    assert len(changed_lines(LINES, omitted_lines(LINES))) == 7
    made = [
        ast.unparse(ast.parse(LINES.replaced(change.edits)).body[3])
        for change in omitted_lines(LINES)
    ]
    whole = ast.unparse(LINES.tree.body[3])
    parts = [
        "kept.append('é')",
        "raise ValueError('none')",
        "rows = sorted(rows)",
        "made['a'] += 1",
        "made['b'] = 2",
        "continue",
        "yield row",
    ]
    assert set(made) == {whole.replace(part, "pass") for part in parts}


ENTRIES = Source("""RULES = {"long": 1, "é": 2, "empty": 3}
PAIR = ("source", "target")
SIZES = (1, 2, 3)
NAMES = frozenset({"a", "b"})
ROWS = (*("a", "b", "c"), *("d",))
__all__ = ["RULES", "PAIR"]

def work(options):
    digests = ("model", "encoder", "idf")
    sizes = (options.a, options.b, options.c)
    return [1, 2]

class Job:
    kinds = [
        "one",  # the first
        "two",
    ]
""")


def test_each_entry_of_a_table_is_omitted_and_nothing_else():
    assert changed_lines(ENTRIES, omitted_entries(ENTRIES)) == [
        'RULES = {"é": 2, "empty": 3}',
        'RULES = {"long": 1, "empty": 3}',
        'RULES = {"long": 1, "é": 2}',
        'PAIR = ("target",)',
        'PAIR = ("source",)',
        'NAMES = frozenset({"b"})',
        'NAMES = frozenset({"a"})',
        'ROWS = (*("b", "c"), *("d",))',
        'ROWS = (*("a", "c"), *("d",))',
        'ROWS = (*("a", "b"), *("d",))',
        'digests = ("encoder", "idf")',
        'digests = ("model", "idf")',
        'digests = ("model", "encoder")',
        "",
        '"one",',  # its comment goes with the other
    ]


OPTIONS = Source("""class ReadOptions:
    most: int = Field(250, ge=1, description="é")
    names: tuple[str, ...] = Field(default_factory=tuple)
    output: str = Field(min_length=1)
    wait: bool = True

    def check(self):
        return self.most

class Table:
    def check(self):
        return self.most

def work(options, table, run):
    print(f"{options.most}")
    run.options.wait = table.wait
    return options.most, run.options.names, options.output
""")


def test_an_option_is_replaced_by_its_default_where_it_is_read():
    changes = ignored_options(OPTIONS, defaults_of([OPTIONS]))
    assert changed_lines(OPTIONS, changes) == [
        "return 250",
        "return 250, run.options.names, options.output",
        "return options.most, (), options.output",
    ]


def test_an_option_with_several_defaults_has_a_fault_for_each():
    other = Source("class AlignOptions:\n    most: int = 32_000\n")
    changes = ignored_options(OPTIONS, defaults_of([OPTIONS, other]))
    assert [line for line in changed_lines(OPTIONS, changes) if line.startswith("return 250,")]
    assert len([*ignored_options(OPTIONS, {"most": ["1", "2"]})]) == 4


CALLS = Source("""from pairweave.transforms.ids import near
from pairweave.transforms import ids

class Place:
    def move(self, x: int, y: int) -> None:
        self.move(y, x)

class Size:
    width: int
    height: int

def count(one: str, two: int, three: str, *, four: str = "") -> int:
    return near(1, 2) + ids.near(0, 0) + unknown(1, 2)

def work():
    Size(3, height=4)
    return count("a", 1, "é", four="c"), count(*"ab")
""")
IDS = Source("def near(a: int, b: int) -> int:\n    return a - b\n")


def test_arguments_of_one_type_are_exchanged_in_calls_of_the_projects_own_code():
    known = {"pairweave.transforms.ids": IDS, "pairweave.pipelines.x": CALLS}
    changes = exchanged_arguments(CALLS, "pairweave.pipelines.x", signatures_of(known))
    assert sorted(changed_lines(CALLS, changes)) == [
        "Size(4, height=3)",
        'return count("a", 1, "c", four="é"), count(*"ab")',
        'return count("c", 1, "é", four="a"), count(*"ab")',
        'return count("é", 1, "a", four="c"), count(*"ab")',
        "return near(2, 1) + ids.near(0, 0) + unknown(1, 2)",
        "self.move(x, y)",
    ]


@pytest.mark.parametrize("source", [LINES, ENTRIES, OPTIONS, CALLS])
def test_no_edit_leaves_the_text_as_it_is(source):
    assert source.replaced(()) == source.text
