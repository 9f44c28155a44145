"""The file of an ablation is checked before anything is read or trained."""

import pytest
import yaml

from pairweave.pipelines.ablation.ablation_config import read_ablation, split_unit
from pairweave.transforms.errors import ConfigError
from tests.makers.ablations import configuration, write_configuration


def read(tmp_path, change):
    value = configuration(tmp_path)
    change(value)
    path = tmp_path / "ablation.yaml"
    path.write_text(yaml.safe_dump(value, sort_keys=False), encoding="utf-8")
    return read_ablation(str(path))


def project(value, **given):
    value["arms"]["plain"]["project"] = given


def own(value, **given):
    value["arms"]["own"]["data"][0].update(given)


def test_units_are_all_arms_of_a_seed_and_then_of_the_next(tmp_path):
    ablation = read_ablation(str(write_configuration(tmp_path)))
    assert ablation.units() == [("plain", 1), ("own", 1), ("plain", 2), ("own", 2)]


def test_numbers_beside_a_named_size_replace_its_own(tmp_path):
    ablation = read(tmp_path, lambda value: value.update(size={"like": "small", "steps": 7}))
    assert (ablation.model.steps, ablation.model.dimension) == (7, 256)


def test_a_vocabulary_may_be_a_file_and_a_layer_any_of_the_decoder(tmp_path):
    ablation = read(tmp_path, lambda value: value.update(vocabulary="pieces.model"))
    assert ablation.vocabulary == "pieces.model"
    ablation = read(tmp_path, lambda value: project(value, aligner="attention", layer=0))
    assert ablation.arms["plain"].project.layer == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda v: v.update(baseline="gold"), "there is no arm gold; the arms are plain, own"),
        (lambda v: v.update(seeds=[1, 1]), "seeds: one is given twice"),
        (lambda v: v.update(seeds=[]), "seeds: expected at least 1"),
        (lambda v: v.update(seeds=1), "seeds: expected a list, found 1"),
        (
            lambda v: v.update(metrics=["comet"]),
            "metrics: there is no comet of the task translation; choose",
        ),
        (lambda v: v.update(sizes="toy"), "sizes: is not a key here"),
        (lambda v: v.update(vocabulary=3), "vocabulary: expected 100 to 1000000 pieces"),
        (lambda v: v.update(size={"like": "toy", "steps": 0}), "size: steps must be 1 to"),
        (
            lambda v: v.update(size={"like": "toy", "dimension": 30}),
            "size: dimension must be a multiple of heads, got 30 and 4",
        ),
        (lambda v: v.update(metrics=["bleu", "bleu"]), "metrics: one is given twice"),
        (
            lambda v: v.update(size="huge"),
            "size: expected 'toy', 'small' or 'base', found \"huge\"",
        ),
        (
            lambda v: v.update(size=["toy"]),
            "size: expected 'toy', 'small' or 'base', found [\"toy\"]",
        ),
        (lambda v: v.update(size={"steps": 9}), "size.like: is missing"),
        (lambda v: v.update(size={"like": "toy", "setps": 9}), "size.setps: is not a key here"),
        (
            lambda v: v.update(size={"like": "toy", "steps": "9k"}),
            'size.steps: expected a whole number, found "9k"',
        ),
        (
            lambda v: v.update(size={"like": "toy", "dropout": "low"}),
            'size.dropout: expected a number, found "low"',
        ),
        (
            lambda v: v.update(size={"like": "toy", "steps": float("nan")}),
            "size.steps: expected a finite number, found nan",
        ),
        (
            lambda v: v.update(size={"like": "toy", "steps": 1e30}),
            "size.steps: expected a whole number of fewer digits, found 1e+30",
        ),
        (lambda v: v.update(vocabulary=1.5), "vocabulary: expected a whole number, found 1.5"),
        (lambda v: v.update(seeds=[1 << 70]), "seeds[0]: expected a number under 2147483648, f"),
        (lambda v: v.update(seeds={1: 2}), 'seeds: expected a list, found {"1":2}'),
        (
            lambda v: v["arms"]["own"].update(raw_tags="perhaps"),
            'arms.own.raw_tags: expected true or false, found "perhaps"',
        ),
        (lambda v: v["arms"]["own"]["data"].clear(), "arms.own.data: expected at least 1"),
        (lambda v: v["arms"]["own"]["data"][0].pop("target"), "source and target must be given"),
        (lambda v: v["arms"]["own"]["data"][0].update(run="x"), "give exactly one of run, job"),
        (lambda v: v["arms"]["own"].update(data=[{"job": "align"}]), "align makes links"),
        (lambda v: own(v, stream={}), "stream draws tags from a run or a job, but none is given"),
        (lambda v: own(v, kinds=["tagged"]), "kinds chooses rows of a run or a job without stream"),
        (
            lambda v: v["arms"]["own"].update(data=[{"job": "filter", "kinds": ["tagged"]}]),
            "arms.own.data[0]: kinds chooses rows of augment; those of other jobs are of no kind",
        ),
        (
            lambda v: v["arms"]["own"].update(
                data=[{"job": "align", "stream": {"options": {"epochs": 9}}}]
            ),
            "arms.own.data[0].stream: options: epochs is a key beside options",
        ),
        (lambda v: own(v, options={"seed": 1}), "options are those of a job, but none is given"),
        (
            lambda v: v["arms"]["own"].update(data=[{"job": "augment", "syntax": "html"}]),
            "syntax applies to files; the tags of a run are known",
        ),
        (lambda v: project(v, method="naive"), "arms.plain.project: method does nothing with"),
        (
            lambda v: v["arms"]["plain"].update(project={}, whitespace_shift=True),
            "arms.plain: whitespace_shift does nothing with project",
        ),
        (
            lambda v: v["arms"]["plain"].update(project={}, raw_tags=True),
            "arms.plain: raw_tags does nothing with project",
        ),
        (
            lambda v: v["arms"]["own"].update(whitespace_shift=True, raw_tags=True),
            "arms.own: whitespace_shift is for symbols; leave it out, or raw_tags",
        ),
        (lambda v: project(v, aligner="attention", layer=1), "project.layer: expected less than 1"),
        (lambda v: project(v, aligner="encoder:x", layer=1), "layer does nothing with aligner enc"),
        (lambda v: project(v, aligner="encoder"), "arms.plain.project: there is no aligner 'encod"),
        (lambda v: project(v, aligner="ibm1"), "hmm, attention or encoder:DIRECTORY"),
        (lambda v: v["tests"]["help"].pop("source"), "tests.help.source: is missing"),
        (
            lambda v: v["arms"].update({"a/b": v["arms"]["own"]}),
            "arms.a/b: expected a name of",
        ),
    ],
)
def test_a_wrong_field_is_named_with_the_file_in_one_line(tmp_path, change, said):
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, change)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'ablation.yaml'}: ")
    assert said in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("gold/1", "there is no arm 'gold'"),
        ("own/3", "no seed '3'"),
        ("own", "no arm 'own'"),
        ("own/²", "no seed '²'"),
    ],
)
def test_a_unit_that_is_not_in_the_file_is_refused(tmp_path, word, said):
    ablation = read_ablation(str(write_configuration(tmp_path)))
    assert split_unit("own/2", ablation) == ("own", 2)
    with pytest.raises(ConfigError, match=said):
        split_unit(word, ablation)
