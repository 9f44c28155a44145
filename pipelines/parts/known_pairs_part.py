"""Pairs to leave out: those that a table already has, and those that were taken down."""

from pairweave.pipelines.parts.file_facts import files_facts
from pairweave.pipelines.parts.part import Part, Planning, Settled
from pairweave.transforms.known_options import KnownPairOptions
from pairweave.transforms.known_pairs import KnownPairs, PlannedFile
from pairweave.transforms.storage import files


class KnownPairsPart(Part[KnownPairOptions, KnownPairs | None]):
    """The pairs; None if none are given."""

    name = "known_pairs"
    options = KnownPairOptions

    def plan(self, options: KnownPairOptions, planning: Planning) -> Settled[KnownPairs | None]:
        """Hash the files, if any are given."""
        named = options.known_files()
        if not named:
            return Settled(None)
        settings = {name: files_facts(paths) for name, paths in named.items()}
        planned = {
            name: PlannedFile(files.absolute(path), settings[name][0]["sha256"])
            for name, (path,) in named.items()
        }
        known = KnownPairs(planned.get("known_pairs"), planned.get("taken_down"))
        return Settled(known, settings=settings)


KNOWN_PAIRS = KnownPairsPart()
