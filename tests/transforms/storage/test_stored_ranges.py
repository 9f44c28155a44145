"""Ranges of a stored file: exactly the planned bytes are read, and compared with the plan."""

import bz2
import gzip
import io
import lzma

import numpy as np
import pytest
import xxhash
import zstandard

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.storage import byte_streams, files
from pairweave.transforms.storage.byte_streams import (
    decompress,
    part_bytes,
    part_text,
    stored_chunks,
)
from pairweave.transforms.units import Part, ReadLimits

DATA = bytes(range(100))


@pytest.fixture
def path(tmp_path):
    (tmp_path / "data").write_bytes(DATA)
    return str(tmp_path / "data")


def zstd(data):
    return zstandard.ZstdCompressor().compress(data)


def part_of(path, *ranges, data=None, compression="none"):
    planned = b"".join(DATA[start:stop] for start, stop in ranges) if data is None else data
    digest = xxhash.xxh3_128_hexdigest(planned)
    return Part("a.txt", path, compression, ranges, digest)


@pytest.mark.parametrize(
    ("start", "stop", "chunk", "sizes"),
    [
        (0, 100, 30, [30, 30, 30, 10]),
        (10, 50, 100, [40]),
        (10, 50, 40, [40]),
        (50, None, 20, [20, 20, 10]),
        (0, None, 100, [100]),
        (90, 120, 100, [10]),
        (7, 7, 100, []),
    ],
)
def test_a_range_is_read_in_pieces_up_to_its_end(path, start, stop, chunk, sizes):
    chunks = list(stored_chunks(path, start, stop, chunk))
    assert b"".join(chunks) == DATA[start:stop]
    assert [len(each) for each in chunks] == sizes


def test_no_byte_beyond_a_range_is_asked_for(path, monkeypatch):
    asked = []

    class Watched(io.BytesIO):
        def read(self, size=-1):
            asked.append((self.tell(), size))
            return super().read(size)

    monkeypatch.setattr(files, "open_read", lambda _: Watched(DATA))
    list(stored_chunks(path, 10, 50, 30))
    assert asked == [(10, 30), (40, 10)]


def test_the_ranges_of_a_part_follow_each_other(path):
    part = part_of(path, (90, 100), (5, 20))
    assert b"".join(part_bytes(part, 8)) == DATA[90:] + DATA[5:20]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (lambda path: part_of(path, (0, 101)), "101 bytes were planned, 100 are there"),
        (lambda path: part_of(path, (0, 9), (90, 120)), "39 bytes were planned, 19 are there"),
        (
            lambda path: part_of(path, (3, 9), (20, 40), data=DATA[:26]),
            r"a\.txt: bytes 3 to 40 have digest \w+, planned \w+ .*has changed since the plan",
        ),
        (lambda path: part_of(f"{path}.gone", (0, 9)), r"a\.txt: cannot read .*gone"),
    ],
)
def test_a_part_that_is_not_as_planned_is_refused(path, part, message):
    with pytest.raises(WorkerError, match=message):
        list(part_bytes(part(path), 8))


def test_a_part_that_no_longer_decompresses_is_refused_as_changed(path):
    part = part_of(path, (0, 100), compression="gzip")
    with pytest.raises(WorkerError, match=r"not gzip data.*; it was valid when the plan was made"):
        list(part_text(part, ReadLimits()))


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bz2.compress, zstd])
def test_text_that_hardly_expands_is_within_the_limit_however_long_it_is(compress):
    data = np.random.default_rng(1).bytes(300_000)
    stored = compress(data)
    kinds = {gzip.compress: "gzip", lzma.compress: "xz", bz2.compress: "bzip2", zstd: "zstd"}
    limits = ReadLimits(expansion_floor_bytes=200_000, max_expansion=2)
    chunks = [stored[start : start + 10_000] for start in range(0, len(stored), 10_000)]
    assert b"".join(decompress(chunks, kinds[compress], "a", limits)) == data


@pytest.mark.parametrize("name", ["a.b/corpus", "corpus", "corpus.en", "corpus.gz.en", "gz"])
def test_only_the_last_extension_tells_a_compression(name):
    assert byte_streams.compression_of(name) == "none"
    assert byte_streams.without_compression(name) == name
    assert byte_streams.without_compression(f"{name}.zst") == name
