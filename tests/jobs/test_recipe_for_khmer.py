"""The recipe of the NRC's order keeps Khmer and Thai, and a step that rejects most stops it."""

import functools
import json

import pyarrow as pa
import pytest
import yaml

from pairweave.pipelines.commands import demo
from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.options.corpora import corpora_of
from pairweave.pipelines.parts.text_parts import screen_of
from pairweave.pipelines.recipes.recipe import read_recipe
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.screen import screen
from pairweave.transforms.units import ReadLimits
from tests.makers import runs

SHIPPED = runs.ROOT / "deploy/recipes"


@functools.cache
def messages(language):
    """Return the messages of installed packages, as ROWS from a language to English."""
    try:
        corpora = demo.catalogues(language)
    except ConfigError as error:
        pytest.skip(str(error))
    options = AugmentOptions(corpora=corpora, output="none")
    plan = make_plan(corpora_of(options), ReadLimits(), 1 << 16)
    batches = [batch for unit in plan.units for batch in read_unit(unit, ReadLimits())]
    rows = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
    rows = rows.filter(pa.compute.is_null(rows.column("reason")))
    exchanged = {
        old: side
        for one, other in (("source", "target"), ("target", "source"))
        for old, side in ((one, other), (f"{one}_lang", f"{other}_lang"))
    }
    return rows.rename_columns([exchanged.get(name, name) for name in rows.column_names]).select(
        rows.column_names
    )


@pytest.mark.parametrize("name", ["nrc_wmt20", "nrc_wmt20_yisi2"])
@pytest.mark.parametrize(("language", "least"), [("km", 260), ("th", 1_800)])
def test_every_step_of_the_recipe_keeps_messages(tmp_path, monkeypatch, name, language, least):
    rows = messages(language).to_batches()
    monkeypatch.chdir(tmp_path)
    for folder in ("clean", "documents", "projection"):
        (tmp_path / folder).mkdir()
    for place in ("crawl", "clean/all", "documents/one"):
        for side in (language, "en"):
            (tmp_path / f"{place}.{side}").write_text("a\n")
    text = (SHIPPED / f"{name}.yaml").read_text().replace("detector: cld2\n", "")
    text = text.replace(".km", f".{language}").replace("_lang: km", f"_lang: {language}")
    (tmp_path / "recipe.yaml").write_text(text)
    for step in read_recipe("recipe.yaml", "out", {}):
        config = screen_of(step.options, None)
        reasons = [screen(batch, config).column("reason") for batch in rows]
        kept = sum(column.null_count for column in reasons)
        assert kept >= max(least, 0.98 * sum(map(len, rows))), step.name


RECIPE = """
source_lang: km
target_lang: en
workers: 1
steps:
- {name: chosen, job: filter, source_input: a.km, target_input: a.en, max_ratio: 15, min_script: 0}
- {name: model, job: fit, input: {from: chosen}}
"""


@pytest.mark.slow
def test_what_a_filter_has_chosen_is_fitted_on_and_a_step_that_rejects_most_stops(tmp_path):
    rows = messages("km").slice(0, 80)
    for side, language in (("source", "km"), ("target", "en")):
        lines = [" ".join(text.split()) for text in rows.column(side).to_pylist()]
        (tmp_path / f"a.{language}").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "good.yaml").write_text(RECIPE)
    words = ("run", "--config", "good.yaml", "--output", "good")
    runs.run_well_here(*words, cwd=tmp_path)
    chosen, model = steps_of(tmp_path / "good")
    assert model["rows"]["kept"] == model["rows"]["read"] == chosen["rows"]["kept"] > 40

    (tmp_path / "bad.yaml").write_text(
        RECIPE.replace("max_ratio: 15", "max_ratio: 15, max_tokens: 3")
    )
    words = ("run", "--config", "bad.yaml", "--output", "bad")
    status, _, errors = runs.run_here(*words, cwd=tmp_path)
    assert status == 2
    assert "bad.yaml: step chosen: rejected" in errors
    assert "too_long" in errors
    assert "change max_tokens" in errors
    assert not (tmp_path / "bad/model").exists()
    before = [path.stat().st_mtime_ns for path in (tmp_path / "bad/chosen/data").iterdir()]
    runs.run_well_here(*words, "--max_rejected", "1", cwd=tmp_path)
    after = [path.stat().st_mtime_ns for path in (tmp_path / "bad/chosen/data").iterdir()]
    assert after == before  # the finished step was kept
    assert (tmp_path / "bad/model/_manifest.json").exists()


def steps_of(output):
    return json.loads((output / "_recipe.json").read_text())["steps"]


@pytest.mark.parametrize("name", ["nrc_wmt20", "nrc_wmt20_yisi2"])
def test_the_recipe_sets_its_limits_once(name):
    document = yaml.safe_load((SHIPPED / f"{name}.yaml").read_text())
    steps = [one for entry in document["steps"] for one in entry.get("steps", [entry])]
    assert {"max_ratio", "max_tokens"} <= document.keys()
    assert not any({"max_ratio", "max_tokens"} & step.keys() for step in steps)
