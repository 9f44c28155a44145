import gzip
import json
import re

import pyarrow.parquet as pq
import pytest

from tests import check_suggestions
from tests.makers import corpora, runs, suggesting

SIDES = (
    *("--source_input", "corpus.en", "--target_input", "corpus.de"),
    *("--translation_input", "corpus.mt"),
)
LANGS = ("--source_lang", "en", "--target_lang", "de")
SMALL = ("--shard_pairs", "150", "--unit_rows", "100", "--workers", "1")
LOOSE = ("--max_placeholder_share", "0.9", "--deletions", "--keep_punctuation")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    directory = tmp_path_factory.mktemp("corpus")
    return directory, suggesting.write_triples(directory, 400)


@pytest.fixture(scope="module")
def output(corpus):
    directory, _ = corpus
    runs.run_well_here("suggest", *SIDES, *LANGS, *SMALL, *LOOSE, "--output", "out", cwd=directory)
    return directory / "out"


def files_of(directory):
    return [str(directory / f"corpus.{side}") for side in ("en", "de", "mt")]


def test_an_independent_reading_of_the_output_agrees_with_the_input(corpus, output):
    directory, triples = corpus
    counted = check_suggestions.check(output, files_of(directory))
    assert counted["read"] == triples
    for reason in ("duplicate", "empty_translation", "reserved_token", "long_token"):
        assert counted["rejected"][reason] == 1, reason
    for what in ("random", "alignment", "parallel", "replace", "insert", "delete"):
        assert counted[what] > 10, what


def test_the_checker_sees_what_is_wrong(corpus, output):
    directory, _ = corpus
    triples = check_suggestions.read_triples(files_of(directory))
    rows = pq.read_table(output / "data" / "part-00000-of-00003.parquet").to_pylist()
    seen = set()
    for row in rows:
        kind = row["method"], row["operation"]
        triple = next(t for t in triples if t[0] == row["source"])
        if kind in seen or not check_suggestions.says(row, triple):
            continue
        seen.add(kind)
        for change in (
            {"start": row["start"] + 1},
            {"end": row["end"] + 1},
            {"masked": row["masked"] + " "},
            {"masked": row["masked"].replace("<MASK_REP>", "<MASK_REP><MASK_REP>")},
            {"suggestion": row["suggestion"] + "x"},
            {"operation": "insert" if row["operation"] != "insert" else "replace"},
        ):
            assert not check_suggestions.says({**row, **change}, triple), change
    assert len(seen) == 5


def test_a_run_counts_and_lists_what_it_made(output):
    manifest = json.loads((output / "_manifest.json").read_text())
    assert "golden" not in manifest
    names = {entry["name"] for entry in manifest["files"]}
    assert {"README.md", "report.html", "symbols.txt", "data/part-00002-of-00003.parquet"} <= names
    assert (output / "symbols.txt").read_text() == "<MASK_REP>\n"
    counts = manifest["counts"]
    assert counts["triples"] == sum(
        counts.get(name, 0)
        for name in (
            "kept_triples",
            "triples_without_differences",
            "triples_over_placeholder_limit",
        )
    )
    lengths = manifest["histograms"]["suggestion_words"]["counts"]["alignment"]
    assert sum(lengths) == counts["alignment_examples"] - counts["alignment_delete_examples"]
    report = (output / "report.html").read_text()
    assert "&lt;MASK_REP&gt;" in report
    assert "Words of a suggestion for a masked span: random" in report


def test_rows_can_be_looked_at(output):
    printed = runs.run_well_here("preview", str(output), "--pairs", "20")
    assert "<MASK_REP>" in printed
    assert "alignment, " in printed
    assert "random, replace: " in printed


def test_the_same_command_again_makes_nothing_new_and_a_lost_shard_is_made_again(corpus, output):
    before = runs.tree_digests(output)
    arguments = ("suggest", *SIDES, *LANGS, *SMALL, *LOOSE, "--output", "out")
    runs.run_well_here(*arguments, cwd=corpus[0])
    assert runs.tree_digests(output) == before
    (output / "data" / "part-00001-of-00003.parquet").unlink()
    runs.run_well_here(*arguments, cwd=corpus[0])
    assert runs.tree_digests(output) == before
    assert json.loads((output / "_run.json").read_text())["shards_reused"] == 2


def write_golden(directory):
    """Write a golden set whose suggestions have two words, at either end of the sentence."""
    lines = [("s1", "<MASK_REP> c d e f g", "a b"), ("s1", "f g h <MASK_REP>", "d e")]
    lines += [("s2", "<MASK_REP> x y z v w", "k l")]
    for side, ending in enumerate(("src", "mask", "tgt")):
        text = "".join(line[side] + "\n" for line in lines)
        (directory / f"gold.{ending}.gz").write_bytes(gzip.compress(text.encode()))
    return [f"gold.{ending}.gz" for ending in ("src", "mask", "tgt")]


