"""The command ``refresh`` with each job, and with a model that its first night fits."""

import json

import numpy as np
import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from deltalake import DeltaTable

from pairweave.pipelines.refresh.chain import records
from tests.makers import corpora, nightly, runs

pytestmark = pytest.mark.slow

HEADS = {
    "augment": "job: augment\nfilter: {max_copied: 0.5}\n",
    "align": "job: align\n",
    "filter": "job: filter\nduplicates: exact\nselect_score: 0.05\n",
    "suggest": "job: suggest\n",
}
MAIN = {"augment": "tagged", "align": "links", "filter": "pairs", "suggest": "suggestions"}
COMMON = "source_lang: en\ntarget_lang: de\nworkers: 1\nshard_pairs: 60\n"


def write_night(directory, name, numbers, *, translated):
    """Write a TSV file, with a translation beside each pair if wanted."""
    lines = []
    for number in numbers:
        source, target = corpora.sentence(number)
        worse = corpora.sentence(number)[1].replace("das", "ein").replace("Das", "Ein")
        lines.append("\t".join((source, target, worse) if translated else (source, target)))
    (directory / f"{name}.tsv").write_text("".join(f"{line}\n" for line in lines))


def config_of(job, table=None):
    """Return the configuration of a job, with a table's own model if one is given."""
    field = ", translation_field: '3'" if job == "suggest" else ""
    of = f"corpora:\n- {{corpus: toy, input: '*.tsv'{field}}}\n"
    models = sorted(table.glob("_models/*/*")) if table else []
    given = f"model: {models[0]}\n" if models else ""
    return HEADS[job] + COMMON + given + of


@pytest.mark.parametrize("job", sorted(HEADS))
def test_nights_give_the_rows_of_one_night_with_the_same_model(job, tmp_path):
    translated = job == "suggest"
    (tmp_path / "nightly.yaml").write_text(config_of(job))
    write_night(tmp_path, "a", range(200), translated=translated)
    nightly.good_night(tmp_path)
    table, main = tmp_path / "table", MAIN[job]
    assert len(nightly.ids(table, main)) > 100
    model = json.dumps(sorted(str(path) for path in table.glob("_models/*/*")))
    write_night(tmp_path, "b", range(150, 260), translated=translated)
    nightly.good_night(tmp_path)
    write_night(tmp_path, "a", range(20, 200), translated=translated)
    nightly.good_night(tmp_path)
    assert json.dumps(sorted(str(path) for path in table.glob("_models/*/*"))) == model
    assert DeltaTable(str(table / main)).version() == 2
    (tmp_path / "at_once.yaml").write_text(config_of(job, table))
    nightly.good_night(tmp_path, table="at_once", config="at_once.yaml")
    for name in (main, "provenance", "rejects"):
        assert nightly.rows(table, name) == nightly.rows(tmp_path / "at_once", name), name
    columns = DeltaTable(str(table / main)).schema().to_arrow()
    assert not {"file", "line", "content"} & {field.name for field in columns}


def test_a_model_is_fitted_anew_on_request_and_by_its_rule(tmp_path):
    def night(*words, growth=""):
        of = "corpora:\n- {corpus: toy, input: '*.tsv'}\n"
        gates = "gates: {max_count_factor: 1.5, min_compared: 10}\n"
        (tmp_path / "nightly.yaml").write_text(HEADS["align"] + COMMON + gates + growth + of)
        return nightly.good_night(tmp_path, *words)

    def record():
        return records.latest(str(tmp_path / "table"))

    write_night(tmp_path, "a", range(120), translated=False)
    night()
    first = record()
    assert first.fitted == {"en-de": 120}
    write_night(tmp_path, "b", range(120, 260), translated=False)
    assert "fitted anew" not in night(growth="refit_growth: 3\n")
    assert record().models == first.models
    plan = night("--plan_only", growth="refit_growth: 2\n")
    assert (
        "en-de was fitted to 120 places of pairs, and the table has 260 (refit_growth: 2)" in plan
    )
    out = night(growth="refit_growth: 2\n")
    assert "models are fitted anew, and all rows made with them:" in out
    refitted = record()
    assert (refitted.operation, refitted.fitted) == ("refit", {"en-de": 260})
    assert refitted.models != first.models
    assert "nothing has changed" in night(growth="refit_growth: 2\n")
    write_night(tmp_path, "c", range(260, 300), translated=False)
    assert record().models == refitted.models
    night("--accept", "a small night")
    night("--refit")
    assert record().fitted == {"en-de": 300}
    nightly.good_night(tmp_path, table="at_once")
    for name in ("links", "provenance", "rejects"):
        assert nightly.rows(tmp_path / "table", name) == nightly.rows(tmp_path / "at_once", name)
    runs.run_well_here("refresh", "verify", "table", cwd=tmp_path)


