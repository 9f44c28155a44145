"""Taking pairs down from the table alone, without reading input files or the configuration.

This works even after an upgrade or a change of options, which a night would refuse, and when the
input files are gone.
"""

import pyarrow as pa

from pairweave.pipelines.refresh.chain import tables
from pairweave.pipelines.refresh.chain.table_names import MAIN, PROVENANCE, REJECTS
from pairweave.pipelines.refresh.forgetting import tombstone_files
from pairweave.pipelines.refresh.forgetting.pair_places import Places
from pairweave.pipelines.refresh.forgetting.takedown import Holdings, take_down
from pairweave.pipelines.refresh.forgetting.withdrawal import Withdrawn, withdraw
from pairweave.pipelines.refresh.upkeep.quiet_night import between_nights, commit_quietly
from pairweave.transforms.known_pairs import IdSet
from pairweave.transforms.units import ReadLimits


def forget(table: str, path: str, *, everywhere: bool) -> tuple[int, bool]:
    """Take down the pairs of a list, in a night of its own.

    Args:
        table: Directory of all tables.
        path: The list (`takedown_list.read_list`).
        everywhere: See `takedown.take_down`.

    Returns:
        The number of pairs that were removed, and whether a night was committed; a list that was
        given before changes nothing.

    Raises:
        ConfigError: There is no table, or the list is empty.
        WorkerError: Another night was committed in the meantime, or a vacuum is deleting files.
    """
    with between_nights(table) as last:
        main = MAIN[last.job]
        current = {name: tables.current(table, name, last) for name in (main, PROVENANCE, REJECTS)}
        places = Places(table, current[PROVENANCE])
        stones = tombstone_files.read(table, last)
        held = Holdings(main, last.settings, current, places, stones, (), ReadLimits())
        stones, ids = take_down(path, held, everywhere=everywhere)
        taken = IdSet.of(pa.array(ids, pa.string()))
        going = places.ids_where(lambda rows: taken.has(rows.column("id")))
        done = withdraw(table, main, current, Withdrawn(going, {}), (), taken)
        changes = {name: change.to_json() for name, change in done.items() if change}
        name = tombstone_files.write(table, stones)
        if not changes and name == last.tombstones:
            return 0, False
        commit_quietly(table, last, "takedown", current, changes, name, len(going))
        return len(going), True
