import bz2
import gzip
import lzma
import tracemalloc
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import InputError
from pairweave.transforms.storage.byte_streams import decompress
from pairweave.transforms.units import ReadLimits

LIMITS = ReadLimits()
TEXT = b"".join(b"line %d of some text\n" % number for number in range(20_000))
GZIP = gzip.compress(TEXT, mtime=0)
ZSTD = zstandard.ZstdCompressor(write_checksum=True).compress(TEXT)


def unpack(data: bytes, compression: str, limits: ReadLimits = LIMITS, chunk: int = 7_001) -> bytes:
    chunks = (data[start : start + chunk] for start in range(0, len(data), chunk))
    return b"".join(decompress(chunks, compression, "a.x", limits))


def refused(data: bytes, compression: str, **options) -> InputError:
    with pytest.raises(InputError) as caught:
        unpack(data, compression, **options)
    assert caught.value.path == "a.x"
    return caught.value


@pytest.mark.parametrize("chunk", [1, 511, 7_001, 1 << 20])
def test_both_compressions_give_the_text_whatever_the_chunks(chunk):
    assert unpack(GZIP, "gzip", chunk=chunk) == TEXT
    assert unpack(ZSTD, "zstd", chunk=chunk) == TEXT


@pytest.mark.parametrize("kept", [0, 1, 2, 5, 9, 10, 17, len(GZIP) // 2, len(GZIP) - 1])
def test_a_gzip_file_cut_anywhere_is_truncated_at_its_length(kept):
    error = refused(GZIP[:kept], "gzip")
    assert error.code == "gzip_truncated"
    assert f"byte {kept} " in error.message


@pytest.mark.parametrize("kept", [0, 1, 3, 9, len(ZSTD) // 2, len(ZSTD) - 1])
def test_a_zstd_file_cut_anywhere_is_truncated_at_its_length(kept):
    error = refused(ZSTD[:kept], "zstd")
    assert error.code == "zstd_truncated"
    assert f"byte {kept} " in error.message


def test_a_second_member_or_frame_cut_short_is_truncated():
    assert refused(GZIP + GZIP[:-3], "gzip").code == "gzip_truncated"
    assert refused(GZIP + GZIP[:1], "gzip").code == "gzip_truncated"
    assert refused(ZSTD + ZSTD[:-3], "zstd").code == "zstd_truncated"


def test_a_wrong_checksum_is_corruption_and_the_offset_is_told():
    bad = GZIP[:-8] + bytes([GZIP[-8] ^ 1]) + GZIP[-7:]
    error = refused(bad, "gzip")
    assert error.code == "gzip_corrupt"
    assert "after byte" in error.message
    error = refused(ZSTD[:-1] + bytes([ZSTD[-1] ^ 1]), "zstd")
    assert error.code == "zstd_corrupt"
    assert "checksum" in error.message


def test_damage_in_the_middle_is_corruption():
    middle = len(GZIP) // 2
    bad = GZIP[:middle] + bytes(byte ^ 0xFF for byte in GZIP[middle : middle + 40])
    assert refused(bad + GZIP[middle + 40 :], "gzip").code == "gzip_corrupt"


@pytest.mark.parametrize("chunk", [1, 7_001, 1 << 20])
@pytest.mark.parametrize("junk", [b"j", b"junk", b"\0\0junk", b"\x1fjunk"])
def test_junk_after_the_end_is_an_error_at_its_offset(chunk, junk):
    error = refused(GZIP + junk, "gzip", chunk=chunk)
    assert error.code == "gzip_corrupt"
    assert f"byte {len(GZIP) + len(junk) - len(junk.lstrip(bytes(1)))}" in error.message
    error = refused(ZSTD + b"junk" + junk, "zstd", chunk=chunk)
    assert error.code == "zstd_corrupt"
    assert f"byte {len(ZSTD)} " in error.message


def test_what_is_no_compressed_data_is_said_to_be_none():
    assert "is not gzip data" in refused(b"plain text\n" * 3, "gzip").message
    assert "is not gzip data" in refused(b"p", "gzip").message
    assert refused(b"plain text\n" * 3, "zstd").code == "zstd_corrupt"


@pytest.mark.parametrize("chunk", [1, 500, 1 << 20])
def test_zeros_after_the_end_of_gzip_are_padding(chunk):
    padding = b"\0" * 1500
    assert unpack(GZIP + padding, "gzip", chunk=chunk) == TEXT
    assert unpack(GZIP + padding + GZIP, "gzip", chunk=chunk) == TEXT + TEXT


@pytest.mark.parametrize("chunk", [1, 500, 1 << 20])
def test_zeros_before_gzip_are_no_padding(chunk):
    assert refused(b"\0" * 3 + GZIP, "gzip", chunk=chunk).code == "gzip_corrupt"


@pytest.mark.parametrize("chunk", [1, 100, 1 << 20])
def test_members_and_frames_are_read_as_one_text(chunk):
    parts = [TEXT[:100], b"", TEXT[100:5000], TEXT[5000:6000]]
    gz = b"".join(gzip.compress(part) for part in parts)
    zst = b"".join(zstandard.compress(part) for part in parts)
    skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00meta"
    assert unpack(gz, "gzip", chunk=chunk) == TEXT[:6000]
    assert unpack(zst + skippable, "zstd", chunk=chunk) == TEXT[:6000]


@given(st.data())
def test_any_bytes_survive_any_chunks(data):
    parts = data.draw(st.lists(st.binary(max_size=200), min_size=1, max_size=4))
    chunk = data.draw(st.integers(1, 300))
    limits = ReadLimits(expansion_floor_bytes=1 << 20)
    packed = b"".join(gzip.compress(part) for part in parts)
    assert unpack(packed, "gzip", limits, chunk) == b"".join(parts)
    packed = b"".join(zstandard.compress(part) for part in parts)
    assert unpack(packed, "zstd", limits, chunk) == b"".join(parts)


def bomb(compression: str, size: int) -> bytes:
    block = b"\0" * (1 << 20)
    if compression == "gzip":
        packer = zlib.compressobj(9, wbits=31)
    else:
        packer = zstandard.ZstdCompressor().compressobj()
    return b"".join(packer.compress(block) for _ in range(size >> 20)) + packer.flush()


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_a_bomb_is_refused_early(compression):
    error = refused(bomb(compression, 50 << 20), compression)
    assert error.code == "expansion_limit"
    assert "max_expansion 200" in error.message


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_memory_stays_constant_however_far_a_file_expands(compression):
    packed = bomb(compression, 100 << 20)
    chunks = (packed[start : start + (1 << 20)] for start in range(0, len(packed), 1 << 20))
    limits = ReadLimits(max_expansion=1 << 20)
    tracemalloc.start()
    total = sum(map(len, decompress(chunks, compression, "a.x", limits)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total == 100 << 20
    assert peak < 50 << 20


@pytest.mark.parametrize(("compression", "data"), [("gzip", GZIP), ("zstd", ZSTD)])
def test_a_limit_on_the_text_of_one_file_holds(compression, data):
    limits = ReadLimits(max_file_bytes=len(TEXT) - 1)
    error = refused(data, compression, limits=limits)
    assert error.code == "expansion_limit"
    assert "max_file_bytes" in error.message
    assert unpack(data, compression, ReadLimits(max_file_bytes=len(TEXT))) == TEXT


@pytest.mark.parametrize(("compression", "data"), [("gzip", GZIP), ("zstd", ZSTD)])
def test_small_files_may_expand_as_they_like(compression, data):
    limits = ReadLimits(max_expansion=1, expansion_floor_bytes=len(TEXT))
    assert unpack(data, compression, limits) == TEXT
    limits = ReadLimits(max_expansion=1, expansion_floor_bytes=len(TEXT) - 1)
    assert refused(data, compression, limits=limits).code == "expansion_limit"


def test_a_zstd_window_beyond_128_mib_is_refused_with_its_own_reason():
    parameters = zstandard.ZstdCompressionParameters(window_log=30, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    error = refused(packer.compress(b"x" * 10_000) + packer.flush(), "zstd")
    assert error.code == "zstd_window"
    assert "--long" in error.message


PACKED = {"xz": lzma.compress, "bzip2": bz2.compress}


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("chunk", [1, 511, 1 << 20])
def test_xz_and_bzip2_give_the_text_of_all_streams_whatever_the_chunks(kind, chunk):
    parts = [TEXT[:100], b"", TEXT[100:90_000]]
    packed = b"".join(map(PACKED[kind], parts))
    assert unpack(packed, kind, chunk=chunk) == TEXT[:90_000]


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("chunk", [1, 500, 1 << 20])
def test_zeros_between_streams_and_at_the_end_are_padding(kind, chunk):
    packed = PACKED[kind](TEXT[:5_000])
    padding = b"\0" * 1_500
    assert unpack(packed + padding + packed + padding, kind, chunk=chunk) == TEXT[:5_000] * 2


@pytest.mark.parametrize("kind", PACKED)
def test_xz_and_bzip2_that_are_cut_damaged_or_something_else_are_refused(kind):
    packed = PACKED[kind](TEXT)
    for kept in (0, 1, 9, len(packed) // 2, len(packed) - 1):
        assert refused(packed[:kept], kind).code == f"{kind}_truncated"
    assert refused(packed + packed[:-3], kind).code == f"{kind}_truncated"
    middle = len(packed) // 2
    bad = packed[:middle] + bytes(byte ^ 0xFF for byte in packed[middle : middle + 40])
    assert refused(bad + packed[middle + 40 :], kind).code == f"{kind}_corrupt"
    for other in (b"plain text\n" * 3, packed + b"junk" * 9, b"\0" * 3 + packed):
        assert refused(other, kind).code == f"{kind}_corrupt"


@pytest.mark.parametrize("kind", PACKED)
def test_xz_and_bzip2_cannot_expand_without_limit(kind):
    packed = PACKED[kind](b"\0" * (50 << 20))
    assert refused(packed, kind).code == "expansion_limit"
    chunks = (packed[start : start + (1 << 20)] for start in range(0, len(packed), 1 << 20))
    tracemalloc.start()
    limits = ReadLimits(max_expansion=1 << 20)
    total = sum(map(len, decompress(chunks, kind, "a.x", limits)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (total, peak < 20 << 20) == (50 << 20, True)
