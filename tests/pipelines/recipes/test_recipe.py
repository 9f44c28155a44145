"""Recipes: their steps, references and rounds, and what is refused before anything runs."""

import pytest

from pairweave.pipelines.recipes import recipe
from pairweave.transforms.errors import ConfigError
from tests.makers import runs

LANGS = "source_lang: en\ntarget_lang: de\n"
FIT = "- {job: fit, source_input: a.en, target_input: a.de}\n"
BITEXT = "- {job: bitext, source_input: a.en, target_input: a.de, model: {from: fit}}\n"


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Return a function that reads a recipe in a directory with a corpus."""
    monkeypatch.chdir(tmp_path)
    for side in ("en", "de"):
        (tmp_path / f"a.{side}").write_text("a b\n")

    def read(text, **given):
        (tmp_path / "r.yaml").write_text(text)
        return recipe.read_recipe("r.yaml", "out", given)

    return read


def test_a_step_gets_the_shared_keys_that_its_job_has_and_its_own_directory(read):
    steps = read(
        f"{LANGS}max_tags: 4\nseed: 7\nworkers: 3\nsteps:\n{FIT}"
        "- {job: augment, name: tagged, source_input: a.en, target_input: a.de, seed: 8}\n"
    )
    fit, tagged = steps
    assert (fit.options.seed, tagged.options.seed) == (7, 8)
    assert (fit.options.output, tagged.options.output) == ("out/fit", "out/tagged")
    assert tagged.options.max_tags == 4
    assert "max_tags" not in type(fit.options).model_fields
    assert {step.options.workers for step in steps} == {3}
    assert tagged.options.target_lang == "de"


def test_a_data_set_of_the_hub_is_asked_for_only_when_its_step_runs(read):
    fit = "- {{job: fit, input: '{}'}}\n"
    (step,) = read(f"{LANGS}steps:\n{fit.format('hf://org/name?split=train')}")
    assert step.options.input == ("hf://org/name?split=train",)
    with pytest.raises(
        ConfigError, match="hf://org: is not the place of a data set; expected hf://"
    ):
        read(f"{LANGS}steps:\n{fit.format('hf://org')}")


def test_a_file_in_a_store_is_looked_for_only_when_its_step_runs(read):
    align = FIT.replace("fit", "align")
    (step,) = read(f"{LANGS}steps:\n{align[:-2]}, known_pairs: 's3://bucket/known.tsv'}}\n")
    assert step.options.known_pairs == "s3://bucket/known.tsv"


def test_an_earlier_run_that_no_step_makes_is_found_by_its_manifest(read, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/_manifest.json").touch()
    (step,) = read(f"{LANGS}steps:\n{FIT.replace('fit', 'filter')[:-2]}, earlier: run}}\n")
    assert step.options.earlier == ("run",)


def test_the_command_line_takes_precedence_in_every_step_that_has_the_option(read):
    tuned = "- {job: finetune, model: m, source_input: a.en, target_input: a.de}\n"
    *steps, last = read(
        f"{LANGS}workers: 3\nsteps:\n{FIT}{BITEXT}{tuned}", workers=1, engine="flink"
    )
    assert [(step.options.workers, step.options.engine) for step in steps] == [(1, "flink")] * 2
    assert "workers" not in type(last.options).model_fields


def test_references_become_directories(read):
    steps = read(
        f"{LANGS}steps:\n{FIT}{BITEXT}"
        "- {job: filter, input: [{from: bitext}, a.tsv], earlier: {from: bitext}}\n"
        "- {job: augment, corpora: [{input: {from: filter}}, {corpus: b, input: a.tsv}],"
        " model: {from: filter}}\n".replace("a.tsv", "a.en")
    )
    _, bitext, cleaned, tagged = steps
    assert (bitext.options.model, bitext.reads) == ("out/fit", ("fit",))
    assert (cleaned.options.from_run, cleaned.options.input) == (("out/bitext",), ("a.en",))
    assert (cleaned.options.earlier, cleaned.reads) == (("out/bitext",), ("bitext",))
    assert tagged.options.corpora[0].from_run == ("out/filter",)
    assert tagged.options.model == "out/filter/models/hmm"
    assert tagged.reads == ("filter",)


def test_any_option_that_names_a_model_or_a_run_can_refer_to_a_step(read):
    pairs = "source_input: a.en, target_input: a.de"
    *_, tagged, refitted = read(
        f"{LANGS}steps:\n{FIT}{BITEXT}"
        "- {job: augment, from_run: {from: bitext}, model: {from: fit},"
        " filter: {score_model: {from: fit}, min_score: 0.5}}\n"
        f"- {{job: fit, name: again, {pairs}, prior: {{from: fit}}}}\n"
    )
    assert tagged.options.from_run == ("out/bitext",)
    assert (tagged.options.model, tagged.options.filter.score_model) == ("out/fit", "out/fit")
    assert tagged.reads == ("bitext", "fit")
    assert (refitted.options.prior, refitted.reads) == ("out/fit", ("fit",))


def test_steps_may_write_files_outside_each_other_s_directories(read):
    pairs = "source_input: a.en, target_input: a.de"
    steps = read(
        f"{LANGS}steps:\n- {{job: filter, {pairs}, scores: out/filter/s.txt}}\n"
        f"- {{job: align, {pairs}, pharaoh: links.txt}}\n"
    )
    assert [step.name for step in steps] == ["filter", "align"]


def test_a_step_with_an_input_of_its_own_inherits_none(read):
    text = f"{LANGS}source_input: a.en\ntarget_input: a.de\nlicence: mit\nsteps:\n"
    plain, own = read(
        f"html_entities: decode\n{text}- {{job: filter}}\n"
        "- {job: augment, input: {from: filter}, seed: 2}\n"
    )
    assert (plain.options.source_input, plain.options.licence) == (("a.en",), "mit")
    assert (own.options.source_input, own.options.licence) == ((), None)
    assert {step.options.html_entities for step in (plain, own)} == {"decode"}


def test_runs_named_by_both_keys_are_read_together(read):
    *_, tagged = read(
        f"{LANGS}steps:\n{FIT}{BITEXT}- {{job: filter, input: {{from: bitext}}}}\n"
        "- {job: augment, from_run: {from: bitext}, input: {from: filter}, model: {from: fit}}\n"
    )
    assert tagged.options.from_run == ("out/bitext", "out/filter")


def test_a_step_may_reject_all_that_its_own_limit_allows(read):
    text = f"{LANGS}max_rejected: 0.25\nsteps:\n{FIT}{FIT[:-2]}, name: b, max_rejected: 0}}\n"
    text += f"{FIT[:-2]}, name: c, max_rejected: 1}}\n"
    assert [step.max_rejected for step in read(text)] == [0.25, 0, 1]
    steps = recipe.read_recipe("r.yaml", "out", {}, most=0)
    assert [step.max_rejected for step in steps] == [0, 0, 0]


def test_a_file_may_be_named_like_the_directory_of_a_step(read):
    pairs = "source_input: a.en, target_input: a.de"
    steps = read(f"{LANGS}steps:\n- {{job: filter, {pairs}, scores: out/fit.txt}}\n{FIT}")
    assert steps[0].options.scores == "out/fit.txt"


def test_no_step_writes_into_a_table_of_refresh(read, tmp_path):
    (tmp_path / "table/_refresh/nights").mkdir(parents=True)
    step = "- {job: filter, source_input: a.en, target_input: a.de, scores: table/s.txt}\n"
    with pytest.raises(ConfigError, match=r"step filter: --scores table/s\.txt: is inside the tab"):
        read(f"{LANGS}steps:\n{FIT}{step}")


ROUNDS = f"""{LANGS}steps:
- {{name: base, job: filter, source_input: a.en, target_input: a.de}}
- iterations: 3
  steps:
  - {{name: model, job: fit, input: {{from: best, first: base}}}}
  - {{name: cut, job: bitext, source_input: a.en, target_input: a.de, model: {{from: model}}}}
  - {{name: best, job: filter, input: {{from: cut}}, model: {{from: model}}}}
