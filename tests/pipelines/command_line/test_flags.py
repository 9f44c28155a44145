import importlib
import math
import shlex
import subprocess
import sys
import tempfile

import pytest

from pairweave.pipelines import cli
from pairweave.pipelines.command_line import beam_flags, flags, plugin_help, validation
from pairweave.pipelines.command_line.command_table import COMMANDS, JOBS
from pairweave.pipelines.commands import ablate
from pairweave.pipelines.commands.evaluate import evaluate_command
from pairweave.pipelines.commands.finished import stream
from pairweave.pipelines.job_options.check_options import CheckOptions
from pairweave.pipelines.job_options.filter_options import FilterJobOptions
from pairweave.pipelines.job_options.pair_options import (
    AlignOptions,
    AugmentOptions,
    FinetuneOptions,
    FitOptions,
)
from pairweave.pipelines.job_options.projection_options import TagsProjectOptions
from pairweave.pipelines.job_options.suggest_options import SuggestOptions
from pairweave.pipelines.jobs import augment
from pairweave.pipelines.run import retry
from pairweave.transforms.errors import ConfigError

LINKS = evaluate_command.links.model("evaluate links")


def parse(*words, model=AugmentOptions, beam=True):
    return flags.parse(model, "pairweave job", "about", words, beam=beam)


def test_dashes_and_underscores_are_the_same():
    options, _ = parse("--output", "o", "--max-tags=3", "--shard_pairs", "10")
    assert (options.max_tags, options.shard_pairs) == (3, 10)


def test_help_with_its_plugins_is_of_a_parser_of_its_own(capsys, monkeypatch):
    monkeypatch.setattr(plugin_help, "descriptions", lambda _: ["one of another package"])
    shown = []
    for _ in range(2):
        with pytest.raises(SystemExit):
            parse("--help", "all")
        shown.append(capsys.readouterr().out)
    assert "one of another package" in " ".join(shown[0].split())
    assert shown[0] == shown[1]
    assert parse("--output", "o")[0].output == "o"


def test_a_flag_beats_the_file_and_the_file_the_default(tmp_path):
    config = tmp_path / "c.yaml"
    config.write_text("output: from_file\nmax_tags: 4\nseed: 9\nmix: .inf\nexclude: dev.en\n")
    options, _ = parse("--config", str(config), "--seed", "2")
    assert (options.output, options.max_tags, options.seed) == ("from_file", 4, 2)
    assert options.mix == math.inf
    assert options.exclude == ("dev.en",)
    assert options.max_words == 64


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--outptu", "x"], "did you mean --output"),
        (["--output", "o", "--paralelism=2"], "did you mean --parallelism"),
        (["--output", "o", "--max_tags", "12"], "max_tags: .* less than or equal to 9, got '12'"),
        (["--output", "o", "--heuristic", "gd"], "'grow-diag'"),
        (["--output", "o", "--shard_pairs", "9" * 20], f"shard_pairs: expected .*{2**63 - 1}"),
        (["--output", "o", "--workers", "9" * 20], "workers: .* less than or equal to 32768"),
        (["--output", "o", "--wait", "maybe"], "wait: input should be a valid boolean, .*'maybe'"),
        ([], "no input: give --source_input and --target_input, or --input; --output is required"),
        (
            ["a.en", "b.de"],
            "unexpected argument 'a.en': files are given by options: --source_input",
        ),
        (["--output", "o", "--max_ratio", "0.5"], "max_ratio"),
        (
            ["--output", "o", "--source_lang", "e n"],
            "source_lang: must be a language tag such as en or pt-BR, got 'e n'",
        ),
        (["--output", "o", "--source_lang", "English"], "got 'English'; write en"),
        (["--output", "o", "--target_lang", "pt_BR"], "got 'pt_BR'; write pt-BR"),
        (
            ["--output", "o", "--tokens", "letters"],
            "no such tokenizer; expected one of words, whitespace, .*MODEL, .* got 'letters'",
        ),
        (["--output", "o", "--token_budget", "0"], "must be auto or a whole number .*, got '0'"),
        (["--output", "o", "--direct_num_workers", "abc"], "invalid int value: 'abc'"),
    ],
)
def test_a_wrong_option_is_named(words, message):
    with pytest.raises(ConfigError, match=message):
        parse(*words)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("outptu: x", "unknown key outptu, did you mean output"),
        (
            "steps: {}",
            "c.yaml: has steps, so it is a recipe; "
            r"run it with: pairweave run --config .*c\.yaml --output DIR$",
        ),
        (
            "job: augment",
            "c.yaml: has the key job, so it is the file of a nightly refresh; "
            r".* with: pairweave refresh --config .*c\.yaml --output DIR$",
        ),
        ("- 1", "expected a map"),
        ("a: [", "not valid YAML"),
        (
            "output: o\ncorpora:\n- {inputs: a}",
            r"corpora.0.inputs: unknown key, did you mean input\?",
        ),
        ("output: o\ncorpora:\n- {xyzzy: a}", "corpora.0.xyzzy: unknown key;"),
        (
            "output: o\ncorpora:\n- {input: a, output: b}",
            "corpora.0.output: output is an option of the whole run, .* level of corpora",
        ),
        ("output: o\ntarget_lang: no", 'target_lang: read as false; .* quotes, as in "no"'),
        ("output: o\ncorpora:\n- {input: a, source_lang: no}", "corpora.0.source_lang: read as f"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, text, message):
    config = tmp_path / "c.yaml"
    config.write_text(text)
    with pytest.raises(ConfigError, match=message):
        parse("--config", str(config))