def test_new_pairs_that_the_aligner_finds_unlikely_are_stopped_by_a_gate(tmp_path):
    of = "corpora:\n- {corpus: toy, input: '*.tsv'}\n"
    gates = "gates: {min_likelihood: -8, max_likelihood_drop: 1}\n"
    (tmp_path / "nightly.yaml").write_text(HEADS["align"] + COMMON + gates + of)
    write_night(tmp_path, "a", range(300), translated=False)
    nightly.good_night(tmp_path)
    write_night(tmp_path, "b", range(300, 340), translated=False)
    nightly.good_night(tmp_path, "--metrics", "m.prom")
    metrics = records.latest(str(tmp_path / "table")).metrics["new"]["likelihood"]
    assert -8 < metrics["en-de"] < 0
    assert (
        'pairweave_refresh_mean_likelihood{languages="en-de"} -'
        in (tmp_path / "m.prom").read_text()
    )
    lines = []
    for number in range(400, 440):
        source, target = corpora.sentence(number)[0], corpora.sentence(number + 50)[1]
        lines.append(f"{source}\t{' '.join(reversed(target.split()))}\n")
    (tmp_path / "c.tsv").write_text("".join(lines))
    status, _, errors = nightly.night(tmp_path)
    assert status == 4
    assert "max_likelihood_drop.en-de:" in errors


def write_scored(directory, name, lines):
    """Write a TSV file of sentences, each with a score after it if it is not None."""
    (directory / name).parent.mkdir(exist_ok=True)
    rows = [(*corpora.sentence(number), *([] if s is None else [str(s)])) for number, s in lines]
    (directory / name).write_text("".join("\t".join(row) + "\n" for row in rows))


def scored_night(directory, job, *of, more="", words=()):
    lines = [f"- {{corpus: {name}, input: '{name}/*.tsv'{field}}}\n" for name, field in of]
    head = f"{job}{COMMON}{more}"
    nightly.write_config(directory, head=head, of=f"corpora:\n{''.join(lines)}")
    return nightly.night(directory, *words)


def scores_in(table, main):
    rows = [json.loads(row) for row in nightly.rows(table, main, left_out=())]
    return {row["source"]: (row["corpus"], row["score"]) for row in rows}


SCORED, PLAIN = ", score_field: '3'", ""
MONO = "job: suggest\nmethods: parallel\n"


@pytest.mark.parametrize("job", ["filter", "suggest"])
def test_a_row_keeps_no_score_of_a_corpus_that_loses_its_pair(job, tmp_path):
    head = MONO if job == "suggest" else "job: filter\nduplicates: exact\n"
    of = (("a", SCORED), ("b", SCORED))
    accept = ("--accept", "a test")
    first, second = (corpora.sentence(number)[0] for number in (1, 2))
    write_scored(tmp_path, "a/1.tsv", [(1, 0.75), (2, 0.75), (3, 0.75)])
    write_scored(tmp_path, "b/1.tsv", [(1, 0.5), (4, 0.5)])
    assert scored_night(tmp_path, head, *of)[0] == 0
    table, main = tmp_path / "table", MAIN[job]
    assert scores_in(table, main)[first] == ("a", 0.75)
    write_scored(tmp_path, "a/1.tsv", [(2, 0.25), (3, 0.25)])
    assert scored_night(tmp_path, head, *of, words=accept)[0] == 0
    assert scores_in(table, main)[first] == ("b", 0.5)
    assert scores_in(table, main)[second] == ("a", 0.75)  # what the table has does not change
    write_scored(tmp_path, "a/1.tsv", [(3, 0.25)])
    write_scored(tmp_path, "b/2.tsv", [(2, 0.125)])
    assert scored_night(tmp_path, head, *of, words=accept)[0] == 0
    assert scores_in(table, main)[second] == ("b", 0.125)
    runs.run_well_here("refresh", "verify", "table", cwd=tmp_path)


