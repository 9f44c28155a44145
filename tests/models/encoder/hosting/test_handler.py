"""The encoder under Beam: loaded once, one shard at a time, named in each receipt."""

import copyreg
import json
import os
import pickle
import shutil
import subprocess
import sys
import weakref

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from apache_beam.ml.inference.base import ModelMetadata  # noqa: E402
from apache_beam.testing.test_pipeline import TestPipeline as BeamPipeline  # noqa: E402
from apache_beam.testing.util import assert_that, equal_to  # noqa: E402
from apache_beam.transforms.window import FixedWindows, TimestampedValue  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

from pairweave.models.encoder.encoder_config import EncoderConfig  # noqa: E402
from pairweave.models.encoder.encoder_options import Hosting  # noqa: E402
from pairweave.models.encoder.hosting import encoder_reference, loaded_encoder  # noqa: E402
from pairweave.models.encoder.hosting.handler import AlignerHandler, AlignShards  # noqa: E402
from pairweave.models.encoder.neural import find_digest, load_aligner  # noqa: E402
from pairweave.pipelines.steps import steps  # noqa: E402
from pairweave.transforms.arrow.arrow_coder import from_stream, to_stream  # noqa: E402
from pairweave.transforms.errors import ConfigError, WorkerError  # noqa: E402
from pairweave.transforms.shards.shard import Shard  # noqa: E402
from pairweave.transforms.shards.shuffle import make_shard  # noqa: E402
from pairweave.transforms.text.tokens import TokenConfig, add_tokens  # noqa: E402
from tests.makers import corpora, poisoned, rows, runs  # noqa: E402
from tests.makers.poisoned import command  # noqa: E402
from tests.makers.token_tables import token_table  # noqa: E402


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with two corpora and two encoders."""
    directory = tmp_path_factory.mktemp("hosting")
    poisoned.write(directory)
    return directory


def config(directory, name="one"):
    return EncoderConfig(str(directory / name), layer=2)


def rows_of(output, pattern="data/part-*.parquet"):
    return [row for path in sorted(output.glob(pattern)) for row in pq.read_table(path).to_pylist()]


def receipts_of(output):
    paths = sorted((output / "_receipts").glob("shard-*.json"))
    return [json.loads(path.read_text()) for path in paths]


def manifest_of(output):
    return json.loads((output / "_manifest.json").read_text())


def shard(number, texts):
    """Return a shard with tokens."""
    batch = rows.batch(*(rows.row(*pair, line=line) for line, pair in enumerate(texts, 1)))
    made = make_shard((number, [pa.Table.from_batches([batch])]))
    return made.with_table(add_tokens(made.table, TokenConfig()))


def numbered(number) -> Shard:
    """Return a shard of four pairs, decided by its number."""
    return shard(number, [corpora.sentence(4 * number + row) for row in range(4)])


def summary(made):
    """Return what matters of an aligned shard."""
    return made.number, made.notes.model, made.table.to_pylist(), made.rejected.num_rows


def run_shards(count, check, metadata=None, **settings):
    """Align shards on Beam's own runner in this process."""
    with BeamPipeline() as pipeline:
        side = pipeline | "Model" >> beam.Create(metadata) if metadata else None
        made = (
            pipeline
            | "Numbers" >> beam.Create(range(count), reshuffle=False)
            | "Shards" >> beam.Map(numbered).with_output_types(Shard)
            | AlignShards(metadata=side, **settings)
            | "Summaries" >> beam.Map(summary)
        )
        assert_that(made, check)


def expected_of(count, loaded):
    """Return a check that shards are those that an aligner makes."""
    expected = []
    for number in range(count):
        linked = loaded.align(numbered(number).table).to_pylist()
        expected.append((number, loaded.digest, linked, 0))

    def check(made):
        assert sorted(made, key=lambda found: found[0]) == expected

    return check


@pytest.fixture
def loads(monkeypatch):
    """Return a list that grows with each encoder that is loaded."""
    loaded, load = [], encoder_reference.load

    def counted(reference):
        loaded.append(reference.digest)
        return load(reference)

    monkeypatch.setattr(encoder_reference, "load", counted)
    return loaded


