import json

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.options.pipeline_options import PipelineOptions

from pairweave.models.hmm import hmm_reference
from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.ter_aligner import TerAligner
from pairweave.pipelines.job_options.suggest_options import SuggestOptions
from pairweave.pipelines.jobs import suggest
from pairweave.pipelines.jobs.suggest import compare_linked, cut_translations
from pairweave.pipelines.steps.steps import MapShards
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.monolingual import add_comparison, as_monolingual
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.shards.shuffle import MakeShards
from pairweave.transforms.text.tokens import TokenConfig, add_tokens
from tests.makers.translations import made_triple, pairs_table

PAIRS = 60
LONG = 5
"""The pair whose translation does not end."""

WITHOUT = 7
"""The pair without a translation."""


def triples():
    made = [made_triple(number) for number in range(PAIRS)]
    made[WITHOUT] = (*made[WITHOUT][:2], None)
    made[LONG] = (*made[LONG][:2], " ".join([made[LONG][2]] * 6))
    return made


def run_of(directory, *, name="pairs.jsonl", made=None, **options):
    """Plan the job `suggest` on made pairs."""
    path = directory / name
    if not path.exists():
        lines = [
            {"source": source, "target": target, "translation": translation}
            for source, target, translation in (made or triples())
        ]
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return suggest.JOB.prepare(
        SuggestOptions(
            input=(str(path),),
            source_lang="en",
            target_lang="de",
            output=str(directory / "out"),
            workers=1,
            **options,
        ),
    )


def batch_of(made):
    """Return rows as the readers make them, whose ids are their places."""
    rows = [
        {"unit": 0, **row, "stage": None, "reason": None, "detail": None, "raw": None}
        for row in pairs_table(made).to_pylist()
    ]
    return pa.RecordBatch.from_pylist(rows, schema=schemas.ROWS)


