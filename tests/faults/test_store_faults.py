"""Faults of object stores: throttled, failing, slow and cut off, absent then present."""

import collections
import hashlib
import itertools
import json
import re

import pytest

from tests.faults import matrix
from tests.faults.matrix import FLAGS, ONE, TWO, Cell
from tests.makers import runs, stores

ENGINES = {"az": ONE, "gs": ONE, "s3": TWO}
"""How each store's runs are: what a second process adds is the same for all of them."""


def every(number, fault):
    """Return a fault of every so many requests."""
    counter = itertools.count(1)
    return lambda *_: fault if next(counter) % number == 0 else None


def absent_once(*_):
    """Return a fault of the first look at each receipt: there is none."""
    seen = collections.Counter()

    def spoil(method, path, _body):
        name = re.search("shard-[0-9]+", path.partition("?")[0])
        if method not in ("GET", "HEAD") or name is None:
            return None
        seen[name[0]] += 1
        return 404 if seen[name[0]] == 1 else None

    return spoil


FAULTS = {
    "store throttles (429, 503)": lambda: every(25, 503),
    "store is slow": lambda: every(12, 0.3),
    "store breaks connections off": lambda: every(25, "drop"),
    "objects absent, then present": absent_once,
}
CELLS = [
    Cell(fault, f"{engine}, {scheme}://", FLAGS[engine])
    for fault in FAULTS
    for scheme, engine in ENGINES.items()
]

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings(stores.OPEN_AT_THE_END)]


@pytest.fixture(scope="module", params=sorted(stores.KINDS))
def store(request):
    with stores.running(request.param) as store:
        yield store
    stores.let_go()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_store_costs_no_byte(fault, store, golden, tmp_path, record):
    (cell,) = [each for each in CELLS if each.fault == fault and f" {store.scheme}:" in each.engine]
    name = fault.partition(" (")[0].replace(" ", "_").replace(",", "")
    words = (*golden.arguments, "--output", f"{store.scheme}://{stores.BUCKET}/{name}", *cell.flags)
    store.door.spoil = FAULTS[fault]()
    try:
        if cell.flags == FLAGS[TWO]:
            status, errors = matrix.end(cell, words, tmp_path)
        else:
            status, _, errors = runs.run_here(*words)
    finally:
        store.door.spoil = lambda *_: None
    assert status == 0, errors[-3000:]
    actual = {
        path.removeprefix(f"{name}/"): hashlib.sha256(data).hexdigest()
        for path, data in store.objects(f"{name}/").items()
    }
    noted = json.loads(store.objects(f"{name}/_run.json")[f"{name}/_run.json"])
    assert noted["attempts"] <= 2
    del actual["_run.json"]
    assert actual == golden.digests
    record(cell, [status])
