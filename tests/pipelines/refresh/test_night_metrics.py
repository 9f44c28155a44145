"""The metrics of a night, of what was assembled by hand."""

import pytest

from pairweave.pipelines.refresh import night_metrics
from pairweave.pipelines.refresh.assembly import Assembled
from pairweave.pipelines.refresh.file_ledger import NightInputs
from pairweave.transforms.errors import ConfigError, WorkerError

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
    new = measured(assembled(0, 0, {}))["new"]
    assert (new["share"], new["languages"]) == (0.0, {"en-de": 0.0})


GAUGES = """\
pairs 900
night 3
committed 1
last_run_timestamp_seconds 12.346
duration_seconds 1.5
input_files{state="all"} 5
input_files{state="new"} 2
new_pairs 40
removed_pairs 7
rejected_share{reason="all"} 0.25
rejected_share{reason="too_long"} 0.2
mean_tags 1.5
mean_probability 0.5
mean_score 0.75
mean_likelihood{languages="en-de"} -4.5
"""


@pytest.mark.parametrize("committed", [True, False])
def test_metrics_of_a_night_that_commits_nothing_are_of_the_table_as_it_was(committed):
    new = {"pairs": 40, "share": 0.25, "reasons": {"too_long": 0.2}, "likelihood": {"en-de": -4.5}}
    new |= {"tags": 1.5, "probability": 0.5, "score": 0.75}
    night = {"seconds": 1.5, "files": {"all": 5, "new": 2}, "removed": 7, "new": new}
    night["table"] = {"before": 867, "pairs": 900}
    lines = night_metrics.openmetrics(night, 3, committed=committed, when=12.3456).splitlines()
    expected = GAUGES
    if not committed:
        for one, other in (("900", "867"), ("committed 1", "committed 0")):
            expected = expected.replace(one, other)
        expected = expected.replace("new_pairs 40", "new_pairs 0").replace("pairs 7", "pairs 0")
    gauges = [line.removeprefix("pairweave_refresh_") for line in lines if line[0] != "#"]
    assert gauges == expected.splitlines()
    types = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert [each.removeprefix("pairweave_refresh_") for each in types] == list(
        dict.fromkeys(gauge.partition(" ")[0].partition("{")[0] for gauge in gauges)
    )
    assert lines[-1] == "# EOF"


@pytest.mark.parametrize("scheme", ["gs", "s3", "az", "hdfs", "azfs"])
def test_the_file_of_metrics_may_be_in_each_kind_of_store(scheme):
    night_metrics.check(f"{scheme}://bucket/night.prom")
    with pytest.raises(ConfigError, match="--metrics: ftp:// is not the address of a server"):
        night_metrics.check("ftp://bucket/night.prom")


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (OSError(28, "No space left"), "No space left"),
        (OSError("odd"), "odd"),
        (WorkerError("no answer"), "no answer"),
    ],
)
def test_metrics_that_cannot_be_written_are_a_warning(monkeypatch, error, cause):
    def fail(*_):
        raise error

    told = []
    monkeypatch.setattr(night_metrics.files, "write_bytes", fail)
    monkeypatch.setattr(night_metrics.terminal, "warn", told.append)
    night_metrics.write("night.prom", "")
    assert told == [f"--metrics night.prom: the metrics were not written: {cause}"]