def test_beam_options_are_passed_on_and_others_are_not():
    _, rest = parse("--output", "o", "--parallelism", "2", "--flink_master=host:1")
    assert rest == ["--parallelism", "2", "--flink_master=host:1"]
    _, rest = parse("--output", "o", "--flink_conf_dir", "conf")  # of Beam's job server
    assert rest == ["--flink_conf_dir", "conf"]
    with pytest.raises(ConfigError, match="--parallelism: pairweave job runs no Beam pipeline"):
        parse("a", "b", "--parallelism=2", model=LINKS, beam=False)


@pytest.mark.parametrize(
    ("model", "beam"), [(FitOptions, True), (FinetuneOptions, False), (LINKS, False)]
)
def test_the_help_speaks_of_beam_only_where_its_options_are_taken(model, beam, capsys):
    with pytest.raises(SystemExit):
        parse("--help", "all", model=model, beam=beam)
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("[any Beam option]") == beam
    assert said.endswith("Any further option is passed to Apache Beam.") == beam
    assert ("--config FILE.yaml" in said) == (model is not LINKS)


def test_a_switch_swallows_no_argument():
    options, _ = parse("--one-based", "hyp", "gold", model=LINKS, beam=False)
    assert (options.one_based, options.hypothesis, options.gold) == (True, "hyp", "gold")
    options, _ = parse("--one_based=false", "h", "g", model=LINKS, beam=False)
    assert not options.one_based


def test_no_option_of_ours_hides_one_of_beam():
    clashes = {f"--{name}" for name in AugmentOptions.model_fields} & beam_flags.actions().keys()
    assert clashes == set()


def test_a_repeated_list_is_one_list():
    options, _ = parse("--input", "a", "b", "--input", "c", "--output", "o")
    assert options.input == ("a", "b", "c")


@pytest.mark.parametrize(
    "words", [("junk",), ("--parallelism=2", "junk"), ("--parallelism", "2", "x")]
)
def test_a_stray_word_is_refused(words):
    with pytest.raises(ConfigError, match=r"unexpected argument '(junk|x)'"):
        parse("--output", "o", *words)


@pytest.mark.parametrize(("word", "waits"), [("no", False), ("yes", True), ("false", False)])
def test_a_switch_takes_the_word_after_it(word, waits):
    options, _ = parse("--output", "o", "--wait", word, "--plan_only")
    assert (options.wait, options.plan_only) == (waits, True)