@pytest.fixture
def unpicklable(monkeypatch):
    """Make it an error to pickle a table."""

    def refuse(table):
        raise AssertionError(f"a table of {table.num_rows} rows is pickled")

    for kind in (pa.Table, pa.RecordBatch, pa.Buffer):
        monkeypatch.setitem(copyreg.dispatch_table, kind, refuse)


HOSTINGS = [
    pytest.param(Hosting(), 1, id="one a process"),
    pytest.param(Hosting(large_model=True), 1, id="shared"),
    pytest.param(Hosting(model_copies=2), 2, id="two copies shared"),
    pytest.param(Hosting(accelerator="type:nvidia-l4;count:1"), 1, id="accelerator"),
]


@pytest.mark.parametrize(("hosting", "copies"), HOSTINGS)
@pytest.mark.usefixtures("unpicklable")
def test_an_encoder_is_loaded_once_and_no_table_is_pickled(directory, loads, hosting, copies):
    reference = encoder_reference.find(config(directory))
    check = expected_of(3, load_aligner(reference.config))
    run_shards(3, check, reference=reference, hosting=hosting)
    assert loads == [reference.digest] * copies


@pytest.mark.usefixtures("unpicklable")
def test_the_fixture_refuses_to_pickle():
    with pytest.raises(AssertionError, match="is pickled"):
        pickle.dumps(pa.table({"a": [1]}))
    with pytest.raises(AssertionError, match="is pickled"):
        beam.coders.registry.get_coder(object).encode(pa.table({"a": [1]}))


def test_a_hosted_aligner_can_be_shared_by_weak_reference_and_by_stream(directory):
    held = loaded_encoder.LoadedEncoder(encoder_reference.find(config(directory)))
    assert weakref.ref(held)() is held
    table = numbered(0).table
    linked, rejected, digest = held.align_stream(to_stream(table).to_pybytes())
    assert isinstance(linked, bytes)
    assert from_stream(linked).equals(held.align(table).linked)
    assert (rejected, digest) == ({}, find_digest(config(directory)))


@pytest.mark.usefixtures("unpicklable")
def test_the_size_of_a_batch_is_that_of_its_tables():
    handler = AlignerHandler(encoder_reference.EncoderReference(EncoderConfig("x"), ""), Hosting())
    given = numbered(0)
    assert handler.get_num_bytes([given, given]) == 2 * given.nbytes
    assert handler.batch_elements_kwargs() == {"min_batch_size": 1, "max_batch_size": 1}


def test_beam_is_told_how_many_copies_there_are_to_be():
    reference = encoder_reference.EncoderReference(EncoderConfig("x"), "")
    told = [
        (handler.share_model_across_processes(), handler.model_copies())
        for handler in (
            AlignerHandler(reference, Hosting()),
            AlignerHandler(reference, Hosting(large_model=True)),
            AlignerHandler(reference, Hosting(model_copies=3)),
        )
    ]
    assert told == [(False, 1), (True, 1), (True, 3)]
    with pytest.raises(ConfigError, match="model_copies must be 1 or more, got 0"):
        Hosting(model_copies=0)


def test_only_the_step_that_holds_the_model_asks_for_the_accelerator(directory):
    reference = encoder_reference.find(config(directory))
    wanted = "type:nvidia-l4;count:1;install-nvidia-driver"
    pipeline = beam.Pipeline()
    given = pipeline | beam.Create([0]) | beam.Map(lambda _: None).with_output_types(Shard)
    aligned = given | "Align" >> AlignShards(reference, Hosting(accelerator=wanted))
    _ = aligned | "After" >> beam.Map(id)
    components = pipeline.to_runner_api().components
    asking = {}
    for transform in components.transforms.values():
        hints = components.environments[transform.environment_id].resource_hints
        if hints:
            asking[transform.unique_name] = dict(hints)
    (name,) = asking
    assert name.startswith("Align/RunInference/")
    assert asking[name] == {"beam:resources:accelerator:v1": wanted.encode()}
    assert aligned.element_type == given.element_type


def test_a_model_that_can_align_nothing_is_an_error_when_it_is_loaded(directory, tmp_path):
    shutil.copytree(directory / "one", tmp_path / "broken")
    weights = load_file(tmp_path / "broken" / "model.safetensors")
    weights["embeddings.word_embeddings.weight"][:] = float("inf")
    save_file(weights, tmp_path / "broken" / "model.safetensors", metadata={"format": "pt"})
    reference = encoder_reference.find(config(tmp_path, "broken"))
    message = f"{tmp_path}/broken: the aligner fails even on a pair of single letters: hidden"
    with pytest.raises(WorkerError, match=message):
        loaded_encoder.LoadedEncoder(reference)


