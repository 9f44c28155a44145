"""Plugins in jobs: the example, installed by pip, from the command line."""

import gzip
import importlib.metadata
import json
import re

import pytest

import pairweave
from pairweave.transforms.plugins import code_digest, entry_points
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
def test_the_code_of_a_plugin_is_hashed_once_and_compared_once(directory, monkeypatch):
    hashed = []

    def count(distribution, module):
        hashed.append(module)
        return code_digest.code_digest(distribution, module)

    monkeypatch.setattr(entry_points, "code_digest", count)
    run(directory, "out", "--plugin_rules", "{shouting: 0.6}")
    assert hashed == ["pairweave_example_plugin"] * 2


@pytest.mark.usefixtures("installed")
def test_a_rule_without_a_limit_has_its_own_in_a_preview_and_in_python(directory):
    words = ("filter", *TABLE, *LANGS, "--preview", "20", "--plugin_rules", "{shouting: }")
    shown = runs.run_well_here(*words, cwd=directory)
    assert shown.count("rejects: rule_shouting") == len(LOUD)
    assert "--plugin_rules 0.5" in shown
    options = {"source_lang": "en", "target_lang": "de", "annotate_only": True}
    actual = pairweave.filter([*PAIRS, *LOUD], plugin_rules={"shouting": None}, **options)
    reasons = actual.rows["reason"].to_pylist()
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
        ("return np.float32(1)", "returned one number for 11 pairs"),
        ("return np.full(len(pairs), np.nan)", "returned NaN for a pair, whose source is "),
        ("raise SystemExit(0)", "raised SystemExit: 0"),
        ("raise BaseException('panic')", "raised BaseException: panic"),
        ("return 'text'", "returned str for 11 pairs"),
        ("return ['0.5'] * len(pairs)", "returned values of the type <U3"),
        ("return np.full(len(pairs), 1j)", "returned values of the type complex128"),
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


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_a_scorer_of_another_package_ranks_pairs_and_is_planned(directory):
    words = ("filter", "--input", "pairs.tsv", *LANGS, "--scorer", "lengths", "--output")
    runs.run_well_here(*words, "out", cwd=directory)
    rows = runs.rows_of(directory / "out")
    assert len(rows) == len(PAIRS + LOUD)
    for row in rows:
        shorter, longer = sorted([len(row["source"]), len(row["target"])])
        assert row["score"] == pytest.approx(shorter / longer, rel=1e-6)
    plan = json.loads((directory / "out" / "_plan.json").read_text())
    assert plan["configuration"]["scorer"] == "lengths"
    planned = plan["configuration"]["scorer_plugin"]
    assert planned["distribution"] == "pairweave-example-plugin 1.0"
    assert f"|scorer:lengths|scorer_plugin.code:{planned['code'][:12]}|" in plan["signature"]
    assert "fit_pairs" not in plan["configuration"]
    note = json.loads((directory / "out" / "_run.json").read_text())
    assert note["packages"]["pairweave-example-plugin"] == "1.0"
    best = max(row["score"] for row in rows)
    runs.run_well_here(*words, "best", "--select_score", f"{best}", cwd=directory)
    assert {row["score"] for row in runs.rows_of(directory / "best")} == {best}
    runs.run_well_here(*words, "half", "--select_share", "0.5", cwd=directory)
    assert 0 < len(runs.rows_of(directory / "half")) < len(rows)