def test_a_key_that_is_an_option_of_beam_is_said_to_be_a_flag(tmp_path):
    (tmp_path / "job.yaml").write_text("output: o\nregion: europe-west4\n")
    with pytest.raises(ConfigError, match=r"unknown key region: .* command line takes as --region"):
        parse("--config", str(tmp_path / "job.yaml"))


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("accelerator", "nvidia-l4", "such as type:nvidia-l4;count:1;install-nvidia-driver"),
        ("accelerator", "type:nvidia-l4;count:0", "such as type:nvidia-l4;count:1"),
        ("translator", "ctranslate2:", "ctranslate2:DIR, transformers:DIR or transformers:OWNER"),
        ("memory", "two", "a size with its unit, such as 2GiB or 512MiB"),
    ],
)
def test_a_value_of_another_form_is_refused_with_an_example(name, value, expected):
    with pytest.raises(ConfigError, match=f"^{name}: must be {expected}.*, got '{value}'"):
        parse("--output", "o", f"--{name}", value, model=SuggestOptions)


def test_help_says_what_a_value_is(capsys):
    with pytest.raises(SystemExit) as done:
        parse("--help", "all")
    assert done.value.code == 0
    printed = capsys.readouterr().out
    for text in (
        "--input GLOB [GLOB ...]",
        "--po_take {fuzzy,obsolete} [{fuzzy,obsolete} ...]",
        *(
            "--model DIR",
            "--output DIR",
            "--tokens KIND[:MODEL]",
            "--mix X",
            "--allow_empty true|false",
        ),
    ):
        assert f"  {text}" in printed, text


@pytest.mark.parametrize("name", ["model", "pharaoh"])
def test_an_empty_path_is_refused(name):
    with pytest.raises(ConfigError, match=name):
        parse("--output", "o", f"--{name}=", model=AlignOptions)


def test_a_flag_of_beam_without_a_value_takes_no_word():
    _, rest = parse("--output", "o", "--streaming", "--parallelism", "-1")
    assert rest == ["--streaming", "--parallelism", "-1"]
    with pytest.raises(ConfigError, match="unexpected argument 'x'"):
        parse("--output", "o", "--streaming", "x")


def test_help_groups_options_by_what_they_are_about(capsys):
    with pytest.raises(SystemExit):
        parse("--help", "all")
    usage, *groups = capsys.readouterr().out.split("\n\n")
    assert len(usage.splitlines()) == 1
    titles = [group.partition(":\n")[0] for group in groups if ":\n" in group]
    assert titles == [
        *("options", "Location of a corpus", "Reading"),
        "The screen, which rejects pairs before the costly steps",
        *("Fitting a word aligner", "Running"),
        *("Word alignment", "Word alignment of two languages"),
        "Words in scripts without spaces",
        "Translation of sources without a translation in the input",
        "Options of augment",
    ]
    shown = "\n\n".join(groups)
    names = set(AugmentOptions.model_fields) - {"corpora"}
    assert all(shown.count(f"\n  --{name} ") == 1 for name in names)


def test_an_empty_output_is_refused():
    with pytest.raises(ConfigError, match="output"):
        parse("--output", "")


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["--drop_identical"], True),
        (["--drop_identical", "true"], True),
        (["--drop_identical", "false"], False),
        (["--drop-identical=false"], False),
        (["--drop_identical", "--seed", "3"], True),
        ([], False),
    ],
)
def test_a_switch_stands_alone_or_with_its_value(words, value):
    options, rest = parse("--output", "o", *words, "--max_tags", "3")
    assert (options.drop_identical, options.max_tags, rest) == (value, 3, [])


def test_every_limit_on_the_command_line_reaches_the_readers_and_the_screen(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"source": "a", "target": "b"}\n')
    limits = {"max_line_bytes": 2000, "max_expansion": 7, "max_file_bytes": 3000}
    limits |= {"max_json_depth": 9}
    screens = {"max_tokens": 11, "max_ratio": 2.5, "max_token_chars": 12, "drop_identical": True}
    words = [f"--{name}={value}".lower() for name, value in (limits | screens).items()]
    inputs = ["--input", str(tmp_path / "a.jsonl"), "--source_lang", "en", "--target_lang", "de"]
    options, _ = parse("--output", str(tmp_path / "o"), *inputs, *words)
    run = augment.JOB.prepare(options)
    assert {name: getattr(run.limits, name) for name in limits} == limits
    assert {name: getattr(run.screen, name) for name in screens} == screens