def test_a_pair_with_more_tokens_than_links_can_number_is_rejected_alone(directory):
    held = loaded_encoder.LoadedEncoder(encoder_reference.find(config(directory)))
    texts = [corpora.sentence(0), ("a " * 32_768, "b"), corpora.sentence(1)]
    linked, rejected, _ = held.align(token_table(texts))
    assert linked.num_rows == 2
    assert list(rejected) == [1]
    assert rejected[1][0] == "aligner_failed"
    assert "source_tokens has 32768 tokens, links can number 32767" in rejected[1][1]


def test_a_side_input_names_the_model_of_the_shards(directory):
    reference = encoder_reference.find(config(directory))
    check = expected_of(2, load_aligner(config(directory, "two")))
    named = ModelMetadata(model_id=str(directory / "two"), model_name="two")
    run_shards(2, check, reference=reference, metadata=[named])


def test_a_side_input_changes_the_model_between_shards(directory):
    names = ("one", "two", "one")
    reference = encoder_reference.find(config(directory))
    digests = [find_digest(config(directory, name)) for name in names]
    with BeamPipeline() as pipeline:
        steps = beam.Create([0, 1, 2], reshuffle=False)
        stamps = beam.Map(lambda number: TimestampedValue(number, 10 * number))
        numbers = pipeline | steps | stamps | beam.WindowInto(FixedWindows(10))
        paths = [str(directory / name) for name in names]
        metadata = numbers | "Metadata" >> beam.Map(lambda row: ModelMetadata(paths[row], "model"))
        made = (
            numbers
            | "Shards" >> beam.Map(numbered).with_output_types(Shard)
            | AlignShards(reference, metadata=metadata)
            | "Digests" >> beam.Map(lambda shard: (shard.number, shard.notes.model))
        )
        assert_that(made, equal_to(list(enumerate(digests))))


def test_a_side_input_does_not_name_a_shared_model(directory):
    pipeline = beam.Pipeline()
    metadata = pipeline | beam.Create([ModelMetadata("a", "b")])
    reference = encoder_reference.find(config(directory))
    with pytest.raises(ConfigError, match="cannot be shared between processes"):
        AlignShards(reference, Hosting(large_model=True), metadata)


# Watched directories


@pytest.fixture
def published(directory, tmp_path):
    """Return a link to the first encoder."""
    link = tmp_path / "current"
    link.symlink_to(directory / "one")
    return link


def publish(link, target):
    """Let a link point elsewhere, in one step."""
    link.with_name("next").symlink_to(target)
    link.with_name("next").rename(link)


def test_a_watched_model_changes_between_shards_only(directory, published):
    held = loaded_encoder.LoadedEncoder(
        encoder_reference.find(config(published.parent, "current"), watch=True)
    )
    table = numbered(0).table
    digests = []
    for target in ("one", "one", "two", "one"):
        publish(published, directory / target)
        digests.append(held.align(table).digest)
    one, two = (find_digest(config(directory, name)) for name in ("one", "two"))
    assert digests == [one, one, two, one]


def test_a_watched_model_that_is_touched_is_not_loaded_again(directory, tmp_path, loads):
    shutil.copytree(directory / "one", tmp_path / "model")
    held = loaded_encoder.LoadedEncoder(
        encoder_reference.find(config(tmp_path, "model"), watch=True)
    )
    for path in (tmp_path / "model").iterdir():
        os.utime(path, ns=(1, 1))
    held.align(numbered(0).table)
    assert len(loads) == 1


def test_while_a_watched_model_is_written_the_one_in_use_stays(directory, published, monkeypatch):
    held = loaded_encoder.LoadedEncoder(
        encoder_reference.find(config(published.parent, "current"), watch=True)
    )
    publish(published, directory / "two")
    find = encoder_reference.find

    def find_and_write(config):
        actual = find(config)
        publish(published, directory / "one")
        return actual

    monkeypatch.setattr(encoder_reference, "find", find_and_write)
    table = numbered(0).table
    assert held.align(table).digest == find_digest(config(directory))


