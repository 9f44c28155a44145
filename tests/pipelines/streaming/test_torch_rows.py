"""The rows of a stream in loaders of torch, with the workers that a loader would start."""

import copy
import itertools
import types

import pyarrow as pa
import pytest

from pairweave.pipelines.streaming.row_stream import RowStream
from pairweave.transforms.streaming.tag_stream import Position

torch_data = pytest.importorskip("torch.utils.data")

WINDOWS, EPOCHS, ROWS = 3, 2, 4


class Numbers:
    """A stream of numbered rows."""

    mark = "numbers"
    windows = WINDOWS
    config = types.SimpleNamespace(epochs=EPOCHS)

    def positions(self, start):
        for number in range(start.epoch * WINDOWS + start.window, EPOCHS * WINDOWS):
            epoch, window = divmod(number, WINDOWS)
            is_first = (epoch, window) == (start.epoch, start.window)
            yield Position(epoch, window, start.row if is_first else 0)

    def window(self, epoch, window):
        first = (epoch * WINDOWS + window) * ROWS
        numbers = pa.array(range(first, first + ROWS))
        return types.SimpleNamespace(rows=pa.table({"number": numbers}))


ALL = list(range(EPOCHS * WINDOWS * ROWS))


def make_rows():
    return RowStream(Numbers(), ["number"]).to_torch()


@pytest.fixture
def read_all(monkeypatch):
    """Return a function that reads a pass as a loader does, each worker from a copy."""

    def read(rows, workers):
        share = []
        for number in range(workers):
            in_worker(monkeypatch, number, workers)
            share += numbers(copy.deepcopy(rows))
        in_worker(monkeypatch, 0, 0)
        return sorted(share) if workers else numbers(rows)

    return read


def in_worker(monkeypatch, number, workers):
    """Go into a worker of a loader; without workers, into the process of the loader."""
    info = types.SimpleNamespace(id=number, num_workers=workers) if workers else None
    monkeypatch.setattr(torch_data, "get_worker_info", lambda: info)


def numbers(rows):
    return [row["number"] for row in rows]


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("read", [0, 6, len(ALL) // 2, len(ALL)])
def test_a_worker_that_lasts_repeats_its_whole_share_after_it_was_restored(
    monkeypatch, workers, read
):
    in_worker(monkeypatch, 0, workers)
    share = numbers(make_rows())
    rows = make_rows()
    assert numbers(itertools.islice(rows, read)) == share[:read]
    restored = make_rows()
    restored.load_state_dict(rows.state_dict())
    assert numbers(restored) == share[read:]
    assert numbers(restored) == numbers(restored) == share


@pytest.mark.parametrize("passes", itertools.product([0, 1, 2, 7], repeat=2))
def test_another_number_of_workers_shares_the_rows_again(read_all, passes):
    rows = make_rows()
    for workers in (*passes, *passes):
        assert read_all(rows, workers) == ALL


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_workers_go_on_where_the_process_of_the_loader_was(read_all, workers):
    rows = make_rows()
    rows.load_state_dict({"epoch": 1, "window": 0, "row": 2})
    rest = ALL[WINDOWS * ROWS + 2 :]
    assert read_all(copy.deepcopy(rows), workers) == rest
    assert numbers(itertools.islice(rows, 4)) == rest[:4]
    assert read_all(rows, workers) == rest[4:]


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_every_pass_begins_where_the_stream_was(read_all, workers):
    stream = RowStream(Numbers(), ["number"])
    rows = stream.to_torch()
    stream.load_state_dict({"epoch": 1, "window": 0, "row": 2})
    for _ in range(2):
        assert read_all(rows, workers) == ALL[WINDOWS * ROWS + 2 :]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_pass_that_was_left_goes_on_and_so_does_one_from_a_position(monkeypatch, workers):
    in_worker(monkeypatch, 0, workers)
    rows = make_rows()
    share = numbers(rows)
    assert numbers(itertools.islice(rows, 5)) == share[:5]
    state = rows.state_dict()
    assert numbers(rows) == share[5:]
    rows.load_state_dict(state)
    assert numbers(rows) == share[5:]
    assert numbers(rows) == share
