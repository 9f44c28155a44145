import gzip
import json
import math
import subprocess
import sys
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.metrics import example_metrics
from pairweave.transforms.metrics.example_metrics import (
    SIDES,
    Comparison,
    Profile,
    profile_files,
    profile_run,
)
from pairweave.transforms.metrics.suggestion_metrics import evaluate_suggestions
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.storage.text_lines import read_text_lines
from pairweave.transforms.suggestions.span_lengths import jensen_shannon
from tests.makers import finished_runs, runs

GOLD = ["the red house", "<NULL_REP>", "an Übung, 3 times", "gone"]
FOUND = ["the red house", "<NULL_REP>", "one Übung, 3 times ", ""]


@pytest.fixture
def score(tmp_path):
    def evaluate(found, gold, target_lang="de"):
        (tmp_path / "found").write_text("".join(f"{line}\n" for line in found))
        (tmp_path / "gold").write_text("".join(f"{line}\n" for line in gold))
        return evaluate_suggestions(str(tmp_path / "found"), str(tmp_path / "gold"), target_lang)

    return evaluate


def sacrebleu_itself(directory, language):
    """Return the figure and signature of sacreBLEU's own command line."""
    arguments = ["gold", "-i", "found", "-m", "bleu", "-w", "12", "-l", f"en-{language}"]
    done = subprocess.run(
        [sys.executable, "-m", "sacrebleu", *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        check=True,
    )
    result = json.loads(done.stdout)
    return result["score"], result["signature"]


@pytest.mark.parametrize(
    ("language", "found", "gold"),
    [
        ("de", FOUND, GOLD),
        (
            "zh",
            ["白色的", "我喜欢猫和小狗。", "在 2008 年"],
            ["白色", "我喜欢猫和黑色的小狗。", "2008 年"],
        ),
        ("ar", ["ذهبت إلى البيت 3 مرات", "a"], ["ذهبت إلى البيت", "a"]),
    ],
)
def test_bleu_is_that_of_sacrebleu_s_own_command(score, tmp_path, language, found, gold):
    scores = score(found, gold, language)
    assert (round(scores.bleu, 12), scores.signature) == sacrebleu_itself(tmp_path, language)
    assert f"tok:{'zh' if language == 'zh' else '13a'}" in scores.signature


def test_real_suggestions_are_scored_as_by_sacrebleu(score, shared_data, tmp_path):
    gold = read_text_lines(str(shared_data / "wets" / "en2de.dev.tgt"))
    actual = [
        line if number % 3 else " ".join(line.split()[:2]) for number, line in enumerate(gold)
    ]
    scores = score(actual, gold)
    assert (round(scores.bleu, 12), scores.signature) == sacrebleu_itself(tmp_path, "de")
    assert scores.lines == 1_000
    assert 1 / 3 < scores.exact_match < 1


def test_exact_matches_are_counted_without_white_space_at_the_ends(score):
    scores = score(FOUND, GOLD)
    assert (scores.lines, scores.exact, scores.exact_match) == (4, 2, 0.5)
    assert score(["a ", "\tb"], ["a", "b"]).exact == 2


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


SEVERAL = [GOLD, ["a red house", "<NULL_REP>", "one Übung, 3 times", "away"]]


def test_a_suggestion_is_exact_if_it_is_any_of_the_gold_ones(tmp_path):
    gold = [write_lines(tmp_path / f"tgt{n}", lines) for n, lines in enumerate(SEVERAL, 1)]
    actual = write_lines(tmp_path / "found", FOUND)
    assert evaluate_suggestions(actual, gold[0], "de").exact == 2
    assert evaluate_suggestions(actual, gold, "de").exact == 3
    assert evaluate_suggestions(actual, gold[::-1], "de").exact == 3


def test_bleu_of_several_references_is_that_of_sacrebleu_s_own_command(tmp_path):
    for n, lines in enumerate(SEVERAL, 1):
        write_lines(tmp_path / f"tgt{n}", lines)
    write_lines(tmp_path / "found", FOUND)
    command = ("evaluate", "suggestions", "found", "tgt1", "tgt2", "--target_lang", "de")
    actual = json.loads(runs.run_well_here(*command, cwd=tmp_path).splitlines()[-1])
    arguments = ["tgt1", "tgt2", "-i", "found", "-m", "bleu", "-w", "12", "-l", "en-de"]
    done = subprocess.run(
        [sys.executable, "-m", "sacrebleu", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = json.loads(done.stdout)
    assert (round(actual["bleu"], 12), actual["signature"]) == (
        theirs["score"],
        theirs["signature"],
    )
    assert "nrefs:2|" in actual["signature"]


def test_a_line_that_is_blank_in_one_gold_file_has_fewer_references(tmp_path):
    gold = [
        write_lines(tmp_path / "tgt1", ["a b c d", "e f g h"]),
        write_lines(tmp_path / "tgt2", ["a b c e", ""]),
    ]
    actual = write_lines(tmp_path / "found", ["a b c e", ""])
    scores = evaluate_suggestions(actual, gold, "de")
    # What is blank is no suggestion to hit, and no short reference to be as long as.
    assert scores.exact == 1
    assert scores.gold_tokens == 8
    assert "nrefs:var" in scores.signature


def test_gold_files_of_other_lengths_are_refused_by_name(tmp_path):
    gold = [write_lines(tmp_path / "one", ["a"]), write_lines(tmp_path / "two", ["a", "b"])]
    actual = write_lines(tmp_path / "found", ["a"])
    with pytest.raises(InputError, match=r"two: has 2 lines, but .*found has 1"):
        evaluate_suggestions(actual, gold, "de")


def test_a_perfect_hypothesis_scores_a_hundred(score):
    scores = score(GOLD, GOLD)
    assert scores.bleu == pytest.approx(100)
    assert scores.exact_match == 1


def test_the_last_line_is_json_and_the_one_before_the_signature(score, tmp_path):
    scores = score(FOUND, GOLD)
    arguments = ("evaluate", "suggestions", "found", "gold", "--target_lang", "de")
    lines = runs.run_well_here(*arguments, cwd=tmp_path).splitlines()
    assert json.loads(lines[-1]) == json.loads(json.dumps(scores.as_dict()))
    assert json.loads(lines[-1])["exact_match"] == 0.5
    assert lines[-2] == scores.signature
    assert lines[0] == f"BLEU {scores.bleu:.2f}  exact match 50.00 %"


def test_files_that_do_not_go_together_are_refused(score):
    with pytest.raises(InputError, match="line_count_mismatch"):
        score(["a"], ["a", "b"])
    with pytest.raises(InputError, match="has no line"):
        score([], [])
    with pytest.raises(InputError, match="no such file"):
        evaluate_suggestions("nowhere", "nowhere", "de")


def test_a_language_without_its_tokenizer_is_refused(score):
    try:
        score(["a"], ["a"], "ja")
    except ConfigError as error:
        assert "--target_lang ja" in str(error)  # noqa: PT017 - the tokenizer may be there


def test_a_compressed_file_is_read(tmp_path):
    with gzip.open(tmp_path / "a.gz", "wb") as file:
        file.write("ä\r\n\nletzte".encode())
    assert read_text_lines(str(tmp_path / "a.gz"), keep_returns=True) == ["ä\r", "", "letzte"]
    (tmp_path / "b").write_bytes(b"a\nb\xff\n")
    with pytest.raises(InputError, match="b:2: expected UTF-8, found 0xFF as byte 2"):
        read_text_lines(str(tmp_path / "b"))


EXAMPLES = [
    ("s one", "a <MASK_REP> c d", "b", "replace", "alignment"),
    ("s one", "<MASK_REP> b c d", "", "delete", "alignment"),
    ("s two", "x y <MASK_REP>", "two words", "insert", "random"),
    ("s three", "我<MASK_REP>猫", "喜欢", "replace", "random"),
]


def write_golden(prefix, rows):
    """Write examples in WeTS' form."""
    for ending, place in (("src", 0), ("mask", 1), ("tgt", 2)):
        lines = [row[place] or "<NULL_REP>" for row in rows]
        prefix.with_suffix(f".{ending}").write_text("".join(f"{line}\n" for line in lines))
    return str(prefix)


def write_run(output, rows):
    """Write a finished run of `suggest`; return it."""
    numbers = {source: number for number, (source, *_) in enumerate(rows)}
    table = [
        {
            "id": f"{numbers[source]:032x}",
            "variant": 0,
            "method": method,
            "operation": operation,
            "source": source,
            "masked": masked,
            "suggestion": suggestion,
            "hint": None,
            "start": 0,
            "end": 1,
            "confidence": None,
            "source_lang": "en",
            "target_lang": "de",
            "corpus": "news",
        }
        for source, masked, suggestion, operation, method in rows
    ]
    table.sort(key=lambda row: row["id"])
    parts = [[row for row in table if row["id"] < f"{1:032x}"]]
    parts.append([row for row in table if row not in parts[0]])

    def data(_kept):
        return pa.Table.from_pylist(parts.pop(0), schema=schemas.SUGGESTIONS)

    return FinishedRun(str(output), finished_runs.write_run(str(output), data, {}, job="suggest"))


def test_examples_counted_by_hand(tmp_path):
    actual = profile_run(write_run(tmp_path / "run", EXAMPLES))
    assert list(actual) == ["alignment", "random", "all"]
    both = actual["all"]
    assert both.examples == 4
    # "b"; "two words"; two Han characters are two words. The deletion has no length.
    assert dict(both.words) == {1: 1, 2: 2}
    # 1 of 3 words before, none of 3, 2 of 2, 1 of 2: bins of a twentieth.
    assert dict(both.position) == {6: 1, 0: 1, 19: 1, 10: 1}
    assert dict(both.masks) == {2: 1, 1: 2}
    assert dict(both.operation) == {"replace": 2, "delete": 1, "insert": 1}
    assert dict(actual["random"].masks) == {1: 2}
    assert both.facet("operation") == {0: 3, 1: 1}


@pytest.mark.parametrize("lines", [1, 3, 8_192])
def test_a_golden_set_is_counted_alike(tmp_path, monkeypatch, lines):
    monkeypatch.setattr(example_metrics, "BATCH_LINES", lines)
    golden = profile_files(write_golden(tmp_path / "g", EXAMPLES), "de")
    made = profile_run(write_run(tmp_path / "run", EXAMPLES))["all"]
    assert golden.operation == {"other": 3, "delete": 1}
    assert (golden.words, golden.position, golden.masks) == (made.words, made.position, made.masks)
    assert set(Comparison({"all": made}, golden).distances("all").values()) == {0.0}


def slow_distance(one, other):
    """Return the Jensen-Shannon distance as its definition says."""
    divergence = 0.0
    for key in {*one, *other}:
        first, second = one[key] / sum(one.values()), other[key] / sum(other.values())
        for share in (first, second):
            if share:
                divergence += 0.5 * share * math.log2(share / ((first + second) / 2))
    return math.sqrt(max(divergence, 0.0))


counts = st.dictionaries(st.integers(0, 6), st.integers(1, 50), min_size=1)


@given(counts, counts)
def test_distances_are_those_of_the_definition(one, other):
    made, golden = (Profile(1, actual, actual, actual, {}) for actual in (one, other))
    wanted = slow_distance(Counter(one), Counter(other))
    distances = Comparison({"all": made}, golden).distances("all")
    assert distances["words"] == distances["masks"] == pytest.approx(wanted, abs=1e-6)
    assert 0 <= distances["position"] <= 1


@given(counts, counts)
def test_distances_are_those_of_scipy(one, other):
    distance = pytest.importorskip("scipy.spatial.distance", reason="needs the extra `neural`")
    keys = sorted({*one, *other})
    shares = [[actual.get(key, 0) for key in keys] for actual in (one, other)]
    assert jensen_shannon(one, other) == pytest.approx(
        distance.jensenshannon(*shares, base=2), abs=1e-6
    )


def test_a_run_is_compared_with_a_golden_set_from_the_command_line(tmp_path):
    write_run(tmp_path / "run", EXAMPLES)
    write_golden(tmp_path / "g", EXAMPLES[1:])
    arguments = ("evaluate", "suggestions", "--data", "run", "--golden", "g")
    lines = runs.run_well_here(*arguments, cwd=tmp_path).splitlines()
    figures = json.loads(lines[-1])
    assert lines[-2] == figures["signature"]
    assert lines[-2].startswith("distance:jensen-shannon|facets:words,position,masks,operation|")
    assert figures["distances"].keys() == {"alignment", "random", "all"}
    assert figures["golden"]["examples"] == 3
    assert figures["made"]["all"]["operation"] == {"delete": 1, "insert": 1, "replace": 2}
    wanted = slow_distance(Counter({1: 1, 2: 2}), Counter({2: 2}))
    assert figures["distances"]["all"]["words"] == pytest.approx(wanted, abs=1e-6)
    assert lines[0].split() == ["examples", "words", "position", "masks", "operation", "method"]
    assert any(line.endswith("golden") for line in lines)


def test_real_golden_sets_are_near_each_other(shared_data):
    prefix = str(shared_data / "wets" / "en2de")
    arguments = ("--data", f"{prefix}.train", "--golden", f"{prefix}.dev", "--target_lang", "de")
    figures = json.loads(runs.run_well_here("evaluate", "suggestions", *arguments).splitlines()[-1])
    made, golden = figures["made"]["all"], figures["golden"]
    assert (made["examples"], golden["examples"]) == (13_953, 1_000)
    assert (made["operation"]["delete"], golden["operation"]["delete"]) == (1_566, 99)
    assert golden["masks"] == {"1": 823, "2": 78, "3": 7}
    assert figures["distances"]["all"]["operation"] < 0.02
    assert figures["distances"]["all"]["words"] < 0.15


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: (path / "g.src").unlink(), r"g\.src: no such file"),
        (lambda path: (path / "g.tgt").write_text("a\n"), "line_count_mismatch"),
        (lambda path: (path / "g.mask").write_text("a\n" * 4), "mask:1: expected one <MASK_REP>"),
        (
            lambda path: (path / "g.mask").write_text("<MASK_REP>\n" * 3 + "<MASK_REP>" * 2 + "\n"),
            "mask:4: expected one <MASK_REP>, found 2",
        ),
        (lambda path: [(path / f"g.{side}").write_text("") for side in SIDES], "has no example"),
    ],
)
def test_a_broken_golden_set_is_refused(tmp_path, monkeypatch, spoil, message):
    monkeypatch.setattr(example_metrics, "BATCH_LINES", 1)
    prefix = write_golden(tmp_path / "g", EXAMPLES)
    spoil(tmp_path)
    with pytest.raises(InputError, match=message):
        profile_files(prefix, "de")


def test_a_run_without_examples_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="the run has no example"):
        profile_run(write_run(tmp_path / "run", []))


def test_what_is_no_run_of_suggestions_is_refused(tmp_path):
    finished_runs.write_run(str(tmp_path / "run"))
    write_golden(tmp_path / "g", EXAMPLES)
    status, _, errors = runs.run_here(
        *("evaluate", "suggestions", "--data", "run", "--golden", "g"), cwd=tmp_path
    )
    assert (status, "a run of augment has no suggestions" in errors) == (2, True)
    status, _, errors = runs.run_here("evaluate", "beads")
    wanted = "unknown subcommand evaluate 'beads'; choose from links, aligners, sentences"
    assert (status, wanted in errors) == (2, True)
