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
        paths_given = (options.known_pairs, options.taken_down)
        known = KnownPairs(
            *(
                None if path is None else PlannedFile.of(files.absolute(path))
                for path in paths_given
            )
        )
        settings = {name: files_facts(paths) for name, paths in named.items()}
        return Settled(known, settings=settings)


KNOWN_PAIRS = KnownPairsPart()