def test_a_run_that_never_begins_leaves_no_temporary_directory(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    (tmp_path / "a.tsv").write_text("a\tb\n")
    inputs = ["--input", str(tmp_path / "a.tsv"), "--source_lang", "en", "--target_lang", "de"]
    options, rest = parse("--output", str(tmp_path / "o"), *inputs)
    run = augment.JOB.prepare(options)

    def refuse(_pipeline):
        raise ConfigError("no graph")

    with pytest.raises(ConfigError, match="no graph"):
        retry.resume(run, rest, lambda *_: refuse)
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("model", "name", "jobs"),
    [
        (FitOptions, "links", "augment, suggest and align"),
        (FinetuneOptions, "score_field", "suggest and filter"),
        (AlignOptions, "tags_differ", "augment"),
        (AugmentOptions, "translation_field", "suggest"),
    ],
)
def test_an_option_of_another_job_is_unknown_and_the_message_names_the_job(
    tmp_path, model, name, jobs
):
    config = tmp_path / "c.yaml"
    said = rf"unknown (option --|key ){name}, an option of {jobs}(;|$)"
    with pytest.raises(ConfigError, match=said):
        parse("--output", "o", f"--{name}=x", model=model)
    config.write_text(f"output: o\n{name}: x\n")
    with pytest.raises(ConfigError, match=said):
        parse("--config", str(config), model=model)


def test_a_corpus_in_a_list_has_the_options_of_its_job(tmp_path):
    config = tmp_path / "c.yaml"
    config.write_text("output: o\ncorpora:\n- {input: a, score_field: lm}\n")
    (corpus,) = parse("--config", str(config), model=SuggestOptions)[0].corpora
    assert corpus.score_field == "lm"
    with pytest.raises(ConfigError, match=r"corpora\.0\.score_field: unknown key, an option of su"):
        parse("--config", str(config), model=AlignOptions)


@pytest.mark.parametrize("job", sorted(JOBS - {"demo", "refresh", "run"}))
def test_a_job_and_the_corpora_in_its_list_have_the_same_parts(job):
    module, _, name = COMMANDS[job].options.partition(":")
    model = getattr(importlib.import_module(module), name)
    parts = {
        kind
        for kind in model.__mro__
        if kind.__module__.endswith(("corpus_options", "format_names")) and kind is not model
    }
    assert parts == {kind for kind in model.corpus_kind().__mro__ if kind in parts}
    assert model.corpus_kind() in parts


def documented(name):
    """Return the options of a command, and whether Beam's may follow."""
    if name == "tags project":
        return TagsProjectOptions, False
    module, _, model = COMMANDS[name].options.partition(":")
    return getattr(importlib.import_module(module), model), COMMANDS[name].beam


WITH_FIRST_HELP = sorted(
    name
    for name in (*COMMANDS, "tags project")
    if (name not in COMMANDS or COMMANDS[name].options) and documented(name)[0].FIRST_HELP
)


