import math

import pytest

from pipelines import flags
from pipelines.options import AugmentOptions, EvaluateLinksOptions
from transforms.errors import ConfigError


def parse(*words, model=AugmentOptions, beam=True):
    return flags.parse(model, "pairweave job", "about", words, beam=beam)


def test_dashes_and_underscores_are_the_same():
    options, _ = parse("--output", "o", "--max-tags=3", "--shard_pairs", "10")
    assert (options.max_tags, options.shard_pairs) == (3, 10)


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
        ([], "--output is needed"),
        (["--output", "o", "--max_ratio", "0.5"], "max_ratio"),
        (["--output", "o", "--source_lang", "e n"], "source_lang"),
        (["--output", "o", "--tokens", "letters"], "tokens"),
    ],
)
def test_a_wrong_option_is_named(words, message):
    with pytest.raises(ConfigError, match=message):
        parse(*words)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("outptu: x", "unknown key outptu, did you mean output"),
        ("- 1", "expected a map"),
        ("a: [", "not valid YAML"),
        ("output: o\ncorpora:\n- {inputs: a}", "corpora.0.inputs"),
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
    with pytest.raises(ConfigError, match="unknown option --parallelism"):
        parse("a", "b", "--parallelism=2", model=EvaluateLinksOptions, beam=False)


def test_a_switch_swallows_no_argument():
    options, _ = parse("--one-based", "hyp", "gold", model=EvaluateLinksOptions, beam=False)
    assert (options.one_based, options.hypothesis, options.gold) == (True, "hyp", "gold")
    options, _ = parse("--one_based=false", "h", "g", model=EvaluateLinksOptions, beam=False)
    assert not options.one_based


def test_no_option_of_ours_hides_one_of_beam():
    clashes = {f"--{name}" for name in AugmentOptions.model_fields} & flags.beam_flags()
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


def test_an_empty_output_is_refused():
    with pytest.raises(ConfigError, match="output"):
        parse("--output", "")
