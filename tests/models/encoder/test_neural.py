"""The neural aligner as a whole: tables in, tables out."""

import itertools

import pyarrow as pa
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder import neural  # noqa: E402
from pairweave.models.encoder.encoder_config import HEADS, EncoderConfig, HeadConfig  # noqa: E402
from pairweave.models.encoder.neural import load_aligner  # noqa: E402
from pairweave.transforms import schemas  # noqa: E402
from pairweave.transforms.errors import ConfigError, WorkerError  # noqa: E402
from tests.makers.encoders import both_directions, write_bert, write_xlmr  # noqa: E402
from tests.makers.real_pairs import real_pairs  # noqa: E402
from tests.makers.token_tables import links_of, token_table  # noqa: E402


@pytest.fixture(scope="module")
def pairs(shared_data):
    """Return real pairs."""
    return real_pairs(shared_data, count=30, skip=500)


@pytest.fixture(scope="module")
def bert(pairs, tmp_path_factory):
    """Return a small BERT."""
    return write_bert(tmp_path_factory.mktemp("bert"), itertools.chain(*pairs), layers=2)


@pytest.fixture(scope="module")
def short_bert(pairs, tmp_path_factory):
    """Return a BERT that takes 32 pieces, 30 without the special ones."""
    return write_bert(
        tmp_path_factory.mktemp("bert"),
        itertools.chain(*pairs),
        layers=2,
        max_position_embeddings=32,
    )


def aligner(directory, head="softmax", layer=2, **settings):
    return load_aligner(
        EncoderConfig(str(directory), layer=layer, head=HeadConfig(head), device="cpu", **settings)
    )


def test_rows_keep_their_order_and_gain_two_columns(pairs, bert):
    table = token_table(pairs)
    made = aligner(bert).align(table)
    schemas.require(made, schemas.LINKED)
    assert made.select(schemas.TOKENS.names).equals(table)
    made.validate(full=True)


@pytest.mark.parametrize("head", HEADS)
def test_links_lie_inside_the_tokens_and_ascend(pairs, bert, head):
    made = aligner(bert, head).align(token_table(pairs))
    for name in ("forward", "reverse"):
        for row, links in zip(made.to_pylist(), made[name].to_pylist(), strict=True):
            cells = [(link["source"], link["target"]) for link in links]
            assert cells == sorted(set(cells))
            for source, target in cells:
                assert 0 <= source < len(row["source_tokens"])
                assert 0 <= target < len(row["target_tokens"])
            assert all(0 < link["probability"] <= 1 for link in links)


def test_a_pair_without_text_or_tokens_has_no_links(pairs, bert):
    table = token_table([("", ""), ("a b", ""), *pairs[:2], ("   ", "x")])
    made = links_of(aligner(bert).align(table))
    assert [bool(links) for links in made] == [False, False, True, True, False]


def test_no_rows_are_no_rows(bert):
    made = aligner(bert).align(token_table([]))
    assert made.equals(schemas.LINKED.empty_table())


def test_a_slice_and_chunks_are_the_same_rows(pairs, bert):
    table = token_table(pairs)
    loaded = aligner(bert)
    whole = loaded.align(table)
    chunks = pa.concat_tables([table.slice(0, 13), table.slice(13)])
    assert links_of(loaded.align(chunks)) == links_of(whole)
    assert links_of(loaded.align(table.slice(20, 9))) == links_of(whole)[20:29]


