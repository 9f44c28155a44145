"""Reading and planning, one core, CPU time, best of three; news text in English and German."""

import gzip
import time

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.planning.plan import make_plan
from tests.makers.reading import LIMITS, moses, single

pytestmark = pytest.mark.bench

COPIES = 10


@pytest.fixture(scope="module")
def corpora(shared_data, tmp_path_factory):
    """Write the same pairs in several formats; return the corpus of each, by name."""
    directory = tmp_path_factory.mktemp("read")
    texts = [
        gzip.decompress((shared_data / "parallel" / f"newstest.en-de.{lang}.gz").read_bytes())
        for lang in ("en", "de")
    ]
    rows = list(zip(*(text.decode().split("\n")[:-1] for text in texts), strict=True)) * COPIES
    tsv = "".join(f"{source}\t{target}\n" for source, target in rows).encode()
    contents = {
        "a.en": texts[0] * COPIES,
        "a.de": texts[1] * COPIES,
        # One line in 500 is no text, so that every batch is read line by line.
        "noisy.de": b"".join(
            (b"\xff" if number % 500 == 0 else b"") + target.encode() + b"\n"
            for number, (_, target) in enumerate(rows)
        ),
        "a.tsv": tsv,
        "a.tsv.gz": gzip.compress(tsv, 6),
        "a.tsv.zst": zstandard.compress(tsv),
        "a.jsonl": b"".join(
            orjson.dumps({"source": source, "target": target}) + b"\n" for source, target in rows
        ),
    }
    for name, data in contents.items():
        (directory / name).write_bytes(data)
    table = pa.table({"source": [row[0] for row in rows], "target": [row[1] for row in rows]})
    pq.write_table(table, directory / "a.parquet", row_group_size=65_536)
    return {
        "line-parallel": moses(directory / "a.en", directory / "a.de"),
        "line-parallel, bad lines": moses(directory / "a.en", directory / "noisy.de"),
        **{
            name: single(directory / name)
            for name in ("a.tsv", "a.tsv.gz", "a.tsv.zst", "a.jsonl", "a.parquet")
        },
    }


def cpu_seconds(function):
    """Call a function three times; return the least CPU seconds and the last result."""
    times = []
    for _ in range(3):
        start = time.process_time()
        result = function()
        times.append(time.process_time() - start)
    return min(times), result


def test_speed_of_plan_and_readers(corpora):
    print(f"\n{'input':26} {'plan MB/s':>10} {'read pairs/s':>13} {'read MB/s':>10}")
    speeds = {}
    for name, corpus in corpora.items():
        plan_seconds, plan = cpu_seconds(lambda corpus=corpus: make_plan([corpus], threads=1))
        read_seconds, rows = cpu_seconds(
            lambda plan=plan: sum(
                batch.num_rows for unit in plan.units for batch in read_unit(unit, LIMITS)
            )
        )
        assert rows == plan.rows
        megabytes = sum(file.bytes for file in plan.files) / 1e6
        speeds[name] = rows / read_seconds
        print(
            f"{name:26} {megabytes / plan_seconds:10,.0f} {speeds[name]:13,.0f} "
            f"{megabytes / read_seconds:10,.0f}"
        )
    assert speeds["line-parallel"] >= 500_000
