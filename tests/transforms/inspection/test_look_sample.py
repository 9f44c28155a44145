"""The look at a sample of an input: which blocks, what it says, when it looks again."""

import numpy as np
import pytest

from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.inspection import look
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import CorpusInput, ReadLimits
from tests.transforms.inspection.test_file_look import LINES, sentences

LIMITS = ReadLimits()


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(look, "BLOCK_ROWS", 100)
    monkeypatch.setattr(look, "STRATUM_BLOCKS", 4)
    monkeypatch.setattr(look, "LAST_BLOCK", 8)


def plan_of(directory, source, target, names=("a.en", "a.de"), unit_rows=400):
    for name, lines in zip(names, (source, target), strict=True):
        (directory / name).write_text("".join(f"{line}\n" for line in lines))
    paths = [(str(directory / name),) for name in names]
    corpus = CorpusInput("en", "de", source_input=paths[0], target_input=paths[1])
    return make_plan([corpus], unit_rows=unit_rows)


def test_the_first_blocks_of_all_units_come_before_second_ones(tmp_path):
    plan = plan_of(tmp_path, sentences("en"), sentences("de"))
    assert [unit.rows for unit in plan.units] == [400, 400, 400, 300]
    assert look.choose_blocks(plan.units, 400) == {0: {0}, 1: {0}, 2: {0}, 3: {0}}
    more = look.choose_blocks(plan.units, 600)
    assert sorted(len(blocks) for blocks in more.values()) == [1, 1, 2, 2]


def test_a_unit_is_read_to_a_limit_and_by_strata(tmp_path):
    plan = plan_of(tmp_path, sentences("en"), sentences("de"), unit_rows=10_000)
    assert look.choose_blocks(plan.units, 200) == {0: {0, 4}}
    assert look.choose_blocks(plan.units, 1_400) == {0: set(range(8))}


def test_blocks_depend_on_contents_not_on_names(tmp_path):
    lines = sentences("en"), sentences("de")
    (tmp_path / "b").mkdir()
    plans = [plan_of(tmp_path, *lines), plan_of(tmp_path / "b", *lines, names=("c.x", "d.y"))]
    chosen = [look.choose_blocks(plan.units, 600) for plan in plans]
    assert chosen[0] == chosen[1]
    other = plan_of(tmp_path, *(sentences(name, seed=4) for name in ("en", "de")))
    assert len(look.choose_blocks(other.units, 600)) == 4


@pytest.mark.parametrize("size", [7, 64, 1_000])
def test_rows_of_blocks_are_those_of_the_file(tmp_path, size):
    plan = plan_of(tmp_path, sentences("en"), sentences("de"), unit_rows=10_000)
    (unit,) = plan.units
    every = [line for batch in read_unit(unit, LIMITS, size) for line in batch["line"].to_pylist()]
    chosen = look._read_blocks(unit, LIMITS, {1, 3, 14})
    actual = [line for batch in chosen for line in batch["line"].to_pylist()]
    assert actual == every[100:200] + every[300:400] + every[1_400:1_500]


def test_a_sample_says_that_it_is_one(tmp_path):
    target = [f"<b>{line}</b>" for line in sentences("de")]
    plan = plan_of(tmp_path, sentences("en"), target)
    seen = look.look_at_sample(plan.units, LIMITS, 400)
    assert seen.pairs == 400
    (finding,) = seen.findings
    assert finding.kind == "inline_tags"
    assert finding.evidence.startswith("400 of 400 pairs contain tags")
    assert finding.evidence.endswith("(in 400 of 1,500 lines that were looked at)")
    every = look.look_at_sample(plan.units, LIMITS, LINES)
    assert (every.findings[0].count, every.pairs) == (LINES, LINES)


def test_a_stretch_in_a_sample_is_found_again_with_its_exact_lines(tmp_path):
    target = sentences("de")
    mixed = np.random.default_rng(7).permutation(np.arange(350, 950))
    target[350:950] = [target[place] for place in mixed]
    plan = plan_of(tmp_path, sentences("en"), target)
    seen = look.look_at_sample(plan.units, LIMITS, 800)
    stretches = [each for each in seen.findings if each.kind == "misaligned"]
    assert len(stretches) == 1
    assert abs(stretches[0].first_line - 351) < 10
    assert abs(stretches[0].last_line - 950) < 10
    lines = [(stretches[0].first_line, stretches[0].last_line)]
    assert seen.stretches == {unit.index: lines for unit in plan.units}


def test_stretches_are_those_of_one_file_whatever_others_are_called(tmp_path):
    target = sentences("de")
    mixed = [*target[:300], *reversed(target[300:900]), *target[900:]]
    corpora = []
    for folder, lines in (("a", target), ("b", mixed), ("c", target)):
        (tmp_path / folder).mkdir()
        plan_of(tmp_path / folder, sentences("en"), lines)
        sides = [(str(tmp_path / folder / name),) for name in ("a.en", "a.de")]
        corpora.append(
            CorpusInput("en", "de", name=folder, source_input=sides[0], target_input=sides[1])
        )
    units = make_plan(corpora, unit_rows=10_000).units
    assert {unit.file for unit in units} == {"a.en"}
    seen = look.look_at_sample(units, LIMITS, 10_000)
    assert [each.kind for each in seen.findings] == ["misaligned"]
    assert list(seen.stretches) == [1]
    # The file is named with its corpus, by a sample and as a whole; where it is alone it is not.
    assert [each.file for each in seen.findings] == ["b: a.en"]
    (again,) = look.look_at_sample(units, LIMITS, 2_000).findings
    assert again.file == "b: a.en"
    assert [each.file for each in look.look_at(units, LIMITS)] == ["b: a.en"]
    assert [each.file for each in look.look_at(units[1:2], LIMITS)] == ["a.en"]


def test_the_curve_is_low_in_the_stretch_and_high_elsewhere(tmp_path):
    target = sentences("de")
    target[600:900] = reversed(target[600:900])
    plan = plan_of(tmp_path, sentences("en"), target)
    curve = next(each.curve for each in look.look_at(plan.units, LIMITS) if each.curve)
    assert len(curve) == 200
    assert max(curve[82:118]) < 0 < min(curve[:78])


def test_a_small_input_is_looked_at_as_a_whole(tmp_path):
    plan = plan_of(tmp_path, sentences("en"), sentences("de"))
    seen = look.look_at_sample(plan.units, LIMITS, look.sample_size(plan.rows))
    assert (seen.findings, seen.pairs) == ((), LINES)
