"""Jobs are made of parts, and what a new part settles reaches everything that asks for it."""

import dataclasses
import importlib
import typing

import pytest
from pydantic import Field

from pairweave.models.learned_languages import Learned
from pairweave.models.model_store import ModelReference
from pairweave.pipelines.command_line.command_table import COMMANDS
from pairweave.pipelines.job_options.pair_options import AlignOptions
from pairweave.pipelines.jobs import align
from pairweave.pipelines.parts.part import Part, Planning, Settled
from pairweave.pipelines.parts.rule_parts import RULE_BLOCK
from pairweave.pipelines.run.memory_plan import need_of
from pairweave.transforms.config import Config
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.units import Plan, ReadLimits

JOBS = [
    importlib.import_module(command.module).JOB
    for command in COMMANDS.values()
    if command.module.startswith("pairweave.pipelines.jobs.")
]


class JudgeOptions(Config):
    """A judge of pairs, which the project does not have."""

    judge: str | None = Field(None, description="model of the judge")


class JudgedOptions(JudgeOptions, AlignOptions):
    """Options of a job with a judge."""


@dataclasses.dataclass(frozen=True)
class JudgeReference(ModelReference):
    """A reference to the judge."""

    directory: str
    digest: str
    threads: int = 1

    def with_threads(self, threads):
        return dataclasses.replace(self, threads=threads)


def check_judge(options):
    if options.judge == "nowhere":
        raise ConfigError("--judge nowhere: there is no such judge")


def plan_judge(options, planning):
    if options.judge is None:
        return Settled(None, left_out=frozenset({"judge"}))
    reference = JudgeReference(options.judge, "7" * 64)
    return Settled(
        reference,
        settings={"judge": reference.digest},
        facts={"judged": len(planning.plan.units)},
        models=(reference,),
        packages=("judge-package",),
        learned=(
            Learned("--judge", options.judge, "a judge", {"target_lang": ["fr"]}, refused=True),
        )
        if options.judge.endswith("french")
        else (),
        recorded={"judge": reference.digest},
    )


# These two functions and this line are all that the job needs to have a judge.
JUDGE = Part("judge", plan_judge, check=check_judge)
JOB = dataclasses.replace(align.JOB, options=JudgedOptions, parts=(*align.JOB.parts, JUDGE))


@pytest.fixture
def planned(tmp_path):
    (tmp_path / "a.tsv").write_text("a b\tc d\n")

    def plan(*more, **options):
        given = {"input": (str(tmp_path / "a.tsv"),), "source_lang": "en", "target_lang": "de"}
        job = dataclasses.replace(JOB, parts=(*JOB.parts, *more))
        return job.prepare(JudgedOptions(output=str(tmp_path / "out"), **given | options))

    return plan


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_a_job_has_the_options_of_each_of_its_parts(job):
    names = [part.name for part in job.parts]
    assert len(set(names)) == len(names)
    taken = {part.name: typing.get_type_hints(part.plan)["options"] for part in job.parts}
    assert [name for name, kind in taken.items() if not issubclass(job.options, kind)] == []
    assert COMMANDS[job.name].options.partition(":")[2] == job.options.__name__


def test_what_a_part_settles_is_in_the_plan(planned):
    document = planned(judge="model").document
    assert document["configuration"]["judge"] == "7" * 64
    assert document["judged"] == 1
    assert "judge" not in planned().document["configuration"]


# A part that needs no model of the aligner.
ALONE = Part("alone", lambda _options, _planning: Settled(None, left_out=frozenset({"model"})))


def test_what_one_part_leaves_out_is_not_in_the_plan_whichever_part_lists_it(planned):
    assert "model" in planned().document["configuration"]
    assert "model" not in planned(ALONE).document["configuration"]


def test_the_files_of_a_models_part_take_memory(planned, tmp_path):
    (tmp_path / "model").mkdir()
    with (tmp_path / "model" / "weights").open("wb") as file:
        file.truncate(3 << 30)
    run = planned(judge=str(tmp_path / "model"), memory="64GiB")
    assert need_of(run).models == need_of(planned(memory="64GiB")).models + 2 * (3 << 30)


def test_cores_that_have_no_shard_serve_a_parts_model(planned):
    assert planned(judge="model", workers=3).result_of(JUDGE).threads == 3


def test_packages_and_receipts_name_a_parts_model(planned):
    run = planned(judge="model")
    assert "judge-package" in run.packages
    assert run.write_config.recorded == {"judge": "7" * 64}


def test_a_part_refuses_its_options_before_the_input_is_read(planned, tmp_path):
    (tmp_path / "a.tsv").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="no such judge"):
        planned(judge="nowhere", input=(str(tmp_path / "none.tsv"),))


def test_a_parts_model_of_another_language_is_refused(planned):
    told = "--judge french: was fitted with target_lang fr, but the pairs have de; give a judge of"
    with pytest.raises(ConfigError, match=told):
        planned(judge="french")


def test_a_plan_of_rules_without_a_minimum_score_says_nothing_of_scores():
    options = AlignOptions(output="out", input=("a.tsv",), filter={"max_copied": 0.5})
    checked = {RULE_BLOCK.name: RULE_BLOCK.check(options)}
    planning = Planning(Plan((), ()), ReadLimits(), checked=checked)
    settings = RULE_BLOCK.plan(options, planning).settings["filter"]
    assert settings["max_copied"] == 0.5
    assert not [name for name in settings if "score" in name]
