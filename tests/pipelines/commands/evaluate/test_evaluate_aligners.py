"""The command `evaluate aligners`: several aligners on one gold set."""

import json

import pytest

from pairweave.models.encoder.encoder_config import EncoderConfig, HeadConfig
from pairweave.pipelines.aligners.aligner_registry import NAMED, read_name
from pairweave.pipelines.aligners.encoder import config_of
from pairweave.transforms.errors import ConfigError
from tests.makers import corpora, fake_programs, runs
from tests.makers.fake_programs import write_program

PAIRS = 60


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with tokenised text, a gold that is the diagonal, and programs."""
    directory = tmp_path_factory.mktemp("evaluate")
    sides = list(zip(*map(corpora.sentence, range(PAIRS)), strict=True))
    for name, texts in zip(("gold.en", "gold.de"), sides, strict=True):
        (directory / name).write_text("".join(f"{text}\n" for text in texts))
    pairs = zip(*sides, strict=True)
    (directory / "pairs").write_text("".join(f"{one} ||| {two}\n" for one, two in pairs))
    sizes = [min(len(one.split()), len(two.split())) for one, two in zip(*sides, strict=True)]
    gold = ("".join(f"{' '.join(f'{i}-{i}' for i in range(size))}\n") for size in sizes)
    (directory / "gold").write_text("".join(gold))
    one_based = (f"{' '.join(f'{i}-{i}' for i in range(1, size + 1))}\n" for size in sizes)
    (directory / "gold1").write_text("".join(one_based))
    sides = list(zip(*map(corpora.sentence, range(PAIRS, 200)), strict=True))
    for name, texts in zip(("train.en", "train.de"), sides, strict=True):
        (directory / name).write_text("".join(f"{text}\n" for text in texts))
    write_program(directory / "bin" / "fast_align", fake_programs.FAST_ALIGN)
    write_program(directory / "bin" / "eflomal-align", fake_programs.EFLOMAL)
    return directory


def evaluate(directory, *more):
    arguments = ("evaluate", "aligners", "--gold", "gold", *more)
    return runs.run_here(*arguments, cwd=directory)


def figures(out):
    result = json.loads(out.splitlines()[-1])
    return result["training_pairs"], {item["aligner"]: item for item in result["aligners"]}


def test_aligners_are_listed_with_figures_and_signatures(directory):
    names = ["hmm", "fast_align:path=bin/fast_align", "eflomal:path=bin/eflomal-align"]
    status, out, _ = evaluate(
        directory, "--pairs", "pairs", "--heuristic", "union", "--aligners", *names
    )
    assert status == 0
    lines = out.splitlines()
    assert lines[0].split() == [
        "aligner",
        "AER",
        "precision",
        "recall",
        "links",
        "learn",
        "s",
        "pairs/s",
    ]
    assert [line.split()[0] for line in lines[1:4]] == names
    training, actual = figures(out)
    assert training == PAIRS
    for name in names[1:]:
        assert (actual[name]["aer"], actual[name]["recall"]) == (0.0, 1.0)
        assert "0.00 %" in lines[1 + names.index(name)]
    assert actual["hmm"]["aer"] > 0
    signatures = [actual[name]["signature"] for name in names]
    assert lines[5].startswith("pairs/s: one run; for a program this includes")
    assert lines[6:9] == signatures
    assert all("heuristic:union|" in line and "bin" not in line for line in signatures)
    assert len({actual[name]["digest"] for name in names}) == 3
    assert all(actual[name]["pairs_per_second"] > 0 for name in names)


def test_the_figures_are_those_of_the_links_themselves(directory):
    _, out, _ = evaluate(directory, "--pairs", "pairs")
    table = figures(out)[1]["hmm"]
    sides = ("--source_input", "gold.en", "--target_input", "gold.de", "--tokens", "whitespace")
    runs.run_well_here(
        "align", *sides, "--output", "links", "--pharaoh", "links.txt", cwd=directory
    )
    out = runs.run_well_here("evaluate", "links", "links.txt", "gold", cwd=directory)
    links = json.loads(out.splitlines()[-1])
    # Both learn from the same pairs in another order, which may round another way.
    assert table["links"] == pytest.approx(links["links"], abs=3)
    assert table["aer"] == pytest.approx(links["aer"], abs=0.01)


def test_two_files_and_a_gold_from_one_give_the_same_figures(directory):
    _, out, _ = evaluate(directory, "--pairs", "pairs")
    sides = ("--source_input", "gold.en", "--target_input", "gold.de")
    status, other, _ = runs.run_here(
        *("evaluate", "aligners", "--gold", "gold1", "--one_based", *sides), cwd=directory
    )
    assert status == 0
    one, two = figures(out)[1]["hmm"], figures(other)[1]["hmm"]
    assert {**one, "signature": 0, "pairs_per_second": 0, "learn_seconds": 0} == {
        **two,
        "signature": 0,
        "pairs_per_second": 0,
        "learn_seconds": 0,
    }
    assert "gold:one-based" in two["signature"]


def test_more_text_is_learned_from_and_not_scored(directory):
    more = ("--train_source_input", "train.en", "--train_target_input", "train.de")
    names = ("--aligners", "hmm", "eflomal:path=bin/eflomal-align")
    _, out, _ = evaluate(directory, "--pairs", "pairs", *more, *names)
    training, actual = figures(out)
    assert training == 200
    assert all(item["pairs"] == PAIRS for item in actual.values())
    assert "training_pairs:200|" in actual["hmm"]["signature"]
    assert actual["eflomal:path=bin/eflomal-align"]["aer"] == 0.0
    _, alone, _ = evaluate(directory, "--pairs", "pairs")
    assert figures(alone)[1]["hmm"]["digest"] != actual["hmm"]["digest"]


def test_a_fitted_model_is_taken_as_it_is(directory):
    sides = ("--source_input", "train.en", "--target_input", "train.de", "--tokens", "whitespace")
    runs.run_well_here("fit", *sides, "--output", "model", cwd=directory)
    _, out, _ = evaluate(directory, "--pairs", "pairs", "--aligners", "hmm:model")
    actual = figures(out)[1]["hmm:model"]
    assert actual["learn_seconds"] == 0
    assert "training_pairs:0|" in actual["signature"]
    assert 0 < actual["aer"] < 0.6


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ((), "with --pairs FILE"),
        (("--pairs", "pairs", "--source_input", "gold.en"), "with --pairs FILE"),
        (("--source_input", "gold.en"), "needs --target_input"),
        (("--pairs", "gold.en"), "expected 'source ||| target', found 1 parts"),
        (("--pairs", "no_such_file"), "no_such_file"),
        (("--pairs", "pairs", "--aligners", "hmm", "berkeley"), "got 'berkeley'"),
        (("--pairs", "pairs", "--aligners", "hmm:layer=8"), "unknown setting layer"),
        (("--pairs", "pairs", "--aligners", "encoder"), "needs a model"),
        (("--pairs", "pairs", "--aligners", "product"), "--aligners product: needs a model, as"),
        (("--pairs", "pairs", "--aligners", "hmm:no_model"), "--aligners no_model: no fitted al"),
        (("--pairs", "pairs", "--aligners", "giza:path=bin/GIZA"), "no such executable program"),
        (("--pairs", "pairs", "--train_source_input", "train.en"), "1 source files, but 0 target"),
        (("--source_input", "gold.en", "--target_input", "train.en"), "line_count_mismatch"),
    ],
)
def test_what_cannot_be_compared_is_said_at_once(directory, more, message):
    status, out, errors = evaluate(directory, *more)
    assert status == 2
    assert message in errors
    assert out == ""


@pytest.mark.parametrize(
    ("gold", "more", "message"),
    [
        ("0-0\n", (), f"has 1 line, but the gold set has {PAIRS} pairs"),
        ("0-0\n" * PAIRS, ("--one_based",), "zero_in_one_based"),
        ("0p0\n" * PAIRS, (), "no_sure_link"),
        ("0:0\n" * PAIRS, (), ":1: '0:0'"),
    ],
)
def test_a_gold_of_no_use_is_found_before_anything_is_aligned(directory, gold, more, message):
    (directory / "bad").write_text(gold)
    arguments = ("evaluate", "aligners", "--gold", "bad", "--pairs", "pairs", *more)
    status, out, errors = runs.run_here(*arguments, cwd=directory)
    assert status == 2
    assert message in errors
    assert "done" not in errors
    assert out == ""


def test_an_aligner_that_fails_leaves_the_figures_of_those_before_it(directory):
    write_program(directory / "bin" / "broken", "import sys; sys.exit('no memory')")
    names = ["hmm", "eflomal:path=bin/broken", "fast_align:path=bin/fast_align"]
    status, out, errors = evaluate(directory, "--pairs", "pairs", "--aligners", *names)
    assert status != 0
    assert "no memory" in errors
    assert list(figures(out)[1]) == ["hmm"]


def test_a_name_holds_a_model_and_settings():
    name = read_name("encoder:models/bert:layer=6:head=argmax")
    assert (name.aligner, name.model, name.number("layer", int)) == ("encoder", "models/bert", 6)
    assert name.settings == {"layer": "6", "head": "argmax"}
    for text, learns in (
        ("encoder:models/bert", False),
        ("hmm", True),
        ("hmm:model", False),
        ("giza", True),
        ("simalign:m", False),
    ):
        name = read_name(text)
        assert NAMED[name.aligner].learns(name) == learns
    for text, message in (
        ("hmm:model:other", "'other' is not a setting"),
        ("encoder:dir:layer=2:head=ot:layer=3", "layer is given twice; give one of both values"),
        ("simalign:m:layer=x", "layer must be a number"),
    ):
        with pytest.raises(ConfigError, match=message):
            assert read_name(text).number("layer", int)


def test_a_name_holds_the_settings_of_an_encoder():
    text = "encoder:bert:layer=6:head=ot:threshold=0.2:distortion=0.4:unit=words:precision=bf16"
    assert config_of(read_name(text)) == EncoderConfig(
        "bert",
        layer=6,
        head=HeadConfig("ot", head_threshold=0.2, distortion=0.4),
        unit="words",
        precision="bf16",
    )
    text = "encoder:bert:head=partial_ot:cost=euclidean:mass=norm:moved_mass=0.5:regularization=1"
    assert config_of(read_name(text)).head == HeadConfig(
        "partial_ot", cost="euclidean", mass="norm", moved_mass=0.5, regularization=1.0
    )
    assert config_of(read_name("encoder:bert")) == EncoderConfig("bert")
    for text, message in (
        ("encoder:bert:threshold=much", "threshold must be a number"),
        ("encoder:bert:threshold=2", "threshold must be 0 to 1"),
        ("encoder:bert:head=argmax:threshold=0.3", "head argmax has no threshold"),
        ("encoder:bert:head=ot:relaxation=0.3", "head ot has no relaxation"),
        ("encoder:bert:unit=letters", "unit 'letters' is unknown"),
        ("encoder:bert:depth=3", "unknown setting depth"),
        ("encoder", "needs a model"),
    ):
        with pytest.raises(ConfigError, match=message):
            config_of(read_name(text))


def test_a_gold_that_counts_from_1_without_a_word_gets_a_warning_before_the_figures(directory):
    lines = [line.split()[:-1] for line in (directory / "gold1").read_text().splitlines()]
    (directory / "within").write_text("".join(f"{' '.join(line)}\n" for line in lines))
    command = ("evaluate", "aligners", "--gold", "within", "--pairs", "pairs")
    status, _, err = runs.run_here(*command, cwd=directory)
    assert status == 0
    assert err.splitlines()[0].startswith("warning: within: the gold has no word 0")
    assert "warning" not in runs.run_here(*command, "--one_based", cwd=directory)[2]
    assert "warning" not in evaluate(directory, "--pairs", "pairs")[2]


@pytest.mark.parametrize(
    ("gold", "options", "message"),
    [
        ("0-0 1p1\n1-2\n\n", (), "odd:2: 1-2 is out of range for 2 source and 2 target words"),
        ("0-0\n\n3p0\n", (), "odd:3: 3-0 is out of range for 3 source and 1 target words; if"),
        ("1-1 2-2\n2-2\n3-2\n", ("--one_based",), "odd:3: 3-2 is out of range for 3 source"),
    ],
)
def test_a_gold_that_links_a_word_that_is_not_there_is_refused(tmp_path, gold, options, message):
    (tmp_path / "pairs").write_text("a b ||| c d\ne f ||| g h\ni j k ||| l\n")
    (tmp_path / "odd").write_text(gold)
    command = ("evaluate", "aligners", "--gold", "odd", "--pairs", "pairs", *options)
    status, out, err = runs.run_here(*command, cwd=tmp_path)
    assert (status, out) == (2, "")
    assert err.startswith(f"pairweave: {message}")
    assert ("give --one_based" in err) == (not options)
