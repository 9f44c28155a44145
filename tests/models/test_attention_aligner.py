"""Error rates of attention by layer and head, as in Ryu et al. (2022), table 3."""

import io
import json

import numpy as np
import pyarrow as pa
import pytest
import sentencepiece

from pairweave.models import attention_aligner
from pairweave.pipelines.aligners.aligner_registry import NAMED, read_name
from pairweave.transforms import schemas
from tests.makers import runs

SOURCE = ["the house sees", "a b", "we see it all"]
TARGET = ["das Haus sieht", "c d", "wir sehen es alle"]
SIZES = [3, 2, 4]


def matrix(size, turned=0):
    """Return attention of naive: target word j looks at source word j, or ``turned`` further."""
    made = np.zeros((size + 1, size + 1))
    made[np.arange(size), (np.arange(size) + turned) % size] = 1
    made[size, size] = 1
    return made


@pytest.fixture
def folder(tmp_path):
    pairs = zip(SOURCE, TARGET, strict=True)
    (tmp_path / "pairs").write_text("".join(f"{one} ||| {other}\n" for one, other in pairs))
    gold = (" ".join(f"{i}-{i}" for i in range(size)) for size in SIZES)
    (tmp_path / "gold").write_text("".join(f"{line}\n" for line in gold))
    # Layer 0: one head is right and weak, the other wrong and strong. Layer 1: both are right.
    layers = [
        [[matrix(size) * 0.3, matrix(size, 1) * 0.7], [matrix(size), matrix(size) * 0.1]]
        for size in SIZES
    ]
    np.savez(tmp_path / "a.npz", *map(np.array, layers))
    return tmp_path


def evaluate(folder, *names):
    given = ("--pairs", "pairs", "--gold", "gold", "--aligners", *names)
    out = runs.run_well_here("evaluate", "aligners", *given, cwd=folder)
    return out, json.loads(out.splitlines()[-1])["aligners"]


def test_error_rates_are_listed_by_layer_with_the_mean_over_heads(folder):
    out, actual = evaluate(folder, "attention:a.npz:method=naive:layer=all")
    assert [each["aligner"] for each in actual] == [
        "attention:a.npz:method=naive:layer=0",
        "attention:a.npz:method=naive:layer=1",
    ]
    assert [each["aer"] for each in actual] == [1, 0]
    assert "layer:1|" in actual[1]["signature"]
    assert "head:mean|" in actual[1]["signature"]
    assert len({each["digest"] for each in actual}) == 2
    assert out.count("attention:a.npz") == 4


def test_error_rates_are_listed_by_layer_and_head(folder):
    _, actual = evaluate(folder, "attention:a.npz:method=naive:layer=all:head=all")
    assert [each["aer"] for each in actual] == [0, 1, 0, 0]
    assert [each["signature"].split("head:")[1][0] for each in actual] == list("0101")


def test_both_methods_can_be_compared(folder):
    _, actual = evaluate(folder, "attention:a.npz:method=all:layer=1")
    naive, shift = actual
    assert (naive["aer"], shift["aer"]) == (0, 1)


def test_attention_between_pieces_links_their_words(folder):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*SOURCE, *TARGET]),
        model_writer=model,
        vocab_size=35,
        model_type="char",
        minloglevel=2,
    )
    (folder / "spm").write_bytes(model.getvalue())
    cut = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    arrays = []
    for one, other in zip(SOURCE, TARGET, strict=True):
        pieces, others = (cut.encode(text, out_type=str) for text in (one, other))
        assert "\u2581" in pieces  # a lone word mark is counted, too
        words, other_words = (np.cumsum([p == "\u2581" for p in each]) for each in (pieces, others))
        arrays.append((other_words[:, None] == words[None, :]).astype(float))
    np.savez(folder / "p.npz", *arrays)
    _, actual = evaluate(folder, "attention:p.npz:method=naive:pieces=spm")
    assert actual[0]["aer"] == 0


def test_each_text_keeps_the_starts_of_its_own_tokens():
    kind = schemas.TOKENS.field("source_tokens").type
    places = [[(0, 1), (2, 3)], [], [(1, 4)]]
    column = [[{"start": start, "end": end} for start, end in tokens] for tokens in places]
    tokens = pa.array(column, kind)
    assert [each.tolist() for each in attention_aligner._starts(tokens)] == [[0, 2], [], [1]]
    assert [each.tolist() for each in attention_aligner._starts(tokens[1:])] == [[], [1]]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("attention", "needs a file, as in attention:FILE.npz"),
        ("attention:a.npz", "has attention of 2 layers; choose one"),
        ("attention:a.npz:layer=7", "has 2 layers, numbered from 0 to 1"),
        ("attention:a.npz:layer=x", "layer must be a number"),
        ("attention:a.npz:method=best", "method"),
        ("attention:a.npz:heads=1", "unknown setting heads; expected method, layer, head, pieces"),
        ("attention:flat.npz:layer=all", "the file has no layers to list"),
        ("attention:flat.npz", "has attention of 1 line, but the gold set has 3 pairs"),
        ("attention:none.npz:layer=0", "none.npz"),
        ("attention:a.npz:layer=0:pieces=gold", "gold: this is not a SentencePiece model"),
        ("attention:a.npz:layer=all:layer=0", "layer is given twice; give one of both values"),
    ],
)
def test_attention_that_cannot_be_read_is_refused(folder, name, message):
    np.savez(folder / "flat.npz", matrix(3))
    given = ("--pairs", "pairs", "--gold", "gold", "--aligners", name)
    status, _, errors = runs.run_here("evaluate", "aligners", *given, cwd=folder)
    assert status == 2, errors
    assert message in errors
    assert "Traceback" not in errors


def test_a_name_without_all_stands_for_itself():
    name = read_name("attention:F.npz:layer=2")
    assert list(NAMED["attention"].each(name)) == [name]
    name = read_name("hmm")
    assert list(NAMED["hmm"].each(name)) == [name]


def test_attention_is_no_second_aligner(folder):
    sides = ("--source_input", "pairs", "--target_input", "pairs", "--output", "out")
    given = ("--second_aligner", "attention:a.npz")
    status, _, errors = runs.run_here("align", *sides, *given, cwd=folder)
    assert status == 2
    assert "attention can be used by --aligner given" in errors
