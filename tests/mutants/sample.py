"""Draws a sample of faults: a fixed share of each family and of each area of the code."""

import ast
import hashlib
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants import modules
from tests.mutants.families import operators
from tests.mutants.families.edits import Change, Position, Source
from tests.mutants.families.exchanged_arguments import exchanged_arguments, signatures_of
from tests.mutants.families.ignored_options import defaults_of, ignored_options
from tests.mutants.families.omitted_entries import omitted_entries
from tests.mutants.families.omitted_lines import omitted_lines

OPERATOR = "operator"
OMITTED_LINE = "omitted-line"
EXCHANGED_ARGUMENTS = "exchanged-arguments"
IGNORED_OPTION = "ignored-option"
OMITTED_ENTRY = "omitted-entry"

SHARES = (
    *(OPERATOR, OMITTED_LINE, OPERATOR, EXCHANGED_ARGUMENTS, OPERATOR),
    *(IGNORED_OPTION, OPERATOR, OMITTED_LINE, OPERATOR, OMITTED_ENTRY),
)
"""The family of each fault of ten: half are operators, a fifth omitted lines, and so on."""

Site = tuple[str, Position, Position]
Way = tuple[str, int]
Sites = dict[Site, list[Way]]


@dataclass(frozen=True)
class Fault:
    """One change of one module.

    Attributes:
        path: The module.
        family: The kind of fault.
        operator: The operator that makes it; for a fault of meaning, the family again.
        occurrence: Which of those that the operator can make in this module it is.
        line: The line that tests must run to notice it.
        source: The module with the fault.
    """

    path: str
    family: str
    operator: str
    occurrence: int
    line: int
    source: str

    @property
    def key(self) -> str:
        """What names the fault, as long as its module stays as it is."""
        return f"{self.path}:{self.line} {self.operator} {self.occurrence}"

    @property
    def area(self) -> str:
        """The part of the code in which it is."""
        return modules.area_of(self.path)


def draw(tree: Path, number: int, seed: int, areas: Sequence[str] = modules.AREAS) -> list[Fault]:
    """Return faults of the tree, drawn by hash and seed.

    Areas take turns, and families as `SHARES` says. Places in the code are drawn, then one fault of
    each: an operator with eleven alternatives counts no more than one with two. A smaller sample
    lies inside a larger one.
    """
    project = Project(tree)
    rows = {
        (area, family): _drawn(Families(project, area), family, seed)
        for area in areas
        for family in dict.fromkeys(SHARES)
    }
    drawn: list[Fault] = []
    turn = 0
    while rows and len(drawn) < number:
        # Each round of the shares begins with another area, so that each area meets each family.
        round_number, place = divmod(turn, len(SHARES))
        stratum = areas[(round_number + place) % len(areas)], SHARES[place]
        fault = next(rows[stratum], None) if stratum in rows else None
        if fault is None:
            rows.pop(stratum, None)
        else:
            drawn.append(fault)
        turn += 1
    return drawn


class Project:
    """The sources, with what the families need to know of all of them."""

    def __init__(self, tree: Path) -> None:
        """Parse the sources."""
        self.tree = tree
        self.sources = {
            str(path.relative_to(tree)): Source(path.read_text()) for path in modules.sources(tree)
        }
        self.defaults = defaults_of(self.sources.values())
        self.signatures = signatures_of(
            {modules.dotted(tree, tree / path): source for path, source in self.sources.items()}
        )


class Families:
    """All faults of one area, by family."""

    def __init__(self, project: Project, area: str) -> None:
        """Find the modules of the area."""
        self.project = project
        self.modules = [
            str(path.relative_to(project.tree)) for path in modules.modules_of(project.tree, area)
        ]

    def sites(self, family: str) -> Sites:
        """Return the places that can have a fault of a family, each with its faults."""
        result: Sites = defaultdict(list)
        if family == OPERATOR:
            for path in self.modules:
                for start, end, name, occurrence in operators.mutations(self.project.tree / path):
                    result[path, start, end].append((name, occurrence))
            return result
        for path in self.modules:
            for occurrence, change in enumerate(self.changes(family, path)):
                result[path, change.start, change.end].append((family, occurrence))
        return result

    def changes(self, family: str, path: str) -> Iterator[Change]:
        """Yield the faults of meaning of a module."""
        project, source = self.project, self.project.sources[path]
        if family == OMITTED_LINE:
            yield from omitted_lines(source)
        elif family == EXCHANGED_ARGUMENTS:
            module = modules.dotted(project.tree, project.tree / path)
            yield from exchanged_arguments(source, module, project.signatures)
        elif family == IGNORED_OPTION:
            yield from ignored_options(source, project.defaults)
        else:
            yield from omitted_entries(source)

    def fault(self, family: str, site: Site, way: Way) -> Fault | None:
        """Return a fault; None if Python refuses the source, or it means the same as before."""
        path, (line, _), _ = site
        name, occurrence = way
        source = self.project.sources[path]
        if family == OPERATOR:
            after = operators.mutated(source.text, name, occurrence)
        else:
            change = list(self.changes(family, path))[occurrence]
            after, line = source.replaced(change.edits), change.line
        if not _compiles(after) or ast.dump(ast.parse(after)) == ast.dump(source.tree):
            return None
        return Fault(path, family, name, occurrence, line, after)


def _drawn(families: Families, family: str, seed: int) -> Iterator[Fault]:
    """Yield one fault of each place of a family, in the order of the seed."""
    sites = families.sites(family)
    for place in sorted(sites, key=lambda place: _hash(seed, place)):
        for way in sorted(sites[place], key=lambda way: _hash(seed, place, *way)):
            fault = families.fault(family, place, way)
            if fault is not None:
                yield fault
                break


def _compiles(source: str) -> bool:
    """Tell whether Python neither refuses the source nor warns of it, as of ``x is 1``."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compile(source, "fault", "exec")
        except SyntaxError:  # a warning is one, too, once it is an error
            return False
    return True


def _hash(*parts: object) -> bytes:
    return hashlib.sha256(repr(parts).encode()).digest()
