import pyarrow as pa
import pydantic
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.symmetrize import symmetrize
from tests.makers.linked_tables import linked

LENGTHS = [(3, 3), (2, 2), (0, 4), (3, 4)]
FORWARD = [[(0, 0, 0.5), (1, 1, 0.75), (2, 2, 1.0)], [(0, 1, 0.5)], [], [(2, 3, 0.25)]]
REVERSE = [[(0, 0, 1.0), (1, 2, 0.5)], [(0, 1, 0.5), (1, 0, 1.0)], [], [(2, 3, 0.75)]]


def links_of(table):
    return [
        [(link["source"], link["target"], link["probability"]) for link in links]
        for links in table.column("links").to_pylist()
    ]


def test_two_columns_of_links_become_one():
    table = linked(LENGTHS, FORWARD, REVERSE)
    joined = symmetrize(table, SymmetrizeConfig())
    assert joined.schema == schemas.SYMMETRIZED
    joined.validate(full=True)
    assert joined.drop_columns(["links"]) == table.drop_columns(["forward", "reverse"])
    assert links_of(joined) == [
        [(0, 0, 0.75), (1, 1, 0.375), (1, 2, 0.25), (2, 2, 0.5)],
        [(0, 1, 0.5), (1, 0, 0.5)],
        [],
        [(2, 3, 0.5)],
    ]


def test_the_heuristic_decides():
    table = linked(LENGTHS, FORWARD, REVERSE)
    joined = symmetrize(table, SymmetrizeConfig("intersection"))
    assert links_of(joined) == [[(0, 0, 0.75)], [(0, 1, 0.5)], [], [(2, 3, 0.5)]]


def test_slices_and_chunks_give_the_same_rows():
    table = linked(LENGTHS, FORWARD, REVERSE)
    whole = links_of(symmetrize(table, SymmetrizeConfig()))
    for start in range(len(LENGTHS) + 1):
        assert links_of(symmetrize(table[start:], SymmetrizeConfig())) == whole[start:]
    chunked = pa.concat_tables([table[1:3], table[:0], table[3:], table[:1]])
    assert chunked.column("forward").num_chunks > 1
    assert links_of(symmetrize(chunked, SymmetrizeConfig())) == [*whole[1:], whole[0]]


def test_an_empty_table_stays_empty():
    for table in (linked([], [], []), schemas.LINKED.empty_table()):
        joined = symmetrize(table, SymmetrizeConfig())
        assert joined.schema == schemas.SYMMETRIZED
        assert joined.num_rows == 0


@pytest.mark.parametrize(
    "links",
    [[(2, 0, 1.0)], [(0, 3, 1.0)], [(-1, 0, 1.0)], [(1, 0, 1.0), (0, 0, 1.0)], [(0, 0, 1.0)] * 2],
)
def test_wrong_links_name_their_pair_and_column(links):
    table = linked([(1, 1), (2, 3)], [[], []], [[], links])
    with pytest.raises(WorkerError, match=r"pair 0{31}1: the links in column reverse are outside"):
        symmetrize(table, SymmetrizeConfig())


def test_another_table_is_refused():
    with pytest.raises(WorkerError, match="column source_tokens is missing"):
        symmetrize(schemas.PAIRS.empty_table(), SymmetrizeConfig())


def test_an_unknown_heuristic_names_the_nearest():
    with pytest.raises(ConfigError, match="'grow_diag_final' is unknown; did you mean 'grow-diag-"):
        SymmetrizeConfig("grow_diag_final")


def test_the_configuration_is_frozen():
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        SymmetrizeConfig().heuristic = "union"
