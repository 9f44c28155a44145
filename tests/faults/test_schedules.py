"""A thousand schedules of faults: a run is committed with the golden bytes, or the next one is.

The real code claims, writes, resumes and commits, in a simulated disk and object store
(`tests.makers.faulty_files`), with the shards of a real run. A schedule draws where operations
fail, processes are killed or the power fails, in which order shards are made, how often a launcher
tries, and when it is another launcher's turn. A failing schedule is printed with all of this.
"""

import functools
import hashlib

import hypothesis
import orjson
import pytest
from hypothesis import strategies as st

from pairweave.models.hmm import hmm_reference
from pairweave.pipelines.steps import steps
from pairweave.transforms.commit.claim import claim
from pairweave.transforms.commit.commit import commit_run
from pairweave.transforms.errors import ClaimedError, ConfigError, WorkerError
from pairweave.transforms.output import receipts, write
from pairweave.transforms.report import page, run_samples
from pairweave.transforms.storage import files, hashed_files
from tests.makers import corpora, faulty_files, runs

SCHEDULES = 500
"""For the disk, and as many for the store."""

MODEL = "models/hmm"


class Finished:
    """A real run: what its workers wrote with, and the bytes of its files."""

    def __init__(self, directory, seed):
        self.shards, self.units = [], []
        corpora.write_corpus(directory, 24)
        sides = [f"--{side}_input={directory}/corpus.{end}" for side, end in SIDES]
        flags = ("--source_lang", "en", "--target_lang", "de", "--unit_rows", "20")
        output = directory / f"out{seed}"
        with pytest.MonkeyPatch.context() as patch:
            self._keep(patch, steps, "write_shard", self.shards)
            self._keep(patch, steps.receipts, "write_unit_receipt", self.units)
            command = ("augment", *sides, *flags, "--shard_pairs", "16", "--workers", "1")
            runs.run_well_here(*command, "--output", output, "--seed", seed)
        self.golden = {
            str(path.relative_to(output)): path.read_bytes()
            for path in output.rglob("*")
            if path.is_file() and path.name != "_run.json"
        }
        self.plan = orjson.loads(self.golden["_plan.json"])
        self.model = hashed_files.read(str(output / MODEL))
        self.extra = {"symbols.txt": self.golden["symbols.txt"]}

    @staticmethod
    def _keep(patch, module, name, kept):
        function = getattr(module, name)

        def keep(*arguments):
            kept.append(arguments)
            return function(*arguments)

        patch.setattr(module, name, keep)