def test_a_model_that_is_written_while_the_first_is_loaded_is_tried_again(
    directory, published, monkeypatch
):
    load = encoder_reference.load

    def write_and_load(reference):
        publish(published, directory / "two")
        changed = encoder_reference.EncoderReference(reference.config, "0" * 64)
        return load(changed)

    reference = encoder_reference.find(config(published.parent, "current"), watch=True)
    monkeypatch.setattr(encoder_reference, "load", write_and_load)
    with pytest.raises(WorkerError, match="changed while it was read; publish a model by moving"):
        loaded_encoder.LoadedEncoder(reference)


def test_a_watched_directory_without_a_model_is_an_error(published, tmp_path):
    held = loaded_encoder.LoadedEncoder(
        encoder_reference.find(config(published.parent, "current"), watch=True)
    )
    (tmp_path / "empty").mkdir()
    publish(published, tmp_path / "empty")
    with pytest.raises(ConfigError, match=r"no config\.json"):
        held.align(numbered(0).table)


def test_a_hub_name_cannot_be_watched():
    with pytest.raises(ConfigError, match="--watch_model: --model must be a directory, got some/"):
        encoder_reference.find(EncoderConfig("some/model"), watch=True)


# From the command line


@pytest.fixture(scope="module")
def augmented(directory):
    """Return the output of `augment` on the corpus with the poisonous pair."""
    runs.run_well_here(*command("augment", "augmented", corpus="poisoned"), cwd=directory)
    return directory / "augmented"


def test_the_pair_that_makes_the_model_fail_is_rejected_alone(directory, augmented):
    runs.run_well_here(*command("augment", "clean"), cwd=directory)
    rejects = rows_of(augmented, "rejects/*.parquet")
    (actual,) = (row for row in rejects if row["reason"] == "aligner_failed")
    assert (actual["stage"], actual["source"], actual["target"]) == ("align", *poisoned.PAIR)
    assert actual["detail"] == "hidden states are not finite in fp32"
    manifest = manifest_of(augmented)
    assert manifest["rejected"]["aligner_failed"] == 1
    assert manifest["rows"]["read"] == manifest["rows"]["kept"] + manifest["rows"]["rejected"]
    assert rows_of(augmented) == rows_of(directory / "clean")


def test_every_receipt_names_the_model_of_the_plan(directory, augmented):
    digest = find_digest(config(directory))
    receipts = receipts_of(augmented)
    assert len(receipts) == 3
    assert {receipt["model"] for receipt in receipts} == {digest}
    assert manifest_of(augmented)["aligned_by"] == {digest: [0, 1, 2]}
    for path in (*augmented.glob("data/part-*.parquet"), *augmented.glob("rejects/*.parquet")):
        assert pq.read_schema(path).metadata[b"pairweave.model"] == digest.encode()


@pytest.mark.parametrize(
    "more",
    [
        ("--large_model",),
        ("--model_copies", "2"),
        ("--accelerator", "type:nvidia-l4;count:1;install-nvidia-driver"),
    ],
    ids=lambda more: more[0][2:],
)
def test_where_the_model_is_held_changes_no_byte(directory, augmented, tmp_path, more):
    arguments = command("augment", tmp_path / "out", *more, corpus="poisoned")
    runs.run_well_here(*arguments, cwd=directory)
    assert runs.tree_digest(tmp_path / "out") == runs.tree_digest(augmented)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--model_copies", "0"), "model_copies"),
        (("--accelerator", "a100"), "accelerator"),
        (("--aligner", "hmm", "--large_model"), "does not take --large_model"),
    ],
)
def test_hosting_that_makes_no_sense_is_refused(directory, tmp_path, more, message):
    arguments = command("align", tmp_path / "out", *more)
    if "hmm" in more:
        arguments = ("align", *arguments[1:11], "--output", tmp_path / "out", *more)
    status, _, errors = runs.run_here(*arguments, cwd=directory)
    assert status == 2
    assert message in errors


@pytest.fixture
def switch_after_one(directory, published, monkeypatch):
    """Publish the second encoder when the first shard has been written; return the link's home."""
    write, written = steps.write_shard, []

    def write_and_publish(*arguments):
        name = write(*arguments)
        if not written:
            publish(published, directory / "two")
        written.append(name)
        return name

    monkeypatch.setattr(steps, "write_shard", write_and_publish)
    return written