- {{job: augment, input: {{from: best}}, model: {{from: model}}}}
"""


def test_rounds_read_what_the_round_before_made(read):
    steps = {step.name: step for step in read(ROUNDS)}
    names = [f"{name}-{number}" for number in (1, 2, 3) for name in ("model", "cut", "best")]
    assert list(steps) == ["base", *names, "augment"]
    assert steps["model-1"].reads == ("base",)
    assert steps["model-3"].options.from_run == ("out/best-2",)
    assert steps["cut-2"].options.model == "out/model-2"
    assert steps["best-2"].reads == ("cut-2", "model-2")
    assert steps["augment"].reads == ("best-3", "model-3")


def test_a_step_may_read_what_it_made_in_the_round_before(read):
    steps = read(
        f"{LANGS}steps:\n- {{name: base, job: filter, source_input: a.en, target_input: a.de}}\n"
        "- iterations: 10\n  steps:\n"
        "  - {name: best, job: filter, input: {from: best, first: base}}\n"
    )
    assert [step.reads for step in steps[1:3]] == [("base",), ("best-1",)]
    assert len(steps) == 11


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ("", "expected a map with a list of steps"),
        ("job: augment\n", "has the key job, .* pairweave refresh --config .* --output DIR"),
        ("steps: []\n", "steps: the list is empty"),
        ("steps:\n- fit\n", "steps, entry 1: expected a map with the key job"),
        ("steps:\n- {job: fitt}\n", "steps, entry 1: job must be one of .*, got 'fitt'"),
        ("steps:\n- {job: preview}\n", "job must be one of .*, got 'preview'"),
        ("steps:\n- {job: fit, name: a/b}\n", "name must consist of letters.*got 'a/b'"),
        (f"steps:\n{FIT}{FIT}", "two steps are named fit"),
        ("sed: 1\nsteps:\n" + FIT, "unknown key sed, did you mean seed"),
        ("output: x\nsteps:\n" + FIT, "output: each step writes to a directory of its name"),
        (f"steps:\n{FIT[:-2]}, output: x}}\n", "step fit: output: each step writes"),
        (f"steps:\n{FIT[:-2]}, seeed: 1}}\n", "step fit: unknown key seeed, did you mean seed"),
        (f"steps:\n{FIT[:-2]}, seed: -1}}\n", "step fit: seed: .*greater than or equal to 0"),
        (
            "steps:\n- {job: fit, source_input: b.en, target_input: a.de}\n",
            "step fit: source_input: b.en: no file has this name",
        ),
        (
            f"steps:\n{BITEXT}",
            "step bitext: model: no earlier step is named fit; those before it: none",
        ),
        (
            f"steps:\n{FIT}{FIT.replace('fit', 'fit, name: again')}"
            f"{BITEXT.replace('{from: fit}', '{from: fti}')}",
            "step bitext: model: no earlier step is named fti; those before it: fit, again",
        ),
        (
            f"steps:\n{FIT}- {{job: augment, input: {{from: fit}}}}\n",
            "step augment: input: the step fit is fit, whose output cannot be read as pairs",
        ),
        (
            f"steps:\n{FIT}- {{job: augment, source_input: a.en, target_input: a.de,"
            " translator: {from: fit}}\n",
            "step augment: translator: only input and options that name a run or a model can be",
        ),
        (
            f"steps:\n{FIT}- {{job: augment, source_input: a.en, target_input: a.de,"
            " filter: {from: fit}}\n",
            "step augment: filter: only input and options that name a run or a model can be",
        ),
        (
            f"steps:\n{FIT}- {{job: augment, source_input: a.en, target_input: a.de,"
            " known_pairs: {from: fit}}\n",
            "step augment: known_pairs: only input and options that name a run or a model can be",
        ),
        (
            f"steps:\n{FIT.replace('fit', 'align')[:-2]}, known_pairs: nowhere}}\n",
            "step align: known_pairs: nowhere: no file or directory has this name",
        ),
        (
            f"steps:\n{FIT.replace('fit', 'align')[:-2]}, aligner: encoder, model: ./nowhere}}\n",
            "step align: model: ./nowhere: no file or directory has this name",
        ),
        (
            f"steps:\n{FIT}{BITEXT}- {{job: fit, name: again, source_input: a.en,"
            " target_input: a.de, prior: {from: bitext}}\n",
            "step again: prior: the step bitext makes no model; it has out/fit",
        ),
        (
            f"steps:\n{FIT}{BITEXT}- {{job: augment, input: {{from: bitext}},"
            " model: {from: bitext}}\n",
            "step augment: model: the step bitext makes no model; it has out/fit",
        ),
        (
            f"steps:\n{FIT.replace('fit', 'augment')[:-2]}, mix: 0}}\n"
            "- {job: align, source_input: a.en, target_input: a.de, model: {from: augment}}\n",
            "step align: model: the step augment makes no model",
        ),
        (
            f"steps:\n{FIT}{BITEXT}"
            "- {job: filter, input: {from: bitext}, annotate_only: true}\n"
            "- {job: augment, input: {from: filter}}\n",
            "step augment: input: the step filter has annotate_only",
        ),
        (
            f"steps:\n{FIT}{BITEXT[:-2]}, iterations: 3}}\n",
            "step bitext: --iterations: applies to an aligner fitted in the run",
        ),
        (f"steps:\n{FIT[:-2]}, wait: false}}\n", "step fit: wait: later steps need"),
        (
            "steps:\n- {job: filter, source_input: a.en, target_input: a.de, preview: 3}\n",
            "step filter: preview: shows pairs and runs nothing",
        ),
        ("steps:\n- {iterations: 0, steps: []}\n", "iterations must be a whole number from 1 to"),
        ("steps:\n- {iterations: 11, steps: []}\n", "a whole number from 1 to 10, got 11"),
        ("steps:\n- {iterations: '2', steps: []}\n", "a whole number from 1 to 10, got '2'"),
        ("steps:\n- {iterations: true, steps: []}\n", "a whole number from 1 to 10, got True"),
        ("steps:\n- {iterations: 2, steps: []}\n", "expected the list of steps to repeat"),
        ("steps:\n- {iterations: 2, seed: 1}\n", "seed: a repeated block has iterations and steps"),
        (
            "steps:\n- iterations: 2\n  steps:\n"
            "  - {name: model, job: fit, input: {from: best}}\n"
            "  - {name: best, job: filter, source_input: a.en, target_input: a.de}\n",
            "step model-1: input: from: best comes later in the repeated block",
        ),
        (
            f"steps:\n{FIT}{BITEXT}- {{job: filter, input: {{from: bitext, first: fit}}}}\n",
            "step filter: input: first: applies only if from names a later step",
        ),
        (
            f"steps:\n{FIT}- {{job: filter, input: {{from: fit, frist: fit}}}}\n",
            "step filter: input: unknown key frist, did you mean first",
        ),
        (
            f"steps:\n{FIT}- {{job: filter, input: {{from: [fit]}}}}\n",
            "step filter: input: from: expected the name of one step, got \\['fit'\\]",
        ),
        (
            f"steps:\n{FIT[:-2]}, filter: {{detector: 'fasttext:no'}}}}\n",
            "step fit: --detector fasttext:no: (no such file|fasttext is not installed)",
        ),
        (
            "steps:\n- {job: finetune, model: m, source_input: a.en, target_input: a.de,"
            " objectives: 'so,so'}\n",
            "step finetune: .*so",
        ),
        (
            "steps:\n- iterations: 2\n  steps:\n"
            "  - {name: best, job: filter, input: {from: best, first: [a]}}\n",
            "step best-1: input: first: expected the name of one step",
        ),
        (
            f"steps:\n{FIT}{BITEXT}- {{job: filter, input: {{from: bitext}}, licence: mit}}\n",
            "step filter: licence: the pairs of a run .from_run. keep their licence",
        ),
        (
            f"steps:\n{FIT}{BITEXT}- {{job: filter, corpora: [{{input: {{from: bitext}},"
            " corpus: z}]}\n",
            "step filter: corpus: the pairs of a run .from_run. keep their corpus",
        ),
        (f"steps:\n{FIT}- {{job: align}}\n", "step align: no input: give --input"),
        (
            f"steps:\n{FIT}- {{job: align, from_run: nowhere}}\n",
            "step align: nowhere: no _manifest.json, so there is no finished run",
        ),
        (
            f"steps:\n{FIT}{BITEXT.replace('{from: fit}', 'nowhere')}",
            "step bitext: model: nowhere: no about.json, so there is no fitted aligner",
        ),
        (
            f"steps:\n{FIT}{BITEXT.replace('{from: fit}', 'out/fitted')}",
            "step bitext: model: out/fitted: no about.json, so there is no fitted aligner",
        ),
        (
            "steps:\n- {job: filter, source_input: a.en, target_input: a.de, scores: ~/s.txt}\n",
            "step filter: --scores ~/s.txt: begins with ~",
        ),
        (
            f"steps:\n{FIT}- {{job: filter, source_input: a.en, target_input: a.de,"
            " earlier: nowhere}\n",
            "step filter: earlier: nowhere: no file or finished run has this name",
        ),
        (
            f"steps:\n{FIT}{BITEXT}- {{job: filter, input: {{from: bitext}}, scores: s.txt}}\n",
            "step filter: scores: has a line for each line of the input",
        ),
        (
            "steps:\n- iterations: 2\n  steps:\n"
            "  - {job: filter, source_input: a.en, target_input: a.de, scores: s.txt}\n",
            "step filter-2: .*/s.txt: the step filter-1 writes this file too",
        ),
        (
            "steps:\n- {job: filter, source_input: a.en, target_input: a.de,"
            " scores: out/later/s.txt}\n"
            "- {job: align, name: later, source_input: a.en, target_input: a.de}\n",
            "step filter: .*/out/later/s.txt: is in the directory of the step later",
        ),
        (
            f"steps:\n{FIT[:-2]}, name: best-1}}\n- iterations: 1\n  steps:\n"
            f"  {FIT[:-2]}, name: best}}\n",
            "step best-1: another step has the same directory",
        ),
    ],
)
def test_a_recipe_that_cannot_run_is_refused_with_file_step_and_key(read, steps, message):
    with pytest.raises(ConfigError, match=f"r.yaml: .*{message}"):
        read(LANGS + steps)


def test_an_error_of_the_file_names_it_once(read):
    with pytest.raises(ConfigError, match=r"^r\.yaml: line 2: the key steps is given twice"):
        read("steps: []\nsteps: []\n")


@pytest.mark.parametrize("name", ["nrc_wmt20", "nrc_wmt20_yisi2"])
def test_the_recipes_that_ship_can_run(name, tmp_path, monkeypatch):
    shipped = runs.ROOT / f"deploy/recipes/{name}.yaml"
    monkeypatch.chdir(tmp_path)
    for folder in ("clean", "documents", "projection"):
        (tmp_path / folder).mkdir()
    for side in ("km", "en"):
        for file in ("crawl", "clean/all", "documents/one"):
            (tmp_path / f"{file}.{side}").write_text("a b\n")
    steps = {step.name: step for step in recipe.read_recipe(str(shipped), "out", {})}
    assert len(steps) == 7
    assert steps["best-2"].options.select_words == 5_000_000
    assert steps["baseline"].options.detector == "cld2"
    assert steps["sentences-1"].options.paragraphs == "first"


@pytest.mark.parametrize("name", ["..", ".", "a/b", "/a", "-a", '"a\\x01"', '"a\\n"', "é"])
def test_a_step_has_a_name_that_can_be_a_directory(read, name):
    with pytest.raises(ConfigError, match="steps, entry 1: name must consist of letters"):
        read(f"{LANGS}steps:\n{FIT.replace('job: fit', f'job: fit, name: {name}')}")


def test_a_step_whose_name_is_too_long_for_a_directory_is_refused_when_planned(read):
    def named(count):
        return f"{LANGS}steps:\n{FIT.replace('job: fit', 'job: fit, name: ' + 'x' * count)}"

    assert read(named(200))[0].options.output == f"out/{'x' * 200}"
    with pytest.raises(ConfigError, match="entry 1: name has 400 characters; give one with at mos"):
        read(named(400))
