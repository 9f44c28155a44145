"""How likely the aligner finds the new pairs of a run: of plain rows, whatever rows it has."""

import hashlib
import json

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from pairweave.pipelines.refresh import likelihood
from pairweave.pipelines.refresh.assembly import Source
from pairweave.pipelines.refresh.chain import records
from tests.makers import nightly, runs


def rewrite(run, shard, rows):
    """Write the only shard of a run again, with its hash in the manifest."""
    pq.write_table(rows, shard)
    manifest = json.loads((run / "_manifest.json").read_text())
    (entry,) = [each for each in manifest["files"] if each["name"] == f"data/{shard.name}"]
    entry["sha256"] = hashlib.sha256(shard.read_bytes()).hexdigest()
    (run / "_manifest.json").write_text(json.dumps(manifest))


def test_tagged_rows_do_not_change_the_likelihood(tmp_path):
    nightly.write_help(tmp_path, "one", range(30))
    words = ("--source_lang", "en", "--target_lang", "de", "--mix", 1, "--workers", 1)
    words += ("--corpus", "help", "--keep_origin", "true")
    runs.run_well_here(
        "augment", "--input", "help/one.tsv", *words, "--output", "run", cwd=tmp_path
    )
    run = tmp_path / "run"
    (model,) = (run / "models").iterdir()
    (shard,) = (run / "data").glob("part-*.parquet")
    rows = pq.read_table(shard)
    is_plain = pc.equal(rows.column("kind").cast(pa.string()), "plain")
    assert 0 < pc.sum(is_plain).as_py() < rows.num_rows
    source = Source(str(run), {("help", "help/one.tsv"): "one"}, {"one": 30})
    actual = likelihood.mean_likelihood(str(model), source)
    rewrite(run, shard, rows.filter(is_plain))
    assert likelihood.mean_likelihood(str(model), source) == actual
    few = [likelihood.mean_likelihood(str(model), source, most) for most in (5, 10)]
    assert len({actual, *few}) == 3
    unwanted = Source(str(run), {("help", "help/one.tsv"): "one"}, {})
    assert likelihood.mean_likelihood(str(model), unwanted) is None


def test_a_night_with_a_gate_for_likelihood_notes_that_of_its_new_pairs(tmp_path):
    nightly.write_help(tmp_path, "one", range(30))
    head = nightly.HEAD.replace("augment", "align").replace("mix: 0\n", "")
    of = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\n'
    gate = "gates: {min_likelihood: -50}\n"
    nightly.write_config(tmp_path, of=of, head=head, more=gate)
    nightly.good_night(tmp_path)
    metrics = records.latest(str(tmp_path / "table")).metrics
    assert -20 < metrics["new"]["likelihood"]["en-de"] < 0