@pytest.mark.slow
def test_masks_follow_a_golden_set_and_are_compared_with_it(corpus):
    directory, _ = corpus
    golden = write_golden(directory)
    arguments = ("suggest", *SIDES, *LANGS, *SMALL, "--methods", "random,alignment")
    arguments += ("--fit_lengths", *golden, "--keep_punctuation")
    runs.run_well_here(*arguments, "--output", "golden", cwd=directory)
    manifest = json.loads((directory / "golden" / "_manifest.json").read_text())
    assert manifest["golden"]["histograms"] == {
        "words": {"2": 3},
        "position": {"0": 2, "19": 1},
        "masks": {"1": 1, "2": 1},
    }
    random = manifest["golden"]["distances"]["random"]
    assert random["words"] == 0.0
    assert random["position"] < 0.1
    assert random["masks"] < 0.1
    assert manifest["golden"]["distances"]["alignment"]["words"] > 0.3
    assert "Comparison with the golden set" in (directory / "golden" / "report.html").read_text()
    # Only compared: lengths are geometric, as they would be without it.
    compared = (*arguments, "--lengths", "geometric", "--output", "compared")
    runs.run_well_here(*compared, cwd=directory)
    manifest = json.loads((directory / "compared" / "_manifest.json").read_text())
    assert manifest["golden"]["distances"]["random"]["words"] > 0.3


def test_pairs_without_a_translation_are_masked_or_rejected(corpus):
    directory, _ = corpus
    sides = SIDES[:4]
    arguments = ("suggest", *sides, *LANGS, *SMALL)
    runs.run_well_here(*arguments, "--output", "untranslated", cwd=directory)
    manifest = json.loads((directory / "untranslated" / "_manifest.json").read_text())
    assert manifest["counts"]["alignment_examples"] == 0
    assert manifest["counts"]["parallel_examples"] == manifest["rows"]["kept"]
    status, _, errors = runs.run_here(
        *arguments, "--methods", "alignment", "--output", "nothing", cwd=directory
    )
    assert status == 2
    assert "no_translation" in errors


def write_scored(directory):
    """Write pairs with translations, every third without a score."""
    lines = []
    for number in range(90):
        source, reference = corpora.sentence(number)
        line = {"source": source, "target": reference}
        line |= {"translation": suggesting.translate(number, reference), "lm": -number / 8}
        lines.append({**line, "lm": None} if number % 3 == 0 else line)
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (directory / "scored.jsonl").write_text(text)
    return {line["source"]: line["lm"] for line in lines}


@pytest.mark.slow
def test_scores_of_the_input_are_carried_and_limit_what_is_kept(tmp_path):
    scores = write_scored(tmp_path)
    job = ("suggest", "--input", "scored.jsonl", *LANGS, "--shard_pairs", "40", "--workers", "1")

    def rows_of(output, *more):
        runs.run_well_here(*job, "--output", output, *more, cwd=tmp_path)
        paths = sorted((tmp_path / output).glob("data/part-*.parquet"))
        return [row for path in paths for row in pq.read_table(path).to_pylist()]

    every = rows_of("all", "--score_field", "lm")
    assert {row["source"]: row["score"] for row in every} == scores
    assert all(row["score"] is None for row in rows_of("unread"))
    limits = ("--min_score", "-5", "--max_score", "-2")
    some = rows_of("some", "--score_field", "lm", *limits)
    inside = [row for row in every if row["score"] is not None and -5 <= row["score"] <= -2]
    assert some == inside
    assert len({row["source"] for row in some}) == sum(
        score is not None and -5 <= score <= -2 for score in scores.values()
    )
    manifest = json.loads((tmp_path / "some" / "_manifest.json").read_text())
    assert manifest["rows"]["read"] == manifest["rows"]["kept"] + manifest["rows"]["rejected"]
    assert not any(name.endswith("dropped, score") for name in manifest["counts"])
    turned_away = {row["source"] for row in every} - {row["source"] for row in some}
    assert manifest["rejected"]["filtered"] == len(turned_away) > 0
    models = ("--scorer", "ctranslate2:a", "--reverse_scorer", "ctranslate2:b")
    for name, more, message in (
        ("augment", (), "unknown option --score_field"),
        ("suggest", models, "--score_field and --scorer fill the same column"),
    ):
        arguments = (name, *job[1:], "--score_field", "lm", *more, "--output", "out")
        status, _, errors = runs.run_here(*arguments, cwd=tmp_path)
        assert status == 2
        assert message in errors