def some(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Tell Beam what travels."""
    return batch


class Keep(beam.DoFn):
    """Writes a shard's tables into a directory."""

    def __init__(self, directory):
        self._directory = directory

    def process(self, shard: Shard):
        names = ("kept", "rejected", "table")
        for name in names:
            table = getattr(shard, name)
            path = str(self._directory / f"{name}-{shard.number}")
            with pa.OSFile(path, "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)


def compare(directory, run, made=None, shards=3, heuristic="grow-diag"):
    """Align made pairs in a graph; return kept rows, rejected rows and working table."""
    result = directory / "found"
    result.mkdir(exist_ok=True)
    options = PipelineOptions(
        ["--runner=pairweave.pipelines.engines.local.local_runner.LocalRunner"]
    )
    with beam.Pipeline(options=options) as pipeline:
        rows = (
            pipeline
            | beam.Create([batch_of([]), batch_of(made or triples())])
            | "Rows" >> beam.Map(some)
        )
        cut = rows | "Shuffle" >> MakeShards(shards, frozenset(range(shards)))
        model = run.aligner.model(rows, run, translations=True)
        tokens = MapShards(cut_translations, model, aligner=run.aligner, tokens=run.tokens)
        linked = cut | tokens | run.aligner.step(run, model, translations=True)
        step = beam.Map(compare_linked, config=SymmetrizeConfig(heuristic))
        compared = linked | "Compare" >> step.with_output_types(Shard)
        _ = compared | "Keep" >> beam.ParDo(Keep(result))
    tables = []
    for name in ("kept", "rejected", "table"):
        parts = [pa.ipc.open_stream(result / f"{name}-{n}").read_all() for n in range(shards)]
        tables.append(pa.concat_tables(parts))
    return tables


def expected(aligner, heuristic="grow-diag"):
    pairs = pairs_table(triples())
    linked = aligner.align(add_tokens(as_monolingual(pairs), TokenConfig()))
    return add_comparison(pairs, symmetrize(linked, SymmetrizeConfig(heuristic)))


def test_edits_need_no_model_and_give_the_aligners_own_links(tmp_path):
    run = run_of(tmp_path)
    assert isinstance(run.model, TerAligner)
    assert run.document["models"] == []
    assert run.document["configuration"]["model"] == TerAligner().digest
    kept, rejected, table = compare(tmp_path, run)
    assert table.schema.equals(schemas.COMPARED)
    assert table.to_pylist() == expected(TerAligner()).to_pylist()
    assert kept.num_rows == PAIRS
    assert rejected.num_rows == 0
    assert not table.column("links")[WITHOUT].as_py()
    assert table.column("links")[0].as_py()


def test_a_model_is_fitted_on_the_translations(tmp_path):
    run = run_of(tmp_path, aligner="hmm")
    run.aligner.check_translations(run.model)
    assert run.document["models"] == ["models/hmm"]
    _, _, table = compare(tmp_path, run, heuristic="intersection")
    reference = hmm_reference.find(str(tmp_path / "out" / "models" / "hmm"))
    fitted = hmm_reference.load(reference)
    assert fitted.about["source_lang"] == fitted.about["target_lang"] == ["de"]
    assert fitted.about["pairs"] == PAIRS - 1
    assert table.to_pylist() == expected(fitted.model, "intersection").to_pylist()
    pairs = pairs_table([triple for triple in triples() if triple[2] is not None])
    same = fit(add_tokens(as_monolingual(pairs), TokenConfig()), HmmConfig())
    assert same.digest == fitted.model.digest


def test_a_fitted_model_of_one_language_is_used_as_it_is(tmp_path):
    first = run_of(tmp_path, aligner="hmm")
    _, _, table = compare(tmp_path, first)
    (tmp_path / "again").mkdir()
    run = run_of(tmp_path / "again", aligner="hmm", model=str(tmp_path / "out" / "models" / "hmm"))
    run.aligner.check_translations(run.model)
    _, _, again = compare(tmp_path / "again", run)
    assert again.equals(table)
    assert not (tmp_path / "again" / "out").exists()


def test_a_model_of_two_languages_is_refused(tmp_path):
    run = run_of(tmp_path, aligner="hmm")
    options = PipelineOptions(
        ["--runner=pairweave.pipelines.engines.local.local_runner.LocalRunner"]
    )
    with beam.Pipeline(options=options) as pipeline:
        rows = pipeline | beam.Create([batch_of(triples())]) | "Rows" >> beam.Map(some)
        model = run.aligner.model(rows, run)
        _ = pipeline | "One" >> beam.Create([0]) | "Beside" >> beam.Map(beside, model)
    given = str(tmp_path / "out" / "models" / "hmm")
    run = run_of(tmp_path, aligner="hmm", model=given)
    with pytest.raises(ConfigError, match="was fitted from en to de; translations are aligned"):
        run.aligner.check_translations(run.model)


def beside(number: int, _: hmm_reference.HmmReference) -> int:
    return number


def test_nothing_can_be_fitted_without_translations(tmp_path):
    made = [(*triple[:2], None) for triple in triples()]
    run = run_of(tmp_path, aligner="hmm")
    with pytest.raises(Exception, match="none of 60 sampled pairs has a translation"):
        compare(tmp_path, run, made)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "m"}, "--aligner ter has no model; leave --model out, or give --aligner hmm"),
        ({"layer": 3}, "--aligner ter does not take --layer; leave it out, or give --aligner enc"),
        ({"decode": "viterbi"}, "--aligner ter does not take --decode; leave it out, or give --al"),
        ({"tokens": "sentencepiece"}, "a model is trained only for --aligner hmm"),
        ({"aligner": "encoder"}, "--aligner encoder needs --model"),
    ],
)
def test_options_that_edits_do_not_know_are_refused(tmp_path, options, message):
    with pytest.raises(ConfigError, match=message):
        run_of(tmp_path, **options)


def test_an_encoder_rejects_translations_over_its_limit(tmp_path):
    pytest.importorskip("torch", reason="needs the extra `neural`")
    from pairweave.models.encoder.neural import load_aligner
    from tests.makers.encoders import write_bert

    texts = [text for triple in triples() for text in triple if text is not None]
    write_bert(tmp_path / "bert", texts, layers=2, max_position_embeddings=40)
    run = run_of(
        tmp_path,
        aligner="encoder",
        model=str(tmp_path / "bert"),
        layer=2,
        long_pairs="reject",
    )
    assert (run.model.config.head.head, run.model.config.unit) == ("ot", "words")
    run.aligner.check_translations(run.model)
    kept, rejected, table = compare(tmp_path, run)
    assert rejected.column("line").to_pylist() == [LONG + 1]
    assert rejected.column("reason").to_pylist() == ["too_long_for_encoder"]
    assert rejected.column("source").to_pylist() == [triples()[LONG][0]]
    assert rejected.column("translation").to_pylist() == [triples()[LONG][2]]
    assert kept.column("id").to_pylist() == table.column("id").to_pylist()
    left = [row for row in range(PAIRS) if row != LONG]
    alone = load_aligner(run.model.config).align_or_reject(
        add_tokens(as_monolingual(pairs_table(triples())), TokenConfig())
    )[0]
    linked = symmetrize(alone, SymmetrizeConfig())
    assert table.column("links").equals(linked.column("links"))
    assert table.select(schemas.PAIRS.names).equals(pairs_table(triples()).take(left))
    assert not table.column("links")[left.index(WITHOUT)].as_py()
