"""The metrics of a night, of what was assembled by hand."""

import pytest

from pairweave.pipelines.refresh import night_metrics
from pairweave.pipelines.refresh.assembly import Assembled
from pairweave.pipelines.refresh.file_ledger import NightInputs
from pairweave.transforms.errors import ConfigError

NOTHING = NightInputs({}, {}, (), (), (), (), (), ())


def assembled(read, pairs, reasons):
    """Return a run that read so many rows, of which the table had those that are left."""
    return Assembled(
        added={},
        pairs=pairs,
        quality={},
        reasons=reasons,
        samples={},
        read={"key": read},
        languages={"en-de": read},
    )


def measured(made):
    counts = {"before": 1_000, "removed": 0, "lost": 0}
    return night_metrics.measure(NOTHING, [made], seconds=1.0, **counts)


def test_shares_are_of_all_pairs_read():
    made = assembled(1_000, 5, {"too_long": 12, "empty_source": 3})
    new = measured(made)["new"]
    assert (new["read"], new["places"]) == (1_000, 980)
    assert new["share"] == 0.015
    assert new["reasons"] == {"empty_source": 0.003, "too_long": 0.012}
    assert new["languages"] == {"en-de": 1.0}


def test_a_night_without_new_pairs_has_no_share():
    new = measured(assembled(1_000, 0, {}))["new"]
    assert (new["share"], new["reasons"]) == (0.0, {})


@pytest.mark.parametrize("scheme", ["gs", "s3", "az", "hdfs", "azfs"])
def test_the_file_of_metrics_may_be_in_each_kind_of_store(scheme):
    night_metrics.check(f"{scheme}://bucket/night.prom")
    with pytest.raises(ConfigError, match="--metrics: ftp:// is not the address of a server"):
        night_metrics.check("ftp://bucket/night.prom")