SIDES = (("source", "en"), ("target", "de"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Two runs of one corpus whose plans differ."""
    directory = tmp_path_factory.mktemp("finished")
    return Finished(directory, 1), Finished(directory, 2)


def once_each(function, key):
    """Return a function that is called once for each key."""
    known = {}

    @functools.wraps(function)
    def called(*arguments):
        result = key(*arguments)
        if result not in known:
            known[result] = function(*arguments)
        return known[result]

    return called


@pytest.fixture
def quick(monkeypatch):
    """Encode each shard and each report once; this is not what fails here."""
    encode = once_each(write.encode_parquet, key_of)
    monkeypatch.setattr(write, "encode_parquet", encode)
    render = once_each(page.render, lambda *a: orjson.dumps(a[0]))
    monkeypatch.setattr(page, "render", render)
    samples = lambda run, _: (run.directory, orjson.dumps(run.manifest))  # noqa: E731
    gather = once_each(run_samples.gather, samples)
    monkeypatch.setattr(run_samples, "gather", gather)


def key_of(table, *metadata):
    """Tell tables apart: by what they hold, which shard's they are and the run's metadata."""
    return tuple(table.schema.names), table.num_rows, str(table.slice(0, 1).to_pylist()), metadata


def launch(run, output, attempts, order):
    """Do what a launcher and its workers do, as `pipelines.run` and `pipelines.steps` have it."""
    claim(output, run.plan)
    config = run.shards[0][1]
    config = type(config)(output, config.shards, config.plan, config.signature, attempt="a1")
    for attempt in range(1, attempts + 1):
        done = receipts.finished_shards(output, config.plan, config.shards)
        unread = receipts.unread_units(output, config.plan, len(run.units))
        fitted = hmm_reference.find_whole(files.join(output, MODEL)) is not None
        if len(done) == config.shards and not unread and fitted:
            commit_run(output, run.extra)
            return
        try:
            work(run, config, order, done, fitted=fitted)
            return
        except ConfigError:
            raise
        except Exception:
            if attempt == attempts:
                raise


def work(run, config, order, done, *, fitted):
    """Do what the steps of a graph do: read, fit, write, commit."""
    for _, *facts in run.units:
        receipts.write_unit_receipt(config.output, *facts)
    if not fitted:
        hashed_files.write(files.join(config.output, MODEL), run.model)
    shards = sorted(run.shards, key=lambda call: order[call[0].shard.number % len(order)])
    for output, _ in shards:
        if output.shard.number not in done:
            write.write_shard(output, config)
    commit_run(config.output, run.extra)


FAULTS = st.dictionaries(
    st.integers(1, 220), st.sampled_from(faulty_files.KINDS), min_size=0, max_size=4
)
SCHEDULE = {
    "faults": st.tuples(FAULTS, FAULTS),
    "attempts": st.integers(1, 3),
    "order": st.permutations(range(5)),
    "launchers": st.integers(1, 2),
    "turns": st.lists(st.integers(1, 60), max_size=8),
    "same_plan": st.booleans(),
    "power_after": st.booleans(),
    "damage": st.none() | st.tuples(st.integers(0, 20), st.sampled_from([0.0, 0.5])),
    "seed": st.integers(0, 1 << 32),
}
REFUSED_BY_A_LOST_PLAN = {
    "faults": ({}, {9: "error_after"}),
    "attempts": 1,
    "order": list(range(5)),
    "launchers": 2,
    "turns": [1],
    "same_plan": False,
    "power_after": True,
    "damage": None,
    "seed": 0,
}
"""The second launcher's plan appears, but the operation seems to fail, so nothing synchronizes it.

The first launcher is refused by it; then the power fails, and the plan is gone.
"""


OUTPUTS = {"disk": faulty_files.DISK, "store": faulty_files.URI}


def schedules(count):
    """Return a decorator that gives a test so many schedules."""

    def decorate(test):
        test = hypothesis.given(schedule=st.fixed_dictionaries(SCHEDULE))(test)
        test = hypothesis.example(schedule=REFUSED_BY_A_LOST_PLAN)(test)
        return hypothesis.settings(
            max_examples=count,
            deadline=None,
            suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
        )(test)

    return decorate


@pytest.mark.slow
@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
@schedules(SCHEDULES)
def test_a_run_is_golden_or_the_next_one_is(output, schedule, finished, quick):
    del quick
    check_schedule(output, schedule, finished)


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
@schedules(20)
def test_a_few_schedules(output, schedule, finished, quick):
    del quick
    check_schedule(output, schedule, finished)


@pytest.mark.slow
def test_what_a_manifest_lists_survives_the_power_though_a_write_seemed_to_fail(
    finished, quick, monkeypatch
):
    """The first attempt fails before it has a model, the second after an operation succeeded."""
    del quick
    monkeypatch.setattr(hypothesis, "note", list)
    plain = {**REFUSED_BY_A_LOST_PLAN, "launchers": 1, "attempts": 3, "turns": []}
    met = []
    for operation in range(110, 175):
        world = check_schedule(
            OUTPUTS["disk"],
            {**plain, "faults": ({operation: "error_after", 64: "error"}, {}), "power_after": True},
            finished,
        )
        met += world.processes[0].met
    assert any(fault.endswith("models/hmm/about.json: error_after") for fault in met)


def check_schedule(output, schedule, finished):
    """Follow a schedule to the end, then run once more without faults: the bytes are golden.

    Returns:
        The world, with the faults that each process met.
    """
    world = faulty_files.World(schedule["turns"], schedule["seed"])
    plans = [finished[0], finished[0 if schedule["same_plan"] else 1]][: schedule["launchers"]]
    world.check = functools.partial(check_published, world, output, plans)
    arguments = (output, schedule["attempts"], schedule["order"])
    works = [(functools.partial(launch, run, *arguments), {}) for run in plans]
    works = [(work, faults) for (work, _), faults in zip(works, schedule["faults"], strict=False)]
    with world.installed():
        ends = world.run(*works)
        hypothesis.note(f"ends: {ends}; met: {[process.met for process in world.processes]}")
        for end, process in zip(ends, world.processes, strict=True):
            assert end is None or is_expected(end, process), end
        claimed = check_visible(world, output, plans, ends)
        if schedule["power_after"]:
            world.lose_power()
            claimed = check_visible(world, output, plans, ends)
        if schedule["damage"] is not None:
            damage(world, output, *schedule["damage"])
        next_run = functools.partial(launch, claimed, output, 1, range(5))
        assert world.run((next_run, {})) == [None]
        assert world.tree(output) == claimed.golden
    return world


def is_expected(end, process):
    """Tell whether a launcher may end so: a fault, another run's claim, or a plan it cannot see."""
    if any(met.endswith("/_plan.json: absent") for met in process.met):
        return isinstance(end, OSError | WorkerError | ConfigError | faulty_files.Killed)
    return isinstance(end, OSError | WorkerError | ClaimedError | faulty_files.Killed)


def damage(world, output, number, kept):
    """Damage a file of the shards or of the model, if nothing is committed."""
    names = [name for name in world.tree(output) if name.startswith(("data/p", "rejects/p", MODEL))]
    if names and "_manifest.json" not in world.tree(output):
        world.damage(f"{output}/{names[number % len(names)]}", kept)


def check_published(world, output, plans, path, data):
    """Check that what a reader sees under a final name is complete, and a manifest true.

    Nothing that was seen is deleted, except marks.
    """
    name = path.removeprefix(f"{output}/")
    if data is None:
        assert name.rpartition("/")[2].startswith((".tmp-", "begun-")), name
        return
    assert data in [run.golden.get(name) for run in plans] or "/begun-" in name, path
    if name == "_plan.json":
        world.published.append(data)
    if name == "_manifest.json":
        (run,) = [run for run in plans if run.golden[name] == data][:1]
        check_manifest(world.tree(output), run)


def check_manifest(tree, run):
    """Check that every file that a manifest names is there with its bytes, and none is lost."""
    manifest = orjson.loads(run.golden["_manifest.json"])
    assert manifest["rows"]["read"] == manifest["rows"]["kept"] + manifest["rows"]["rejected"]
    for entry in manifest["files"]:
        assert hashlib.sha256(tree[entry["name"]]).hexdigest() == entry["sha256"], entry["name"]


def check_visible(world, output, plans, ends):
    """Check what the launchers left; return the run that has claimed the directory."""
    tree = world.tree(output)
    claimed = [run for run in plans if tree.get("_plan.json") == run.golden["_plan.json"]]
    run = claimed[0] if claimed else plans[0]
    for name, data in tree.items():
        temporary = name.rpartition("/")[2].startswith((".tmp-", "begun-"))
        assert temporary or data == run.golden[name], name
    if "_manifest.json" in tree:
        check_manifest(tree, run)
    for launched, end in zip(plans, ends, strict=True):
        assert end is not None or (launched is run and "_manifest.json" in tree)
        if isinstance(end, ClaimedError):
            # By a plan that was there then, and that the power may have taken since.
            assert world.published
            assert launched.golden["_plan.json"] not in world.published
    return run
