"""Jobs with ``--tokens sentencepiece``: the screen counts the pieces of the model they train."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
import sentencepiece

from pairweave.transforms.text.tokens import train_sentencepiece
from tests.makers import runs

WORDS = {
    "house": "房屋",
    "garden": "花园",
    "river": "河流",
    "mountain": "高山",
    "window": "窗户",
    "teacher": "老师",
    "student": "学生",
    "morning": "早晨",
    "evening": "傍晚",
    "kitchen": "厨房",
}
RATIO = 4
MOST = 60
TRAINED = ("--tokens", "sentencepiece", "--vocabulary", "256")
SETTINGS = ("--source_lang", "en", "--target_lang", "zh", "--max_ratio", RATIO)
SETTINGS += ("--max_tokens", MOST, "--shard_pairs", "64", "--workers", 1)


def sentences():
    """Return pairs of English and Chinese; some are long, and some say more on one side."""
    draw = np.random.default_rng(11)
    for number in range(240):
        words = draw.choice(list(WORDS), draw.integers(2, 15)).tolist()
        more = draw.choice(list(WORDS), draw.choice((0, 0, 0, 3))).tolist()
        target = "".join(WORDS[word] for word in words + more)
        yield f"{' '.join(words)} {number}", f"{target}{number}"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Return a directory with pairs, one of them blank on a side and one far too long."""
    directory = tmp_path_factory.mktemp("trained")
    pairs = [*sentences(), ("", "空"), ("house " * 3000, "房屋" * 3000)]
    text = "".join(f"{source}\t{target}\n" for source, target in pairs)
    (directory / "pairs.tsv").write_text(text, encoding="utf-8")
    return directory, pairs


def run(directory, job, output, *more):
    runs.run_well_here(
        *(job, "--input", "pairs.tsv", *SETTINGS, *TRAINED, *more, "--output", output),
        cwd=directory,
    )
    return directory / output


def rejected(output):
    files = sorted((output / "rejects").glob("*.parquet"))
    rows = [row for path in files for row in pq.read_table(path).to_pylist()]
    return {row["line"]: (row["reason"], row["detail"]) for row in rows}


def expected_rejects(pairs, model):
    """Judge the pairs in plain Python by the pieces of a model."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    result = {}
    for line, pair in enumerate(pairs, 1):
        counts = [len(processor.encode(text)) for text in pair]
        ratio = max(counts) / max(1, min(counts))
        if not pair[0]:
            result[line] = "empty_source"
        elif max(counts) > MOST:
            result[line] = "too_long"
        elif ratio > RATIO:
            result[line] = "length_ratio"
    return result


@pytest.fixture(scope="module")
def aligned(corpus):
    return run(corpus[0], "align", "aligned")


def test_a_run_that_trains_pieces_turns_pairs_away_by_the_number_of_its_pieces(corpus, aligned):
    model = (aligned / "models" / "hmm" / "sentencepiece.model").read_bytes()
    expected = expected_rejects(corpus[1], model)
    actual = rejected(aligned)
    assert {line: reason for line, (reason, _) in actual.items()} == expected
    reasons = list(expected.values())
    assert {reason: reasons.count(reason) > 5 for reason in ("too_long", "length_ratio")} == {
        "too_long": True,
        "length_ratio": True,
    }
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    line = next(line for line in sorted(expected) if expected[line] == "length_ratio")
    counts = [len(processor.encode(text)) for text in corpus[1][line - 1]]
    assert actual[line][1].startswith(f"{counts[0]} : {counts[1]} tokens, ratio ")
    rows = json.loads((aligned / "_manifest.json").read_text())["rows"]
    kept = len(corpus[1]) - len(expected)
    assert rows == {"read": len(corpus[1]), "kept": kept, "rejected": len(expected)}


def test_the_pieces_are_trained_on_pairs_that_no_other_rule_turns_away(corpus, aligned):
    ids = {}
    for name in ("data", "rejects"):
        for path in sorted((aligned / name).glob("*.parquet")):
            ids |= {row["line"]: row["id"] for row in pq.read_table(path).to_pylist()}
    lines = sorted((line for line in ids if line <= 240), key=lambda line: ids[line])
    texts = [corpus[1][line - 1][side] for side in (0, 1) for line in lines]
    model = (aligned / "models" / "hmm" / "sentencepiece.model").read_bytes()
    assert model == train_sentencepiece(texts, 256)


@pytest.mark.slow
def test_every_job_turns_the_same_pairs_away(corpus, aligned):
    expected = rejected(aligned)
    fitted = run(corpus[0], "fit", "fitted")
    assert rejected(fitted) == expected
    manifest = json.loads((fitted / "_manifest.json").read_text())
    assert manifest["rows"]["fitted"] == len(corpus[1]) - len(expected)
    augmented = rejected(run(corpus[0], "augment", "augmented"))
    assert expected.items() <= augmented.items()
    assert {why for why, _ in augmented.values()} <= {*dict(expected.values()), "no_phrase_pair"}
    with_model = runs.run_here(
        *("align", "--input", "pairs.tsv", *SETTINGS, "--model", "fitted", "--output", "given"),
        cwd=corpus[0],
    )
    assert with_model[0] == 0
    assert rejected(corpus[0] / "given") == expected


@pytest.mark.slow
def test_a_run_that_lost_a_shard_makes_the_same_bytes_from_the_trained_model(corpus, tmp_path):
    output = run(corpus[0], "align", tmp_path / "again")
    before = runs.tree_digests(output)
    (output / "_manifest.json").unlink()
    shard = next(output.glob("data/part-00001-*"))
    shard.unlink()
    run(corpus[0], "align", output)
    assert runs.tree_digests(output) == before


def test_suggestions_count_pieces_of_all_three_texts(tmp_path):
    texts = [(source, target, target.replace("花园", "园子")) for source, target in sentences()]
    names = ("source", "target", "translation")
    for name, column in zip(names, zip(*texts, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{text}\n" for text in column), encoding="utf-8")
    runs.run_well_here(
        *("suggest", *(f"--{name}_input={name}" for name in names), *SETTINGS),
        *(*TRAINED, "--aligner", "hmm", "--methods", "alignment", "--min_source_words", "1"),
        *("--output", "out"),
        cwd=tmp_path,
    )
    model = (tmp_path / "out" / "models" / "hmm" / "sentencepiece.model").read_bytes()
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    actual = rejected(tmp_path / "out")
    uneven = 0
    for line, triple in enumerate(texts, 1):
        counts = [len(processor.encode(text)) for text in triple]
        wanted = max(counts) <= MOST and max(counts) / min(counts) <= RATIO
        screened = actual.get(line, ("", ""))[0] in ("too_long", "length_ratio")
        assert screened is not wanted
        uneven += max(counts) <= MOST and screened
    assert uneven > 5
