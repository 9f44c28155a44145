"""An encoder's own pieces as tokens: their offsets, and the links between them."""

import itertools
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.kernels.text.encoder_pieces import merge_pieces
from pairweave.transforms.text import codepoints
from tests.makers.text_strategies import texts
from tests.oracles import slow_pieces

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

import tokenizers  # noqa: E402

from pairweave.models.encoder.encoder_config import EncoderConfig, HeadConfig  # noqa: E402
from pairweave.models.encoder.neural import find_digest, load_aligner  # noqa: E402
from pairweave.models.encoder.pieces import add_piece_tokens, number_sides  # noqa: E402
from pairweave.transforms.errors import WorkerError  # noqa: E402
from tests.makers.encoders import write_bert, write_xlmr  # noqa: E402
from tests.makers.real_pairs import real_pairs  # noqa: E402
from tests.makers.token_tables import links_of, token_table  # noqa: E402

FAMILIES = {"bert": write_bert, "xlmr": write_xlmr}

AWKWARD = [
    ("", "a"),
    ("  two   spaces ", "¬ \u00a0x\u3000y"),
    ("½ of ⅔, ﬁne Å A\u030a", "ﷺ ㎏ ① e\u0301\u0323"),
    ("日本語のテキスト", "👩‍👩‍👧 naïve"),
    ("\u200b zero \ufeff", "\u202etext\x07"),
]


@pytest.fixture(scope="module")
def pairs(shared_data):
    """Return real pairs and awkward ones."""
    return [*real_pairs(shared_data, count=60, skip=700), *AWKWARD]


@pytest.fixture(scope="module", params=sorted(FAMILIES))
def directory(request, pairs, tmp_path_factory):
    """Return an encoder with random weights."""
    texts = list(itertools.chain(*pairs))
    return FAMILIES[request.param](tmp_path_factory.mktemp(request.param), texts, layers=2)


def aligner(directory, head="softmax", **settings):
    return load_aligner(
        EncoderConfig(
            str(directory),
            layer=2,
            head=HeadConfig(head),
            device="cpu",
            tokens="pieces",
            **settings,
        )
    )


def pair_table(pairs):
    """Return PAIRS rows."""
    return token_table(pairs).select(schemas.PAIRS.names)


def spans_of(table, name):
    return [[(token["start"], token["end"]) for token in row] for row in table[name].to_pylist()]


def encodings(loaded, texts):
    return [loaded.encoder.tokenizer.encode(text, add_special_tokens=False) for text in texts]


def kernel(text, spans):
    starts, ends = (np.array([span[end] for span in spans], np.int32) for end in (0, 1))
    offsets, starts, ends, *_ = merge_pieces(
        np.array([0, len(spans)]),
        starts,
        ends,
        *texts_of(pa.array([text])),
        codepoints.properties(),
    )
    assert offsets.tolist() == [0, len(starts)]
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


@given(texts(), st.data())
def test_tokens_equal_those_of_the_slow_twin(text, data):
    places = st.integers(0, len(text))
    spans = data.draw(st.lists(st.tuples(places, places).map(sorted).map(tuple), max_size=8))
    assert kernel(text, spans) == slow_pieces.tokens(text, spans)


def test_every_piece_is_numbered_beside_the_token_that_it_belongs_to(directory, pairs):
    loaded = aligner(directory)
    table = add_piece_tokens(pair_table(pairs), loaded.encoder.tokenizer)
    for side, numbers in zip(
        ("source", "target"), number_sides(table, loaded.encoder.tokenizer), strict=True
    ):
        texts = table[side].to_pylist()
        expected = [len(encoding.ids) for encoding in encodings(loaded, texts)]
        assert numbers.counts.tolist() == expected
        spans = list(zip(numbers.starts.tolist(), numbers.ends.tolist(), strict=True))
        for row, tokens in enumerate(spans_of(table, f"{side}_tokens")):
            actual = numbers.tokens_by_text()[row]
            own = spans[numbers.offsets[row] : numbers.offsets[row + 1]]
            for (start, end), token in zip(own, actual, strict=True):
                if start < end:
                    assert tokens[token][0] <= start < end <= tokens[token][1]
    other = table.set_column(
        table.schema.get_field_index("source"), "source", [["x"] * table.num_rows]
    )
    with pytest.raises(WorkerError, match="split by another tokenizer"):
        number_sides(other, loaded.encoder.tokenizer)


def test_pieces_of_one_character_are_one_token_and_white_space_is_none():
    text = " ab ½ c"
    # The bytes of the fraction, a lone word mark, and a piece that begins with its blank.
    assert kernel(text, [(0, 1), (1, 2), (2, 3), (3, 5), (4, 5), (5, 7)]) == [
        (1, 2),
        (2, 3),
        (4, 5),
        (6, 7),
    ]