@pytest.mark.parametrize("name", WITH_FIRST_HELP)
def test_the_first_help_of_a_job_is_an_example_and_a_screen_of_options(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    options, beam = documented(name)
    with pytest.raises(SystemExit) as done:
        flags.parse(options, f"pairweave {name}", "about", ["--help"], beam=beam)
    assert done.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 30
    # An example can be a little longer than a screen.
    assert max(len(line) for line in lines if line.startswith("  --")) <= 80
    assert [line for line in lines if "(default" in line and not line.endswith(")")] == []
    assert lines[-1].startswith(f"pairweave {name} --help all lists all ")


def test_the_first_help_tells_a_map_from_one_of_several_names(capsys):
    options, beam = documented("augment")
    with pytest.raises(SystemExit):
        flags.parse(options, "pairweave augment", "about", ["--help"], beam=beam)
    text = capsys.readouterr().out
    assert "  --filter MAP " in text
    assert "  --representation NAME " in text


@pytest.mark.parametrize("name", WITH_FIRST_HELP)
def test_the_example_of_a_job_can_be_run(name):
    options, beam = documented(name)
    prog, *words = shlex.split(options.FIRST_HELP.example.replace("\\\n", " "))
    commands = len(name.split())
    assert (prog, words[:commands]) == ("pairweave", name.split())
    flags.parse(options, f"pairweave {name}", "about", words[commands:], beam=beam)


def test_every_job_with_many_options_has_a_first_help():
    assert set(WITH_FIRST_HELP) - {"tags project"} == JOBS - {"run", "demo", "refresh"}


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"output": "a\0b"}, "output"),
        ({"output": "o", "exclude": ["a", "a\0b"]}, "exclude.1"),
        ({"output": "o", "corpora": [{"corpus": "a\0b"}]}, "corpora.0.corpus"),
        ({"output": "o", "filter": {"score_model": "a\0b"}}, "filter.score_model"),
    ],
)
def test_a_text_with_nul_is_refused_with_its_place(values, place):
    with pytest.raises(ConfigError) as refused:
        validation.validate(AugmentOptions, values, "pairweave augment")
    assert str(refused.value).startswith(f"{place}: has the character NUL")
    assert "\0" not in str(refused.value)


def test_nul_in_rules_that_a_flag_gives_is_refused():
    with pytest.raises(ConfigError, match=r"filter: line 1: .* has the character NUL"):
        parse("--output", "o", "--filter", '{detector: "fasttext:a\\0b"}')


@pytest.mark.parametrize("mark", ["\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\u2028"])
@pytest.mark.parametrize("name", ["corpus", "licence", "source_lang", "target_lang"])
def test_names_of_a_corpus_have_one_line_and_no_control_characters(name, mark):
    value = f"en{mark}" if name.endswith("_lang") else f"a{mark}b"
    for values in ({name: value}, {"corpora": [{name: value}]}):
        with pytest.raises(ConfigError) as refused:
            validation.validate(AugmentOptions, {"output": "o", **values}, "pairweave augment")
        assert f"{name}: must " in str(refused.value)
        assert mark not in str(refused.value)


def test_names_of_a_corpus_may_have_any_letters_and_spaces():
    values = {"output": "o", "corpus": "Ελλάδα → 日本 e\u0301 \u200d", "licence": "CC BY-SA 4.0"}
    assert validation.validate(AugmentOptions, values, "x").corpus == values["corpus"]


WRONG = [None, True, -1, 1.5, "x", [1], [None], {}, {"a": 1}, {1: 2}, [{}], [[]], [{"a": [1]}]]
"""Values of types that most options do not have."""


@pytest.mark.parametrize("job", [AugmentOptions, SuggestOptions, FitOptions, FinetuneOptions])
def test_a_wrong_type_in_a_yaml_file_is_one_line_with_file_and_key(job):
    base = {"output": "o", **({"model": "m"} if job is FinetuneOptions else {})}
    refused = 0
    for name in job.model_fields:
        for value in WRONG:
            try:
                validation.validate(job, {**base, name: value}, "job", {name: "job.yaml"})
            except ConfigError as error:
                message = str(error)
                # A rule of several options, such as that of a block of rules, names none.
                assert message.startswith((f"job.yaml: {name}", "job.yaml: filter"))
                assert "\n" not in message
                refused += 1
    assert refused > 8 * len(job.model_fields)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("corpora: {a: 1}", "corpora: input should be a list, got {'a': 1}"),
        ("corpora: [a.en]", "corpora.0: input should be a map of options, got 'a.en'"),
        ("corpora: [{corpus: 2024}]", "valid string, got 2024; put the text in quotes"),
        ("corpus: 2024-01-05", "put the text in quotes"),
        ("corpus: no", "got False; put the text in quotes"),
    ],
)
def test_a_structure_of_yaml_is_named_in_its_words(tmp_path, text, said):
    (tmp_path / "job.yaml").write_text(f"output: o\n{text}\n")
    with pytest.raises(ConfigError) as refused:
        parse("--config", str(tmp_path / "job.yaml"))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("model", "words", "said"),
    [
        (AugmentOptions, "--translator=m", "must be ctranslate2:DIR, transformers:DIR or"),
        (SuggestOptions, "--scorer=hmm", "must be ctranslate2:DIR, transformers:DIR or"),
        (FinetuneOptions, "--objectives=mlm,", "must be one or more of mlm, tlm, so, psi and co"),
        (
            ablate.main.model("ablate"),
            "--device=gpu --config c --output o",
            "must be auto, cpu, cuda or cuda:N",
        ),
        (stream.main.model("stream"), "--start=-1 run", "must be EPOCH or EPOCH:WINDOW, such as"),
        (CheckOptions, "--source_lang=e", "must be a language tag such as en or pt-BR"),
    ],
)
def test_a_text_of_another_form_is_refused_in_words_rather_than_by_a_pattern(model, words, said):
    with pytest.raises(ConfigError) as refused:
        parse(*words.split(), model=model, beam=False)
    name, _, value = words.split()[0].removeprefix("--").partition("=")
    assert f"{name}: {said}" in str(refused.value)
    assert f"got {value!r}" in str(refused.value)
    assert "pattern" not in str(refused.value)


