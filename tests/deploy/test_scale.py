"""The model of costs, its table in the README, and a small simulated run."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
import yaml

from pairweave.transforms.errors import ConfigError

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks" / "scale"


def load(name):
    """Import a program of the folder."""
    spec = importlib.util.spec_from_file_location(f"scale_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


costs = load("costs")

PLAIN = {
    "measured": {
        "date": "2026-01-01",
        "pairs_per_core_second": 1_000,
        "text_bytes_per_pair": 100,
        "plan_bytes_per_second": 1_000_000,
        "shuffle_bytes_per_pair": 1_024,
        "shuffle_bytes_per_pair_twice": 2_048,
    },
    "assumed": {"pairs_per_gpu_second": 100, "start_minutes": 6, "busy_share": 0.5},
    "prices": {
        "date": "2026-01-01",
        "core_hour": 1,
        "memory_gib_hour": 0.5,
        "gpu_hour": 10,
        "shuffle_gib": 2,
    },
    "run": {"shard_pairs": 1_000, "workers_cores": 10, "memory_gib_per_core": 2, "gpus": 4},
}


def test_the_table_of_the_readme_is_what_the_script_prints(capsys):
    assert costs.main([]) == 0
    assert capsys.readouterr().out in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_a_run_that_can_be_worked_out_by_hand():
    cost = costs.cost_of(3_600_000, PLAIN)
    assert (cost.shards, cost.cores, cost.gpus) == (3_600, 10, 0)
    assert cost.core_hours == pytest.approx(1 / 0.5)
    assert cost.shuffle_gib == pytest.approx(3_600_000 * 2_048 / (1 << 30))  # over 1,024 shards
    assert cost.plan_hours == pytest.approx(0.1)
    assert cost.hours == pytest.approx(0.1 + 0.1 + 0.2)
    assert cost.dollars == pytest.approx(2 * (1 + 2 * 0.5) + cost.shuffle_gib * 2)


def test_gpus_are_paid_for_and_can_be_what_takes_longest():
    cost = costs.cost_of(3_600_000, PLAIN, encoder=True)
    gpu_hours = 10 / 0.5
    assert cost.hours == pytest.approx(0.2 + gpu_hours / 4)
    without = costs.cost_of(3_600_000, PLAIN).dollars
    assert cost.dollars == pytest.approx(without + gpu_hours * 10)


def test_more_cores_than_shards_do_not_help():
    assert costs.cost_of(3_000, PLAIN).cores == 3
    assert costs.cost_of(3_000, PLAIN).shuffle_gib == pytest.approx(3_000 * 1_024 / (1 << 30))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda found: found.pop("prices"), "expected the keys measured"),
        (lambda found: found["run"].pop("gpus"), "run: expected the keys"),
        (lambda found: found["run"].update(more=1), "run: expected the keys"),
        (lambda found: found["prices"].update(gpu_hour=0), "prices.gpu_hour: expected a number"),
        (lambda found: found["prices"].update(gpu_hour="1"), "prices.gpu_hour: expected a number"),
        (lambda found: found["assumed"].update(busy_share=2), "busy_share: expected 1 or less"),
    ],
)
def test_prices_that_make_no_sense_are_refused(tmp_path, change, message):
    path = tmp_path / "costs.yaml"
    found = json.loads(json.dumps(PLAIN))
    change(found)
    path.write_text(yaml.safe_dump(found))
    with pytest.raises(ConfigError, match=message):
        costs.read_costs(path)
    assert costs.main(["--costs", str(path)]) == 2


@pytest.fixture(scope="module")
def simulated():
    return load("simulated_run")


@pytest.mark.parametrize("latency", [0.0, 0.0001])
def test_a_simulated_run_is_committed_whole(simulated, tmp_path, capsys, latency):
    units, shards, rows = 5, 7, 1_000
    manifest = simulated.simulate(tmp_path, units, shards, rows, latency)
    assert manifest["rows"] == {"read": units * rows, "kept": units * rows, "rejected": 0}
    assert len([entry for entry in manifest["files"] if "part-" in entry["name"]]) == 2 * shards
    phases = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    names = [phase["phase"] for phase in phases]
    assert names == ["plan", "graph", "commit", "status", "resume"]
    # Size and content of each file, and of each receipt.
    least = 2 * (3 * shards + units)
    assert (phases[2]["requests"] >= least) is bool(latency)


def test_the_graph_of_a_simulated_run_keeps_every_row(simulated, tmp_path, monkeypatch):
    monkeypatch.setattr("pairweave.transforms.shards.shuffle.DIRECT_SHARDS", 2)
    units = simulated.units_of(3)
    document = simulated.document_of(units, 5, 20)
    simulated.run_graph(str(tmp_path / "out"), document, units, 20)
    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_bytes())
    assert manifest["rows"]["read"] == 60


def test_a_unit_takes_a_hundred_bytes_of_a_graph(simulated):
    one, more = (simulated.graph_bytes(simulated.units_of(count)) for count in (1, 1_101))
    assert (more - one) / 1_100 < 200