@pytest.mark.parametrize("more", [(), ("--large_model",)], ids=["one each", "shared"])
def test_a_model_published_during_a_run_makes_the_shards_that_follow(
    directory, published, switch_after_one, tmp_path, more
):
    output = tmp_path / "out"
    arguments = command("align", output, "--watch_model", *more, model=published)
    runs.run_well_here(*arguments, cwd=directory)
    one, two = (find_digest(config(directory, name)) for name in ("one", "two"))
    receipts = receipts_of(output)
    first = next(
        receipt["shard"]
        for receipt in receipts
        if f"{receipt['shard']:05d}-of" in switch_after_one[0]
    )
    others = [receipt["shard"] for receipt in receipts if receipt["shard"] != first]
    assert {receipt["shard"]: receipt["model"] for receipt in receipts} == {
        first: one,
        **dict.fromkeys(others, two),
    }
    assert manifest_of(output)["aligned_by"] == {one: [first], two: others}
    configuration = manifest_of(output)["configuration"]
    assert (configuration["model"], configuration["watch_model"]) == (None, True)
    for name in ("one", "two"):
        expected = tmp_path / name
        runs.run_well_here(*command("align", expected, model=name), cwd=directory)
        for receipt in receipts:
            if receipt["model"] == find_digest(config(directory, name)):
                part = receipt["files"][0]["name"]
                assert pq.read_table(output / part).equals(pq.read_table(expected / part))
    # A run that is finished later keeps what is there, whichever model made it.
    lost = output / receipts[first]["files"][0]["name"]
    lost.unlink()
    (output / "_manifest.json").unlink()
    before = {path: path.stat().st_mtime_ns for path in output.glob("data/part-*")}
    runs.run_well_here(*arguments, cwd=directory)
    assert manifest_of(output)["aligned_by"] == {two: [0, 1, 2]}
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_run_that_watches_nothing_keeps_the_model_of_its_plan(
    directory, published, switch_after_one, tmp_path
):
    output = tmp_path / "out"
    arguments = command("align", output, model=published)
    runs.run_well_here(*arguments, cwd=directory)
    assert len(switch_after_one) == 3
    assert manifest_of(output)["aligned_by"] == {find_digest(config(directory)): [0, 1, 2]}
    (output / "_manifest.json").unlink()
    status, _, errors = runs.run_here(*arguments, cwd=directory)
    assert status == 2
    assert "already belongs to another run: configuration.model was" in errors


def test_a_shard_of_another_model_is_not_committed(directory, tmp_path):
    output = tmp_path / "out"
    arguments = command("align", output)
    runs.run_well_here(*arguments, cwd=directory)
    path = output / "_receipts" / "shard-00001-of-00003.json"
    receipt = json.loads(path.read_text())
    path.write_text(json.dumps({**receipt, "model": "0" * 64}))
    status, _, errors = runs.run_here(*arguments, cwd=directory)
    assert status == 1
    assert (
        f"shard 1: expected the model {find_digest(config(directory))}, found {'0' * 64}" in errors
    )


def test_a_receipt_whose_model_is_no_text_is_not_believed(directory, tmp_path):
    output = tmp_path / "out"
    runs.run_well_here(*command("align", output), cwd=directory)
    before = runs.tree_digest(output)
    path = output / "_receipts" / "shard-00001-of-00003.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "model": 7}))
    runs.run_well_here(*command("align", output), cwd=directory)
    assert runs.tree_digest(output) == before


def test_a_job_without_an_encoder_does_not_load_beams_inference(tmp_path):
    """It would take a second of each start, and the memory of the libraries that it looks for."""
    (tmp_path / "a.tsv").write_text("a b\tc d\ne f\tg h\n")
    program = (
        "import sys; from pairweave.pipelines import cli; status = cli.main(sys.argv[1:]); "
        "print(status, [name for name in ('apache_beam', 'apache_beam.ml.inference.base', 'torch') "
        "if name in sys.modules])"
    )
    words = ("augment", "--input", "a.tsv", "--source_lang", "en", "--target_lang", "de")
    words = (*words, "--output", "out", "--workers", "1")
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(runs.ROOT)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1] == "0 ['apache_beam']", done.stderr
    assert len(rows_of(tmp_path / "out")) == 2