@pytest.mark.parametrize("head", ["softmax", "argmax"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_links_depend_on_budget_and_company_no_more_than_precision_allows(
    pairs, bert, head, precision
):
    table = token_table(pairs)
    expected = aligner(bert, head, token_budget=1, precision=precision).align(table)
    links = total = 0
    for budget in (64, 700, 1 << 16):
        loaded = aligner(bert, head, token_budget=budget, precision=precision)
        made = loaded.align(table)
        for ours, wanted in zip(both_directions(made), both_directions(expected), strict=True):
            links += len(ours ^ wanted)
            total += len(wanted)
    assert total > 1000
    # How often: in fp32 never, in bf16 for less than one link in fifty.
    assert links <= (0 if precision == "fp32" else 0.02 * total)


def test_the_same_call_gives_the_same_bytes(pairs, bert):
    table = token_table(pairs)
    first, second = (aligner(bert, "unbalanced_ot").align(table) for _ in range(2))
    assert first.equals(second)


@pytest.mark.parametrize("precision", ["fp32", "bf16", "int8"])
@pytest.mark.parametrize("head", ["softmax", "itermax", "unbalanced_ot"])
def test_threads_change_no_byte(pairs, bert, head, precision):
    table = token_table(pairs)
    settings = {"head": HeadConfig(head), "precision": precision, "token_budget": 64}
    config = EncoderConfig(str(bert), layer=1, device="cpu", **settings)
    one, four = (load_aligner(config, threads).align(table) for threads in (1, 4))
    assert one.equals(four)
    assert sum(map(len, links_of(one))) > 500


def test_a_cpu_that_runs_out_of_memory_halves_the_batch(pairs, bert, monkeypatch):
    table = token_table(pairs)
    config = EncoderConfig(str(bert), layer=2, device="cpu", token_budget=4096)
    expected = load_aligner(config).align(table)
    loaded = load_aligner(config)
    encode = type(loaded.encoder).encode

    def encoding(encoder, ids, mask):
        if ids.numel() > 1024:
            torch.empty(1 << 50)
        return encode(encoder, ids, mask)

    monkeypatch.setattr(type(loaded.encoder), "encode", encoding)
    assert both_directions(loaded.align(table)) == both_directions(expected)
    assert loaded.budget.limit <= 1024 < config.batch_pieces

    monkeypatch.setattr(type(loaded.encoder), "encode", lambda *_: torch.empty(1 << 50))
    with pytest.raises(MemoryError, match="you tried to allocate 4503599627370496 bytes"):
        loaded.align(table)


def test_blocks_change_nothing(pairs, bert, monkeypatch):
    table = token_table(pairs)
    expected = both_directions(aligner(bert).align(table))
    monkeypatch.setitem(neural._BLOCK_CHARACTERS, "cpu", 500)
    monkeypatch.setitem(neural._BLOCK_CELLS, "cpu", 3000)
    assert both_directions(aligner(bert).align(table)) == expected


def test_lack_of_memory_halves_the_batch_and_the_run_goes_on(pairs, bert):
    table = token_table(pairs)
    loaded = aligner(bert, token_budget=4096)
    expected = both_directions(loaded.align(table))
    inner = loaded.encoder.model

    def model(ids, mask):
        if ids.numel() > 600:
            raise torch.OutOfMemoryError("no memory")
        return inner(ids, mask)

    object.__setattr__(loaded.encoder, "model", model)
    assert both_directions(loaded.align(table)) == expected
    assert loaded.budget.halvings > 0
    assert loaded.budget.limit <= 600


def test_numbers_that_are_none_are_an_error(pairs, bert):
    loaded = aligner(bert)
    for weight in loaded.encoder.model.parameters():
        weight.fill_(float("nan"))
    with pytest.raises(WorkerError, match="not finite in fp32"):
        loaded.align(token_table(pairs[:2]))


def test_long_pairs_are_rejected_by_option(pairs, short_bert):
    table = token_table([("a b", "c d"), *pairs[:5]])
    loaded = aligner(short_bert, long_pairs="reject")
    made, rejected = loaded.align_or_reject(table)
    lengths = [
        [len(loaded.encoder.tokenizer.encode(text, add_special_tokens=False)) for text in row]
        for row in zip(table["source"].to_pylist(), table["target"].to_pylist(), strict=True)
    ]
    expected = [row for row, sizes in enumerate(lengths) if max(sizes) > 30]
    assert list(rejected) == expected
    assert 0 < len(expected) < 6
    row = expected[0]
    side = 0 if lengths[row][0] > 30 else 1
    assert rejected[row] == (
        "too_long_for_encoder",
        f"{('source', 'target')[side]}: {lengths[row][side]} pieces; the encoder's limit is 30",
    )
    kept = [number for number in range(6) if number not in rejected]
    assert made["id"].to_pylist() == table["id"].take(kept).to_pylist()
    with pytest.raises(WorkerError, match=f"{table['id'][row]}: too_long_for_encoder"):
        loaded.align(table)


def test_long_pairs_are_aligned_to_their_end_in_windows(pairs, short_bert):
    long = [tuple(" ".join(side) for side in zip(*pairs[:6], strict=True))]
    table = token_table(long)
    made = aligner(short_bert, "argmax", window_overlap=14).align(table)
    words = [len(row[0]) for row in (table["source_tokens"].to_pylist(),)]
    assert words[0] > 60
    last = max(source for source, _ in links_of(made)[0])
    # Every source piece has a best target, the last one too.
    assert last == words[0] - 1
    assert (
        max(target for _, target in links_of(made, "reverse")[0])
        == len(table["target_tokens"][0].as_py()) - 1
    )


def test_windows_leave_short_pairs_as_they_are(short_bert):
    table = token_table([("a b c", "c d"), ("Das ist", "That is")])
    made = [aligner(short_bert, window_overlap=overlap).align(table) for overlap in (0, 15)]
    assert made[0].equals(made[1])


def test_pieces_themselves_can_be_the_tokens(pairs, bert):
    loaded = aligner(bert, "argmax")

    def cut(text):
        encoding = loaded.encoder.tokenizer.encode(text, add_special_tokens=False)
        return [{"start": start, "end": end} for start, end in encoding.offsets]

    made = loaded.align(token_table(pairs[:10], cut))
    for row, forward, reverse in zip(
        made.to_pylist(), links_of(made), links_of(made, "reverse"), strict=True
    ):
        # Each piece has one best piece on the other side.
        assert [i for i, _ in sorted(forward)] == list(range(len(row["source_tokens"])))
        assert sorted(j for _, j in reverse) == list(range(len(row["target_tokens"])))


def test_words_of_scripts_without_spaces_share_a_piece(tmp_path):
    directory = write_xlmr(
        tmp_path, ["東京都に住む" * 3, "I live in Tokyo"], layers=1, vocabulary=40
    )
    characters = [{"start": i, "end": i + 1} for i in range(6)]
    table = token_table(
        [("I live in Tokyo", "東京都に住む")],
        lambda text: characters if text[0] == "東" else [{"start": 0, "end": 15}],
    )
    loaded = aligner(directory, "argmax", layer=1)
    assert len(loaded.encoder.tokenizer.encode("東京都に住む", add_special_tokens=False)) < 6
    made = loaded.align(table)
    # The reverse direction gives each piece its best source, so each character is linked.
    union = links_of(made)[0] | links_of(made, "reverse")[0]
    assert union == {(0, j) for j in range(6)}


def test_the_digest_changes_with_what_decides_the_links_and_with_nothing_else(bert):
    expected = aligner(bert).digest
    same = (
        {"token_budget": 7},
        {"layer": -1},
        {"head": HeadConfig("softmax", head_threshold=0.001)},
    )
    other = (
        {"layer": 1},
        {"precision": "bf16"},
        {"unit": "words"},
        {"head": HeadConfig("softmax", head_threshold=0.01)},
        {"head": HeadConfig("entmax15")},
        {"long_pairs": "reject"},
    )
    for changed, equal in [(change, True) for change in same] + [
        (change, False) for change in other
    ]:
        config = EncoderConfig(**{"model": str(bert), "layer": 2, "device": "cpu"} | changed)
        assert (load_aligner(config).digest == expected) is equal, changed


def test_too_many_tokens_for_a_link_name_the_pair(bert):
    many = [{"start": 0, "end": 1}] * 32_768
    table = token_table([("x", "y")], lambda text: many if text == "x" else [])
    with pytest.raises(WorkerError, match=f"pair {table['id'][0]}: source_tokens has 32768"):
        aligner(bert).align(table)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layer": 1.5}, "layer must be a whole number, -200 to 200, got 1.5"),
        ({"precision": "fp8"}, "is one of fp32, bf16, fp16, int8"),
        ({"unit": "letters"}, "unit 'letters' is unknown"),
        ({"long_pairs": "cut"}, "long_pairs 'cut' is unknown"),
        ({"token_budget": "much"}, "token_budget must be auto or a whole number"),
        ({"token_budget": 0}, "token_budget must be auto or a whole number from 1 to"),
        ({"device": "tpu"}, "device must be auto, cpu, cuda"),
        ({"model": ""}, "model must be a directory or a hub name"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        EncoderConfig(**{"model": "x"} | settings)


def test_the_contract_and_the_settings_need_no_torch():
    import subprocess
    import sys

    code = (
        "import sys; from pairweave.models import aligner; "
        "from pairweave.models.encoder import batching, encoder_config, encoder_options, pieces; "
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'apache_beam')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


@pytest.mark.slow
def test_the_aligner_itself_needs_no_beam():
    import subprocess
    import sys

    code = (
        "import sys, pairweave.models.encoder.neural, pairweave.transforms.links.combine;"
        "sys.exit('apache_beam' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0
