"""What an option names is told by its field alone: no other file has to know its name."""

from typing import Annotated

import pytest
from pydantic import Field

from pairweave.pipelines.command_line import command_table, flags, outputs
from pairweave.pipelines.engines import private_network
from pairweave.pipelines.engines.dataflow import places
from pairweave.pipelines.job_options.pair_options import AlignOptions
from pairweave.pipelines.recipes import step_checks
from pairweave.pipelines.refresh import night_config
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering.rule_block import RuleBlock, RuleBlockOptions
from pairweave.transforms.option_marks import UNPLANNED
from pairweave.transforms.option_places import (
    FILE,
    HUB_MODEL,
    LINE_FILE,
    OUTPUT_FILE,
    Part,
    Role,
    Use,
    behind,
    places_in,
    places_of,
    with_places,
)


class NewRules(RuleBlock):
    """Rules with one more file."""

    lexicon: Annotated[str | None, FILE] = None


class NewOptions(AlignOptions):
    """A job with one more option of each role."""

    revision: str | None = None
    filter: NewRules | None = None
    stop_words: Annotated[str | None, FILE] = Field(None, description="a file")
    judge: Annotated[str | None, HUB_MODEL] = Field(None, description="a model")
    table: Annotated[str | None, OUTPUT_FILE] = Field(
        None, description="an output", json_schema_extra=UNPLANNED
    )
    ranks: Annotated[str | None, LINE_FILE] = Field(
        None, description="an output by line", json_schema_extra=UNPLANNED
    )


def made(**values):
    return NewOptions(**{"source_input": "a.en", "target_input": "a.de", "output": "o", **values})


@pytest.fixture
def new_job(monkeypatch, tmp_path):
    """Let the command align have the new options."""
    options_of = command_table.options_of
    monkeypatch.setattr(
        private_network,
        "options_of",
        lambda name: NewOptions if name == "align" else options_of(name),
    )
    monkeypatch.chdir(tmp_path)


def test_dataflow_knows_a_new_path_also_in_a_block_of_rules():
    options = made(stop_words="/there/words", filter={"lexicon": "/there/lexicon"})
    opened = list(places.opened(options))
    assert {("stop_words", "/there/words"), ("lexicon", "/there/lexicon")} <= set(opened)
    assert "ranks" not in dict(places.opened(made(ranks="/there/ranks")))
    with pytest.raises(ConfigError, match="--ranks: is written after the end of the job"):
        places.check_written_after(made(ranks="/there/ranks"), "--wait false")


@pytest.mark.usefixtures("new_job")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("{engine: prism, stop_words: words}", True),
        ("{engine: prism, stop_words: 's3://bucket/words'}", False),
        ("{engine: prism, filter: {lexicon: 's3://bucket/lexicon'}}", False),
        ("{engine: prism, judge: owner/name}", False),
        ("{engine: prism, scorer: owner/name}", True),  # no option of this job
        ("engine: local", False),
    ],
)
def test_a_new_place_keeps_the_machines_network(tmp_path, text, wanted):
    (tmp_path / "options.yaml").write_text(text)
    assert private_network.is_wanted(["align", "--config", "options.yaml"]) == wanted


def test_a_recipe_misses_a_new_file(tmp_path):
    missing = str(tmp_path / "missing")
    for values in ({"stop_words": missing}, {"filter": {"lexicon": missing}}, {"judge": missing}):
        with pytest.raises(ConfigError, match=f"{missing}: no file or directory has this name"):
            step_checks._check_places(made(**values), ())
    step_checks._check_places(made(judge="owner/name"), ())
    with pytest.raises(ConfigError, match="ranks: has a line for each line of the input"):
        step_checks._check_no_line_file(made(ranks="ranks"))
    assert list(step_checks.written_files(made(ranks="/there/ranks"))) == ["/there/ranks"]


def test_the_program_of_a_second_aligner_is_missed_before_the_first_step():
    with pytest.raises(ConfigError, match="second_aligner: /no/program: no such executable"):
        step_checks._check_places(made(second_aligner="fast_align:path=/no/program"), ())


def test_a_night_compares_a_new_file_by_its_content(tmp_path):
    (tmp_path / "words").write_text("one")
    options = made(stop_words=str(tmp_path / "words"), filter={"lexicon": str(tmp_path / "words")})
    before = night_config.settings_of("align", options)
    assert str(tmp_path) not in str(before)
    (tmp_path / "words").write_text("two")
    after = night_config.settings_of("align", options)
    assert after["options"]["stop_words"] != before["options"]["stop_words"]
    assert after["options"]["filter"] != before["options"]["filter"]
    with pytest.raises(ConfigError, match="judge: owner/name: there is no such directory"):
        night_config._check_models(made(aligner="encoder", model=str(tmp_path), judge="owner/name"))


def test_a_new_output_may_not_be_in_a_table(tmp_path):
    (tmp_path / "_refresh/nights").mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"--table .*: is inside the table of refresh"):
        outputs.check(made(table=str(tmp_path / "new.tsv")))


def test_the_help_names_a_new_value_by_its_role(capsys):
    with pytest.raises(SystemExit):
        flags.parse(NewOptions, "pairweave align", "", ["--help", "all"], beam=False)
    shown = capsys.readouterr().out
    assert all(f"--{each}" in shown for each in ("stop_words FILE", "judge DIR", "table FILE"))


def test_parts_of_a_text_are_replaced_in_their_places():
    def parts(text):
        first = text.index("/") if "/" in text else len(text)
        return [Part(0, 1, Use.PROGRAM), Part(first, len(text), on_hub=True)]

    class Toy(RuleBlockOptions):
        both: Annotated[tuple[str, ...], Role(Use.MODEL, parts=parts)] = ()
        kind: Annotated[str, Role(Use.FILE, parts=behind("a", "b", on_hub=("b",)))] = "a"

    actual = [(p.path, p.use, p.on_hub) for p in places_of(Toy(both=("x:/m",), kind="b:m"))]
    assert actual == [("x", Use.PROGRAM, False), ("/m", Use.MODEL, True), ("m", Use.FILE, True)]
    assert [p.path for p in places_in(Toy, {"kind": "c:m", "both": ["x:/m"], "x": 1})] == [
        "x",
        "/m",
    ]
    values = {"both": ["x:/m/m"], "kind": "a:a", "filter": {"score_model": "m", "max_copied": 1}}
    assert with_places(Toy, values, lambda place: f"<{place.path}>") == {
        "both": ["<x>:</m/m>"],
        "kind": "a:<a>",
        "filter": {"score_model": "<m>", "max_copied": 1},
    }