def test_tokens_are_the_pieces_and_lie_in_the_original_string(directory, pairs):
    loaded = aligner(directory)
    table = add_piece_tokens(pair_table(pairs), loaded.encoder.tokenizer)
    schemas.require(table, schemas.TOKENS)
    table.validate(full=True)
    single = 0
    for name in ("source", "target"):
        texts = table[name].to_pylist()
        actual = spans_of(table, f"{name}_tokens")
        for row, (text, encoding) in enumerate(zip(texts, encodings(loaded, texts), strict=True)):
            tokens = actual[row]
            assert tokens == slow_pieces.tokens(text, encoding.offsets)
            for piece, span in zip(encoding.tokens, encoding.offsets, strict=True):
                trimmed = slow_pieces.trim(text, *span)
                # What is normalized is written otherwise than the piece, or is several pieces.
                if trimmed in tokens and unicodedata.is_normalized("NFKC", text):
                    written = piece.removeprefix("##").replace("▁", "")
                    unknown = written in ("", "[UNK]", "<unk>")
                    assert unknown or written == text[slice(*trimmed)]
                    single += not unknown
    assert single > 2000


def test_no_visible_character_of_real_text_is_outside_the_tokens(directory, pairs):
    loaded = aligner(directory)
    table = add_piece_tokens(pair_table(pairs[:60]), loaded.encoder.tokenizer)
    for name in ("source", "target"):
        for text, tokens in zip(
            table[name].to_pylist(), spans_of(table, f"{name}_tokens"), strict=True
        ):
            joined = "".join(text[start:end] for start, end in tokens)
            assert joined == "".join(text.split())


@pytest.mark.parametrize("head", ["softmax", "argmax"])
def test_links_are_the_subword_links_of_the_slow_twin(directory, pairs, head):
    loaded = aligner(directory, head)
    made = loaded.align(pair_table(pairs))
    forward, reverse = links_of(made, "forward"), links_of(made, "reverse")
    total = ties = 0
    for row, (source, target) in enumerate(pairs):
        sides = encodings(loaded, (source, target))
        tokens = [spans_of(made, f"{name}_tokens")[row] for name in ("source", "target")]
        expected = slow_piece_links(loaded, sides, head)
        if expected is None:
            ties += 1
            continue
        spans = [side.offsets for side in sides]
        both, either = (
            slow_pieces.links(links, *spans, *tokens)
            for links in (expected[0] & expected[1], expected[0] | expected[1])
        )
        assert forward[row] & reverse[row] == both
        assert forward[row] | reverse[row] == either
        total += len(both)
    assert total > 500
    assert ties < 10


def slow_piece_links(loaded, sides, head):
    """Return the links of pieces in both directions: one pair, no padding, plain softmax.

    None where rounding decides: two best cells, or a cell and the threshold, are nearly equal.
    """
    if not all(len(side) for side in sides):
        return set(), set()
    vectors = []
    for side in sides:
        ids = [*loaded.encoder.prefix, *side.ids, *loaded.encoder.suffix]
        vectors.append(loaded.encoder.encode(torch.tensor([ids]), None)[0, 1:-1].float())
    scores = (vectors[0] @ vectors[1].T).double()
    if head == "argmax":
        unit = [torch.nn.functional.normalize(side.double(), dim=1) for side in vectors]
        scores = unit[0] @ unit[1].T
        for side in (scores, scores.T):
            best = side.sort(dim=1, descending=True).values
            if best.shape[1] > 1 and (best[:, 0] - best[:, 1]).min() < 1e-5:
                return None
        forward = {(i, int(scores[i].argmax())) for i in range(len(scores))}
        return forward, {(int(column.argmax()), j) for j, column in enumerate(scores.T)}
    cells = list(itertools.product(*map(range, scores.shape)))
    result = []
    for probabilities in (torch.softmax(scores, 1), torch.softmax(scores, 0)):
        if (probabilities - 0.001).abs().min() < 1e-7:
            return None
        result.append({cell for cell in cells if probabilities[cell] > 0.001})
    return tuple(result)


def test_bytes_of_a_character_are_one_token():
    tokenizer = tokenizers.ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(["plain text"], vocab_size=270, show_progress=False)
    table = add_piece_tokens(pair_table([("日本 ok", "né")]), tokenizer)
    # Three bytes a character and two; a blank goes with what follows it, and is no part of it.
    assert spans_of(table, "source_tokens") == [[(0, 1), (1, 2), (3, 4), (4, 5)]]
    assert spans_of(table, "target_tokens") == [[(0, 1), (1, 2)]]


def test_long_pairs_are_aligned_in_windows_and_rejected_by_option(pairs, tmp_path):
    directory = write_bert(
        tmp_path, list(itertools.chain(*pairs)), layers=2, max_position_embeddings=32
    )
    table = pair_table(pairs[:6])
    made = aligner(directory, "argmax").align(table)
    for row, forward in enumerate(links_of(made)):
        tokens = made["source_tokens"][row].as_py()
        assert {source for source, _ in forward} == set(range(len(tokens)))
    kept, rejected = aligner(directory, long_pairs="reject").align_or_reject(table)
    assert 0 < len(rejected) < 6
    assert kept.num_rows == 6 - len(rejected)


def test_pairs_with_tokens_are_not_cut_again(directory, pairs):
    with pytest.raises(WorkerError, match="column source_tokens is not expected"):
        aligner(directory).align(token_table(pairs[:2]))


def test_the_digest_tells_pieces_from_given_tokens(directory):
    configs = [EncoderConfig(str(directory), layer=2, tokens=kind) for kind in ("given", "pieces")]
    assert len({find_digest(config) for config in configs}) == 2