def test_a_row_that_has_the_best_score_of_all_corpora_loses_that_of_one_that_goes(tmp_path):
    head = "job: filter\nduplicates: exact\n"
    first = corpora.sentence(1)[0]
    write_scored(tmp_path, "a/1.tsv", [(1, 0.5), (2, 0.5)])
    write_scored(tmp_path, "b/1.tsv", [(1, 0.75), (3, 0.5)])
    assert scored_night(tmp_path, head, ("a", SCORED), ("b", SCORED))[0] == 0
    assert scores_in(tmp_path / "table", "pairs")[first] == ("a", 0.75)
    assert scored_night(tmp_path, head, ("a", SCORED))[0] == 0
    assert scores_in(tmp_path / "table", "pairs")[first] == ("a", 0.5)


def test_a_row_keeps_no_score_when_the_only_corpus_with_scores_goes(tmp_path):
    first = corpora.sentence(1)[0]
    write_scored(tmp_path, "a/1.tsv", [(1, 0.75), (2, 0.5)])
    write_scored(tmp_path, "b/1.tsv", [(1, None), (3, None)])
    assert scored_night(tmp_path, MONO, ("a", SCORED), ("b", PLAIN))[0] == 0
    assert scores_in(tmp_path / "table", "suggestions")[first] == ("a", 0.75)
    assert scored_night(tmp_path, MONO, ("b", PLAIN))[0] == 0
    assert scores_in(tmp_path / "table", "suggestions")[first] == ("b", None)


def test_a_night_whose_new_files_have_no_scores_is_judged_as_the_first_was(tmp_path):
    of = (("a", SCORED), ("b", PLAIN))
    limit = "min_score: 0.25\n"
    write_scored(tmp_path, "a/1.tsv", [(1, 0.75), (2, 0.5)])
    write_scored(tmp_path, "b/1.tsv", [(3, None)])
    assert scored_night(tmp_path, MONO, *of, more=limit)[0] == 0
    write_scored(tmp_path, "b/2.tsv", [(4, None)])
    status, _, errors = scored_night(tmp_path, MONO, *of, more=limit)
    assert status == 0, errors
    details = [json.loads(row)["detail"] for row in nightly.rows(tmp_path / "table", "rejects")]
    assert details == ["score: missing"] * 2
    status, _, errors = scored_night(
        tmp_path, MONO, ("b", PLAIN), more=limit, words=("--accept", "a test", "--full_check")
    )
    assert status == 0, errors  # only a corpus goes
    write_scored(tmp_path, "b/3.tsv", [(5, None)])
    status, _, errors = scored_night(tmp_path, MONO, ("b", PLAIN), more=limit)
    assert status == 2
    assert "--min_score: without --scorer" in errors


def test_given_and_computed_scores_are_not_mixed_in_a_table(tmp_path):
    head = "job: filter\nduplicates: exact\n"
    write_scored(tmp_path, "a/1.tsv", [(number, 0.75) for number in range(40)])
    assert scored_night(tmp_path, head, ("a", SCORED))[0] == 0
    write_scored(tmp_path, "b/1.tsv", [(number, None) for number in range(40, 80)])
    status, _, errors = scored_night(tmp_path, head, ("a", SCORED), ("b", PLAIN))
    assert status == 2
    assert "corpus b has no scores, but others have" in errors
    status, _, errors = scored_night(tmp_path, head, ("b", PLAIN))
    assert status == 2
    assert "scores were given with the pairs, are now computed. Give --migrate" in errors
    words = ("--migrate", "--accept", "a test")
    status, _, errors = scored_night(tmp_path, head, ("b", PLAIN), words=words)
    assert status == 0, errors
    assert "scores were computed, are now given" in scored_night(tmp_path, head, ("a", SCORED))[2]


def test_a_night_whose_new_files_have_no_attention_takes_its_options(tmp_path):
    for name, lines in (("a.en", "a b\n"), ("a.de", "c d\n"), ("b1.tsv", "e f\tg h\t0-0 1-1\n")):
        (tmp_path / name).write_text(lines)
    np.savez(tmp_path / "a.npz", np.eye(3))
    head = "job: align\naligner: given\nattention_method: naive\ntokens: whitespace\n" + COMMON
    of = (
        "corpora:\n- {corpus: a, source_input: a.en, target_input: a.de, attention: a.npz}\n"
        "- {corpus: b, input: 'b*.tsv', links_field: '3'}\n"
    )
    nightly.write_config(tmp_path, head=head, of=of)
    nightly.good_night(tmp_path)
    (tmp_path / "b2.tsv").write_text("i j\tk l\t0-0\n")
    nightly.good_night(tmp_path)
    assert len(nightly.ids(tmp_path / "table", "links")) == 3