@pytest.mark.usefixtures("installed")
def test_a_scorer_scores_what_the_rules_keep_or_every_pair_if_asked():
    options = {"source_lang": "en", "target_lang": "de", "scorer": "lengths"}
    rule = {"plugin_rules": {"shouting": None}}
    actual = pairweave.filter([*PAIRS, *LOUD], **options, **rule)
    assert actual.rows["score"].null_count == 0
    assert actual.rows.num_rows == len(PAIRS)
    actual = pairweave.filter([*PAIRS, *LOUD], annotate_only=True, **options, **rule)
    assert actual.rows["score"].null_count == 0
    assert actual.rows.num_rows == len(PAIRS + LOUD)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--model", "dir"), "--model: applies to the statistical aligner, which --scorer lengths"),
        (("--encoder", "dir"), "--encoder: applies to an encoder; give --scorer yisi2 or margin"),
        (("--score_field", "3"), "--scorer: the pairs come with their scores"),
    ],
)
def test_options_of_other_scorers_are_refused_beside_a_plugin(directory, options, said):
    words = ("filter", "--input", "pairs.tsv", *LANGS, "--scorer", "lengths", *options)
    status, _, errors = runs.run_here(*words, "--output", "out", cwd=directory)
    assert status == 2
    assert said in errors.splitlines()[-1]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("command", "option", "noun", "own", "name"),
    [
        ("filter", "--scorer", "scorer", "hmm, yisi2, margin", "lengths"),
        ("align", "--tokens", "tokenizer", "words, whitespace, pieces", "characters"),
        ("filter", "--tokens", "tokenizer", "words, whitespace, sentencepiece", "characters"),
        ("align", "--format", "format", "tsv, csv, jsonl", "blocks"),
    ],
)
def test_a_name_that_nothing_has_is_refused_with_those_that_are_there(
    directory, command, option, noun, own, name
):
    words = (command, "--input", "pairs.tsv", *LANGS, option, "nothing", "--output", "out")
    status, _, errors = runs.run_here(*words, cwd=directory)
    last = errors.splitlines()[-1]
    assert status == 2
    assert f"no such {noun}; expected one of {own}" in last
    assert f"or one of an installed package (installed: {name}), got 'nothing'" in last


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("filter", "scorer: lengths (of pairweave-example-plugin 1.0): length of the shorter side"),
        ("align", "tokens: characters (of pairweave-example-plugin 1.0): characters"),
        ("fit", "format: blocks (of pairweave-example-plugin 1.0): a source line, a target line"),
    ],
)
def test_help_of_all_options_lists_the_other_kinds(capsys, monkeypatch, command, shown):
    monkeypatch.setenv("COLUMNS", "2000")
    with pytest.raises(SystemExit):
        runs.cli.main([command, "--help", "all"])
    assert f"Plugins for {shown}" in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("installed")
def test_a_tokenizer_of_another_package_cuts_what_is_aligned_and_is_planned(directory):
    words = ("align", "--input", "pairs.tsv", *LANGS, "--aligner", "diagonal")
    given = ("--tokens", "characters", "--max_tokens", "1000", "--output", "out")
    runs.run_well_here(*words, *given, cwd=directory)
    rows = runs.rows_of(directory / "out")
    for row in rows:
        characters = [place for place, one in enumerate(row["source"]) if not one.isspace()]
        assert [span["start"] for span in row["source_tokens"]] == characters
        assert [span["end"] for span in row["source_tokens"]] == [place + 1 for place in characters]
    plan = json.loads((directory / "out" / "_plan.json").read_text())
    planned = plan["configuration"]["tokenizer_plugin"]
    assert planned["distribution"] == "pairweave-example-plugin 1.0"
    assert plan["configuration"]["tokens"] == f"characters:{planned['code']}"
    assert f"|tokens:characters-{planned['code'][:12]}|" in plan["signature"]
    # The screen counts the same tokens.
    least = max(len(row["source_tokens"]) for row in rows)
    few = ("--tokens", "characters", "--max_tokens", str(least - 1), "--output", "few")
    runs.run_well_here(*words, *few, cwd=directory)
    assert runs.rows_of(directory / "few", "rejects/part-*.parquet")


