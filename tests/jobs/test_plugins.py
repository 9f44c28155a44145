"""Plugins in jobs: the example, installed by pip, from the command line."""

import importlib.metadata
import json
import re

import pytest

import pairweave
from tests.makers import corpora, plugins, runs

LANGS = ("--source_lang", "en", "--target_lang", "de", "--workers", "1")
TABLE = ("--input", "pairs.tsv", "--score_field", "3")
PAIRS = [corpora.sentence(number) for number in range(8)]
LOUD = [(source.upper(), target) for source, target in PAIRS[:3]]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a folder with the installed example."""
    return plugins.install_example(tmp_path_factory.mktemp("example"))


@pytest.fixture
def installed(site, monkeypatch):
    """Put the example on this process's path."""
    plugins.use(monkeypatch, site)
    yield
    plugins.forget()


@pytest.fixture
def directory(tmp_path):
    lines = [f"{source}\t{target}\t1\t0-0\n" for source, target in PAIRS + LOUD]
    (tmp_path / "pairs.tsv").write_text("".join(lines))
    return tmp_path


def run(directory, name, *options):
    words = ("filter", *TABLE, *LANGS, *options, "--output", name)
    runs.run_well_here(*words, cwd=directory)
    return json.loads((directory / name / "_manifest.json").read_text())


def refusal(directory, *options):
    words = ("filter", *TABLE, *LANGS, *options, "--output", "refused")
    status, out, errors = runs.run_here(*words, cwd=directory)
    last = errors.splitlines()[-1]
    assert (status, out) == (2, ""), errors
    assert "Traceback" not in errors
    return last


@pytest.mark.usefixtures("installed")
def test_a_rule_of_another_package_rejects_counts_and_is_planned(directory):
    manifest = run(directory, "out", "--plugin_rules", "{shouting: 0.6}")
    assert manifest["rejected"]["rule_shouting"] == len(LOUD)
    assert manifest["counts"]["would_reject_only_rule_shouting"] == len(LOUD)
    kept = runs.rows_of(directory / "out")
    assert [row["source"] for row in kept] != []
    assert max(row["rule_shouting"] for row in kept) < 0.6
    rejects = runs.rows_of(directory / "out", "rejects/part-*.parquet")
    assert len(rejects) == len(LOUD)
    for row in rejects:
        assert re.fullmatch(r"rule_shouting 0\.[0-9]+ > 0\.6", row["detail"])
    plan = json.loads((directory / "out" / "_plan.json").read_text())
    planned = plan["configuration"]["plugin_rules"]
    assert planned["shouting"] == 0.6
    assert planned["shouting.distribution"] == "pairweave-example-plugin 1.0"
    assert f"plugin_rules.shouting.code:{planned['shouting.code'][:12]}|" in plan["signature"]
    note = json.loads((directory / "out" / "_run.json").read_text())
    assert note["packages"]["pairweave-example-plugin"] == "1.0"
    assert "rule_shouting" in (directory / "out" / "report.html").read_text()


@pytest.mark.usefixtures("installed")
def test_a_rule_without_a_limit_has_its_own_in_a_preview_and_in_python(directory):
    words = ("filter", *TABLE, *LANGS, "--preview", "20", "--plugin_rules", "{shouting: }")
    shown = runs.run_well_here(*words, cwd=directory)
    assert shown.count("rejects: rule_shouting") == len(LOUD)
    assert "--plugin_rules 0.5" in shown
    options = {"source_lang": "en", "target_lang": "de", "annotate_only": True}
    found = pairweave.filter([*PAIRS, *LOUD], plugin_rules={"shouting": None}, **options)
    reasons = found.rows["reason"].to_pylist()
    assert reasons.count("rule_shouting") == len(LOUD)
    assert reasons.count(None) == len(PAIRS)


@pytest.mark.usefixtures("installed")
def test_the_block_of_another_job_takes_rules_and_plans_them(directory):
    block = "{plugin_rules: {shouting: 0.6}}"
    words = ("align", "--input", "pairs.tsv", *LANGS, "--filter", block)
    given = ("--aligner", "given", "--links_field", "4")
    runs.run_well_here(*words, *given, "--output", "out", cwd=directory)
    manifest = json.loads((directory / "out" / "_manifest.json").read_text())
    assert manifest["rejected"]["rule_shouting"] == len(LOUD)
    plan = json.loads((directory / "out" / "_plan.json").read_text())
    assert plan["configuration"]["filter"]["plugin_rules.shouting"] == 0.6
    assert len(plan["configuration"]["filter"]["plugin_rules.shouting.code"]) == 64


@pytest.mark.usefixtures("installed")
def test_each_kind_of_selection_has_the_columns_of_rules(directory):
    """Near-duplicates and selections write scored shards, and read them again."""
    options = ("--duplicates", "near", "--select_share", "0.9", "--plugin_rules", "{shouting: }")
    run(directory, "near", *options)
    assert all("rule_shouting" in row for row in runs.rows_of(directory / "near"))