def test_the_advice_for_a_recipe_runs_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.en").write_text("a red house\n")
    (tmp_path / "a.de").write_text("ein rotes Haus\n")
    sides = "source_input: a.en, target_input: a.de"
    (tmp_path / "recipe.yaml").write_text(f"steps: [{{name: one, job: align, {sides}}}]\n")
    with pytest.raises(ConfigError) as refused:
        parse("--config", "recipe.yaml", "--output", "o")
    advice = str(refused.value).partition("pairweave ")[2]
    assert cli.main([*shlex.split(advice), "--plan_only"]) == 0


def test_a_wrong_value_names_its_file_unless_a_flag_gives_it(tmp_path):
    (tmp_path / "job.yaml").write_text("output: o\nseed: x\n")
    with pytest.raises(ConfigError) as refused:
        parse("--config", str(tmp_path / "job.yaml"))
    assert str(refused.value).startswith(f"{tmp_path}/job.yaml: seed: input should be a valid")
    with pytest.raises(ConfigError) as refused:
        parse("--config", str(tmp_path / "job.yaml"), "--seed", "y", "--output", "o")
    assert str(refused.value).startswith("seed: input should be a valid integer")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "--near_threshold 0.5",
            "--near_threshold: applies to --duplicates near, not to masked; leave it out",
        ),
        ("--select_words 5 --select_share 1", "give one of --select_words, --select_share"),
        (
            "--select_score 2",
            "--select_score: 2: scores are from 0 to 1, unless --score_field, --score_input or a "
            "--scorer of another package gives others",
        ),
    ],
)
def test_options_that_do_not_fit_together_are_named_without_all_others(words, said):
    with pytest.raises(ConfigError) as refused:
        parse("--input", "a.tsv", "--output", "o", *words.split(), model=FilterJobOptions)
    assert str(refused.value) == f"{said}; see pairweave job --help"


def test_the_source_of_beam_has_every_flag_of_its_parser():
    assert beam_flags.actions().keys() <= beam_flags.in_source() | set(beam_flags.OF_JOB_SERVER)


def test_a_mistyped_option_is_refused_without_beam():
    code = (
        "import sys; from pairweave.pipelines import cli; "
        "status = [cli.main(words.split()) for words in sys.argv[1:]]; "
        "print(status, 'apache_beam' in sys.modules)"
    )
    words = ["augment --max_tag 3", "filter --quux 1", "align"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[2, 2, 2] False\n"
    assert "did you mean --max_tags?" in done.stderr


def test_the_help_of_a_command_with_many_options_begins_with_the_usual_ones(capsys):
    with pytest.raises(SystemExit):
        cli.main(["tags", "project", "--help"])
    out = capsys.readouterr().out
    assert out.index("--source_input GLOB") < 600
    assert "--attention_layer" not in out