@pytest.mark.usefixtures("installed")
def test_a_model_is_fitted_on_tokens_of_a_plugin_and_used_with_the_same_alone(directory):
    pairs = [corpora.sentence(number) for number in range(60)]
    (directory / "pairs.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in pairs))
    words = ("--input", "pairs.tsv", *LANGS)
    runs.run_well_here("fit", *words, "--tokens", "characters", "--output", "fitted", cwd=directory)
    given = ("align", *words, "--model", "fitted", "--output")
    runs.run_well_here(*given, "out", "--tokens", "characters", cwd=directory)
    (row, *_) = runs.rows_of(directory / "out")
    assert len(row["source_tokens"]) == sum(not one.isspace() for one in row["source"])
    for more, said in (
        ((), "was fitted on tokens of characters of pairweave-example-plugin 1.0, a tokenizer of"),
        (("--tokens", "words"), "was fitted on characters of pairweave-example-plugin 1.0; leave"),
    ):
        status, _, errors = runs.run_here(*given, "refused", *more, cwd=directory)
        assert status == 2
        assert said in errors.splitlines()[-1]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("ending", [".txt", ".txt.gz"])
def test_a_format_of_another_package_is_read_and_planned(directory, ending):
    blocks = [f"{source}\n{target}\n" for source, target in PAIRS]
    blocks[3] = "without a target\n"
    blocks[4] = "a bell \a\nhier\n"
    blocks[5] = "long " * 99 + "\nkurz\n"
    content = "\n".join(blocks).encode()
    name = f"pairs{ending}"
    (directory / name).write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    words = ("align", "--input", name, "--format", "blocks", *LANGS)
    runs.run_well_here(*words, "--max_line_bytes", "300", "--output", "out", cwd=directory)
    rows = runs.rows_of(directory / "out")
    kept = sorted((row["line"], row["source"], row["target"]) for row in rows)
    assert kept == [(n + 1, *PAIRS[n]) for n in range(len(PAIRS)) if n not in (3, 4, 5)]
    rejects = runs.rows_of(directory / "out", "rejects/part-*.parquet")
    actual = {row["line"]: (row["reason"], row["detail"]) for row in rejects}
    assert actual[4] == ("missing_field", "target: is missing")
    assert actual[5][0] == "control_char"
    assert actual[6][0] == "line_too_long"
    plan = json.loads((directory / "out" / "_plan.json").read_text())
    (reading,) = plan["reading"]
    assert reading["format"] == "blocks"
    assert reading["plugin"]["distribution"] == "pairweave-example-plugin 1.0"
    assert len(reading["plugin"]["code"]) == 64
    assert plan["rows"] == len(PAIRS)
    note = json.loads((directory / "out" / "_run.json").read_text())
    assert note["packages"]["pairweave-example-plugin"] == "1.0"


@pytest.mark.usefixtures("installed")
def test_a_format_may_be_that_of_one_corpus_of_several(directory):
    (directory / "blocks.txt").write_text("a house\nein Haus\n\na tree\nein Baum\n")
    (directory / "corpora.yaml").write_text(
        "source_lang: en\ntarget_lang: de\naligner: diagonal\nworkers: 1\n"
        "corpora: [{corpus: a, input: pairs.tsv}, {corpus: b, input: blocks.txt, format: blocks}]\n"
    )
    runs.run_well_here("align", "--config", "corpora.yaml", "--output", "out", cwd=directory)
    rows = runs.rows_of(directory / "out")
    assert sorted(row["source"] for row in rows if row["corpus"] == "b") == ["a house", "a tree"]
    assert sum(row["corpus"] == "a" for row in rows) == len(PAIRS + LOUD)


@pytest.mark.usefixtures("installed")
def test_a_file_that_a_format_cannot_read_is_refused_with_its_line(directory):
    (directory / "bad.txt").write_text("a\nb\n\nc\nd\ne\n")
    words = ("align", "--input", "bad.txt", "--format", "blocks", *LANGS, "--output", "out")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert status == 2
    assert errors.splitlines()[-1] == (
        "pairweave: bad.txt: blocks of pairweave-example-plugin 1.0 cannot read it after pair 1: "
        "line 6: expected an empty line behind the en line and the de line; mend the file, or give "
        "another --format [unreadable]"
    )


@pytest.mark.usefixtures("installed")
def test_a_suffix_that_no_format_has_is_refused_with_the_formats_of_packages(directory):
    (directory / "pairs.blocks").write_text("a\nb\n")
    words = ("align", "--input", "pairs.blocks", *LANGS, "--output", "out")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert status == 2
    assert "or --format with a format of an installed package: blocks" in errors.splitlines()[-1]


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
def test_help_of_all_options_lists_the_aligners(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")  # so that no line ends at a hyphen
    with pytest.raises(SystemExit):
        runs.cli.main(["align", "--help", "all"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "aligner: diagonal (of pairweave-example-plugin 1.0): by relative place" in shown


@pytest.mark.parametrize("job", ["filter", "augment"])
@pytest.mark.usefixtures("installed")
def test_help_of_all_options_lists_the_rules(capsys, monkeypatch, job):
    monkeypatch.setenv("COLUMNS", "400")
    with pytest.raises(SystemExit):
        runs.cli.main([job, "--help", "all"])
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "Plugins for plugin_rules: shouting (of pairweave-example-plugin 1.0): difference "
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