def test_a_run_of_another_version_of_a_plugin_is_refused(tmp_path, directory, monkeypatch):
    rule = ("--plugin_rules", "{length: 10000}")
    for version in ("1", "2"):
        with monkeypatch.context() as patch:
            code = plugins.RULE + f"VERSION = {version}\n"
            plugins.use(patch, plugins.write_package(tmp_path / f"site{version}", code=code))
            if version == "1":
                run(directory, "refused", *rule)
            else:
                said = refusal(directory, *rule)
    plugins.forget()
    assert "refused already belongs to another run: " in said
    assert "configuration.plugin_rules.length.code was " in said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise KeyError('no such\\nkey')", "raised KeyError: 'no such\\nkey'"),
        ("return np.zeros(1, 'f4')", "returned 1 values for 11 pairs"),
        ("return np.float32(1)", "returned one values for 11 pairs"),
        ("return np.full(len(pairs), np.nan)", "returned NaN for a pair, whose source is "),
        ("return 'text'", "raised ValueError: could not convert string to float"),
    ],
)
def test_a_rule_that_fails_in_a_run_ends_it_with_a_line(
    tmp_path, directory, monkeypatch, body, said
):
    code = plugins.RULE.replace("return np.array(", f"{body}\n        return np.array(")
    plugins.use(monkeypatch, plugins.write_package(tmp_path / "site", code=code))
    message = refusal(directory, "--plugin_rules", "{length: 5}")
    plugins.forget()
    start = "pairweave: --plugin_rules length: measure of a-package 1 (a_module:RULE) "
    assert message.startswith(start + said)
    assert message.endswith("fix that package, or leave the rule out")


@pytest.mark.usefixtures("installed")
def test_an_aligner_of_another_package_aligns_and_is_planned(directory):
    words = ("align", "--input", "pairs.tsv", *LANGS, "--aligner", "diagonal")
    runs.run_well_here(*words, "--pharaoh", "links", "--output", "out", cwd=directory)
    first, *_ = (directory / "links").read_text().splitlines()
    assert first.startswith("0-0 1-1 2-2")
    plan = json.loads((directory / "out" / "_plan.json").read_text())
    planned = plan["configuration"]["aligner_plugin"]
    assert planned["distribution"] == "pairweave-example-plugin 1.0"
    assert len(planned["code"]) == 64
    assert len(plan["configuration"]["model"]) == 64
    note = json.loads((directory / "out" / "_run.json").read_text())
    assert note["packages"]["pairweave-example-plugin"] == "1.0"


def test_an_aligner_that_fails_in_a_run_ends_it_with_a_line(tmp_path, directory, monkeypatch):
    code = plugins.ALIGNER.replace("return links, links", "return 1 / 0")
    points = {"pairweave.aligners": {"first": "a_module:ALIGNER"}}
    plugins.use(monkeypatch, plugins.write_package(tmp_path / "site", code=code, points=points))
    words = ("align", "--input", "pairs.tsv", *LANGS, "--aligner", "first", "--output", "out")
    status, _, errors = runs.run_here(*words, cwd=directory)
    plugins.forget()
    assert status == 2
    assert "Traceback" not in errors
    assert "raised ZeroDivisionError: division by zero; expected links" in errors.splitlines()[-1]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("shouting", "expected a map of names and limits"),
        ("[shouting]", "expected a map of names and limits"),
        ("{shouting: yes}", "plugin_rules.shouting: input should be a valid number, got True"),
        ("{shouting: .inf}", "plugin_rules.shouting: input should be a finite number"),
        ("{a.b: 1}", "'a.b' is not the name of a rule"),
        ("{a: ", "not valid YAML"),
        (str(dict.fromkeys(map("r{}".format, range(13)), 1)), "names 13 rules; give 12 at most"),
        ("!!python/object/apply:os.getcwd []", "not valid YAML"),
    ],
)
def test_what_is_no_map_of_limits_is_refused(directory, value, said):
    assert said in refusal(directory, "--plugin_rules", value)


@pytest.mark.usefixtures("installed")
def test_help_of_all_options_lists_the_aligners(capsys):
    with pytest.raises(SystemExit):
        runs.cli.main(["align", "--help", "all"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "aligner: diagonal (of pairweave-example-plugin 1.0): by relative place" in shown


@pytest.mark.parametrize("job", ["filter", "augment"])
@pytest.mark.usefixtures("installed")
def test_help_of_all_options_lists_the_rules(capsys, job):
    with pytest.raises(SystemExit):
        runs.cli.main([job, "--help", "all"])
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "Installed for plugin_rules: shouting (of pairweave-example-plugin 1.0): difference "
        "between the sides' shares of capital letters; maximum, default 0.5"
    ) in shown


def test_no_entry_point_is_read_unless_a_plugin_is_named(directory, monkeypatch):
    def read(**_):
        raise AssertionError("entry points are read")

    monkeypatch.setattr(importlib.metadata, "entry_points", read)
    run(directory, "plain")
    for command in ("filter", "align"):
        with pytest.raises(SystemExit):
            runs.cli.main([command, "--help"])
