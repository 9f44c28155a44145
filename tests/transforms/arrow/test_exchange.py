"""Tables that pass through a file are fetched unchanged while others are written."""

import multiprocessing
import os
import tempfile
import threading

import pyarrow as pa
import pytest

from pairweave.transforms.arrow import exchange
from pairweave.transforms.arrow.arrow_coder import TableCoder
from pairweave.transforms.arrow.exchange import MIN_BYTES, Exchange
from pairweave.transforms.errors import WorkerError


@pytest.fixture
def joined():
    with tempfile.TemporaryFile() as file:
        exchange.join(Exchange(file.fileno()))
        yield file
        exchange.join(None)


def table_of(rows: int) -> pa.Table:
    return pa.table({"n": range(rows)})


def test_a_large_table_is_sent_as_its_place(joined):
    table = table_of(100_000)
    sent = TableCoder().encode(table)
    assert len(sent) < 100
    assert TableCoder().decode(sent).equals(table)
    assert joined.seek(0, 2) > table.nbytes


def test_a_small_table_is_sent_itself(joined):
    sent = TableCoder().encode(table_of(10))
    assert TableCoder().decode(sent).equals(table_of(10))
    assert joined.seek(0, 2) == 0


def test_without_an_exchange_tables_are_sent_themselves():
    sent = TableCoder().encode(table_of(100_000))
    assert len(sent) > 800_000
    assert TableCoder().decode(sent).equals(table_of(100_000))


@pytest.mark.usefixtures("joined")
def test_a_place_means_nothing_to_a_process_outside():
    sent = TableCoder().encode(table_of(100_000))
    exchange.join(None)
    with pytest.raises(RuntimeError, match="a file that other processes share"):
        TableCoder().decode(sent)


def test_a_stream_that_is_cut_is_noticed(joined):
    sent = TableCoder().encode(table_of(100_000))
    joined.truncate(1000)
    with pytest.raises(EOFError, match="bytes are missing"):
        TableCoder().decode(sent)


@pytest.mark.usefixtures("joined")
def test_a_full_disk_is_told_with_the_directory(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(
        WorkerError, match=r"No space left on device; free some space there, or .*TMPDIR"
    ):
        TableCoder().encode(table_of(100_000))


def leave_many(file: int, mark: int, places) -> None:
    """Leave streams of one byte, repeated, from two threads."""
    own = Exchange(file)

    def leave(byte: int) -> None:
        for size in range(MIN_BYTES, MIN_BYTES + 40):
            places.put((byte, size, own.leave(memoryview(bytes([byte]) * size))))

    threads = [threading.Thread(target=leave, args=(mark + n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_processes_and_threads_do_not_write_over_each_other():
    context = multiprocessing.get_context("fork")
    places = context.Queue()
    with tempfile.TemporaryFile() as file:
        writers = [
            context.Process(target=leave_many, args=(file.fileno(), mark, places))
            for mark in (10, 20, 30)
        ]
        for writer in writers:
            writer.start()
        left = [places.get(timeout=60) for _ in range(3 * 2 * 40)]
        for writer in writers:
            writer.join()
        reader = Exchange(file.fileno())
        for byte, size, place in left:
            assert reader.fetch(place) == bytes([byte]) * size
        assert file.seek(0, 2) == sum(size for _, size, _ in left)


def test_runs_that_overlap_share_a_file_until_the_last_has_ended():
    with exchange.opened() as first:
        sent = TableCoder().encode(table_of(100_000))
        overlapping = exchange.opened()
        assert overlapping.__enter__() == first
    try:
        assert TableCoder().decode(sent).equals(table_of(100_000))
    finally:
        overlapping.__exit__(None, None, None)
    with pytest.raises(RuntimeError, match="a file that other processes share"):
        TableCoder().decode(sent)
