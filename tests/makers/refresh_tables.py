"""Files of the tables of `refresh`, written by hand: provenance and rows of some pairs."""

import pyarrow as pa

from pairweave.pipelines.refresh.chain import tables
from pairweave.pipelines.refresh.chain.table_names import PROVENANCE
from pairweave.pipelines.refresh.forgetting.pair_places import PLACE_ROWS, Places
from pairweave.transforms.known_pairs import IdSet

LANGUAGES = {"source_lang": "en", "target_lang": "de"}


def key(number):
    """Return the id of a pair."""
    return f"{number:032x}"


def ids(*numbers):
    """Return a set of pairs."""
    return IdSet.of(pa.array([key(number) for number in numbers], pa.string()))


def numbers(pairs):
    """Return the numbers of the pairs in a set."""
    return [int(text, 16) for text in pairs.texts(len(pairs))]


def places(directory, *of_files):
    """Write provenance: for each of its files, (pair, corpus, content, line) of each place."""
    entries = []
    for rows in of_files:
        columns = zip(*((key(number), *rest) for number, *rest in rows), strict=True)
        table = pa.table([pa.array(column) for column in columns], schema=PLACE_ROWS)
        entries.append(tables.write_file(str(directory), PROVENANCE, table, LANGUAGES))
    return Places(str(directory), entries)


def write_rows(directory, name, rows):
    """Write a file of a job's rows, each the number of a pair and its corpus; return its entry."""
    table = pa.table(
        {"id": [key(number) for number, _ in rows], "corpus": [corpus for _, corpus in rows]}
    )
    return tables.write_file(str(directory), name, table, LANGUAGES)


def read_rows(directory, name, entries):
    """Return the rows of some files, as `write_rows` takes them."""
    return [
        (int(row["id"], 16), row["corpus"])
        for entry in entries
        for row in tables.read_rows(str(directory), name, entry).to_pylist()
    ]