def test_tags_of_the_input_are_kept_whole(tmp_path):
    lines = [
        (
            "a <a_0>red house</a_0> here",
            f"ein <a_0>rotes Haus</a_0> hier {n}",
            f"ein <a_0>rotes Gebäude da {n}</a_0>",
        )
        for n in range(40)
    ]
    for side, name in enumerate(("corpus.en", "corpus.de", "corpus.mt")):
        (tmp_path / name).write_text("".join(f"{line[side]}\n" for line in lines))
    arguments = ("suggest", *SIDES, *LANGS, "--workers", "1", "--max_masked_share", "1")
    runs.run_well_here(
        *arguments,
        "--max_placeholder_share",
        "1",
        "--variants",
        "5",
        "--output",
        "out",
        cwd=tmp_path,
    )
    counted = check_suggestions.check(tmp_path / "out", files_of(tmp_path))
    assert counted["random"] > 20
    assert counted["alignment"] > 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--methods", "random,alignmnet"), "methods"),
        (("--methods", "random", "--deletions"), "--deletions: for the method alignment"),
        (("--methods", "alignment", "--variants", "2"), "--variants: for the method random"),
        (
            ("--lengths", "uniform", "--mean_words", "4"),
            "--mean_words: does not apply to --lengths uniform",
        ),
        (("--lengths", "empirical"), "--fit_lengths"),
        (("--fit_lengths", "none.mask", "none.tgt"), "no_match"),
        (("--fit_lengths", "corpus.en"), "expected one .mask"),
        (("--fit_lengths", "bad.mask", "bad.tgt"), "bad.mask:1: expected one <MASK_REP>, found 0"),
        (("--max_source_words", "3", "--min_source_words", "9"), "min_source_words"),
        (("--scorer", "ctranslate2:model"), "--scorer and --reverse_scorer must be given together"),
        (("--max_score", "3"), "--max_score: without --scorer"),
        (("--min_score", "3"), "--min_score: without --scorer"),
        (("--score_field", "lm"), "score_field lm: line-parallel text has no columns"),
        (("--aligner", "ter", "--head", "argmax"), "--aligner ter does not take --head"),
    ],
)
def test_what_the_user_must_mend_is_said_in_one_line(corpus, arguments, message):
    directory, _ = corpus
    (directory / "bad.mask").write_text("no mask\n")
    (directory / "bad.tgt").write_text("x\n")
    status, _, errors = runs.run_here(
        "suggest", *SIDES, *LANGS, *arguments, "--output", "bad", cwd=directory
    )
    assert status == 2, errors
    assert message in errors
    assert len(errors.strip().splitlines()) == 1
    assert not (directory / "bad").exists()


@pytest.mark.slow
@pytest.mark.parametrize("system", ["google", "microsoft", "bergamot-tiny"])
def test_every_example_of_real_translations_is_exact(shared_data, tmp_path, system):
    triples = shared_data / "triples" / "en-de"
    names = [
        str(triples / f"wmt{year}.{side}.gz")
        for year in (16, 17, 18)
        for side in ("src", "ref", f"mt.{system}")
    ]
    arguments = []
    for place, option in enumerate(("source", "target", "translation")):
        arguments += [f"--{option}_input", *names[place::3]]
    runs.run_well_here("suggest", *arguments, *LANGS, "--deletions", "--output", tmp_path / "out")
    counted = check_suggestions.check(tmp_path / "out", names)
    assert counted["read"] > 8_900
    assert counted["alignment"] > 10_000


def test_a_mix_that_is_not_reached_is_told_and_the_advised_one_reaches_it(corpus):
    directory, _ = corpus
    arguments = ("suggest", *SIDES, *LANGS, *SMALL, "--keep_punctuation")
    arguments += ("--methods", "random,parallel", "--variants", "3")
    printed = runs.run_well_here(*arguments, "--output", "short", cwd=directory)
    manifest = json.loads((directory / "short" / "_manifest.json").read_text())
    (notice,) = [line for line in manifest["notices"] if line.startswith("--mix 1: ")]
    assert f"notice: {notice}" in printed
    assert notice in runs.text_of_page(directory / "short" / "report.html")
    (advised,) = re.findall(r"with --mix ([0-9.]+),", notice)
    more = ("--mix", advised, "--output", "enough")
    runs.run_well_here(*arguments, *more, cwd=directory)
    counts = json.loads((directory / "enough" / "_manifest.json").read_text())["counts"]
    assert counts["parallel_examples"] / counts["random_examples"] == pytest.approx(1, rel=0.15)


def test_a_run_without_a_pair_names_its_files(tmp_path):
    for name in ("a.en", "a.de", "a.mt"):
        (tmp_path / name).write_text("")
    given = ("--source_input", "a.en", "--target_input", "a.de", "--translation_input", "a.mt")
    words = ("suggest", *given, "--source_lang", "en", "--target_lang", "de", "--output", "out")
    status, _, errors = runs.run_here(*words, cwd=tmp_path)
    assert status == 2
    assert "a.en and 2 other files: no pair was read; give files with pairs" in errors
    runs.run_well_here(*words, "--allow_empty", cwd=tmp_path)
    assert "out: this run has no rows" in runs.run_well_here("preview", "out", cwd=tmp_path)
    for name, mark in (("tsv", "\t"), ("csv", ",")):
        written = ("export", "out", "--format", name, "--output", f"as_{name}")
        runs.run_well_here(*written, cwd=tmp_path)
        header = (tmp_path / f"as_{name}" / f"suggestions.{name}").read_text()
        assert header.splitlines() == [header.rstrip("\n")]
        assert {"source", "masked", "suggestion"} <= {*header.rstrip("\n").split(mark)}
