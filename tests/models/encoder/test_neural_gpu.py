"""The neural aligner on a GPU: as on a CPU, twice the same, within its memory.

The first tests run anywhere: what a GPU adds to the path, on this device or with its answers faked.
"""

import dataclasses
import itertools

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder import encoder  # noqa: E402
from pairweave.models.encoder.encoder import load_encoder, measure_budget  # noqa: E402
from pairweave.models.encoder.encoder_config import HEADS, EncoderConfig, HeadConfig  # noqa: E402
from pairweave.models.encoder.neural import EncoderAligner, load_aligner  # noqa: E402
from tests.makers.encoders import both_directions, write_bert  # noqa: E402
from tests.makers.real_pairs import real_pairs  # noqa: E402
from tests.makers.token_tables import token_table  # noqa: E402

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU that torch can use")


@pytest.fixture(scope="module")
def pairs(shared_data):
    """Return real pairs of all lengths."""
    return real_pairs(shared_data, count=300, skip=900)


@pytest.fixture(scope="module")
def bert(pairs, tmp_path_factory):
    """Return a small BERT."""
    return write_bert(tmp_path_factory.mktemp("bert"), itertools.chain(*pairs), layers=3)


def aligner(directory, head="softmax", device="cuda", **settings):
    return load_aligner(
        EncoderConfig(str(directory), layer=2, head=HeadConfig(head), device=device, **settings)
    )


@pytest.mark.parametrize("head", ["softmax", "argmax"])
def test_widths_in_steps_of_eight_change_no_link_but_near_ties(pairs, bert, head):
    config = EncoderConfig(str(bert), layer=2, head=HeadConfig(head), device="cpu")
    plain = load_encoder(config)
    table = token_table(pairs[:60])
    expected, made = (
        both_directions(EncoderAligner(config, dataclasses.replace(plain, multiple=step)).align(t))
        for step, t in ((1, table), (8, table))
    )
    # Another width adds up in another order, which may turn a tie of random weights round.
    changed = sum(len(one ^ other) for one, other in zip(made, expected, strict=True))
    assert changed <= 0.005 * sum(map(len, expected))


class Graphics:
    """Stands for a GPU: each piece that is encoded costs so many bytes."""

    def __init__(self, piece_bytes, free_bytes):
        self.piece_bytes, self.free_bytes = piece_bytes, free_bytes
        self.base, self.peak, self.emptied = 1_000_000, 0, 0

    def encode(self, ids, mask):
        assert mask.shape == ids.shape
        self.peak = self.base + self.piece_bytes * ids.numel()

    def answers(self):
        """Return what stands for functions of torch.cuda."""
        return {
            "reset_peak_memory_stats": lambda _: setattr(self, "peak", self.base),
            "max_memory_allocated": lambda _: self.peak,
            "mem_get_info": lambda _: (self.free_bytes, 10 * self.free_bytes),
            "empty_cache": lambda: setattr(self, "emptied", self.emptied + 1),
        }


@pytest.mark.parametrize(
    ("piece_bytes", "free_bytes", "expected"),
    [
        (30_000, 1 << 30, 1 << 14),
        (30_000, 16 << 30, 1 << 17),
        (30_000, 800 << 30, 1 << 17),
        (30_000, 70_000, 2),
    ],
)
def test_the_budget_is_half_of_the_free_memory_rounded_down(
    bert, monkeypatch, piece_bytes, free_bytes, expected
):
    gpu = Graphics(piece_bytes, free_bytes)
    full = torch.full
    monkeypatch.setattr(encoder.torch, "full", lambda size, value, **_: full(size, value))
    for name, answer in gpu.answers().items():
        monkeypatch.setattr(encoder.torch.cuda, name, answer)
    loaded = dataclasses.replace(
        load_encoder(EncoderConfig(str(bert), layer=2, device="cpu")), device=torch.device("cuda")
    )
    monkeypatch.setattr(encoder.Encoder, "encode", lambda _, ids, mask: gpu.encode(ids, mask))
    assert measure_budget(loaded) == expected
    assert gpu.emptied == 1


@pytest.mark.gpu
@needs_gpu
@pytest.mark.parametrize("head", HEADS)
def test_links_equal_those_of_the_cpu(pairs, bert, head):
    table = token_table(pairs)
    expected = both_directions(aligner(bert, head, device="cpu").align(table))
    made = both_directions(aligner(bert, head).align(table))
    # Sums are rounded in another order: a link next to the threshold may fall to either side.
    different = sum(len(ours ^ wanted) for ours, wanted in zip(made, expected, strict=True))
    assert different <= 0.001 * sum(map(len, expected))


@pytest.mark.gpu
@needs_gpu
@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_the_same_call_gives_the_same_bytes(pairs, bert, precision):
    table = token_table(pairs)
    first, second = (aligner(bert, precision=precision).align(table) for _ in range(2))
    assert first.equals(second)


@pytest.mark.gpu
@needs_gpu
def test_half_precision_finds_nearly_the_same_links(pairs, bert):
    table = token_table(pairs)
    expected = both_directions(aligner(bert).align(table))
    total = sum(map(len, expected))
    for precision in ("bf16", "fp16"):
        made = both_directions(aligner(bert, precision=precision).align(table))
        different = sum(len(ours ^ wanted) for ours, wanted in zip(made, expected, strict=True))
        assert different <= 0.05 * total, precision


@pytest.mark.gpu
@needs_gpu
def test_the_measured_budget_fits_the_memory(pairs, bert):
    loaded = aligner(bert)
    limit = loaded.budget.limit
    assert limit == measure_budget(loaded.encoder)
    assert limit & (limit - 1) == 0
    torch.cuda.reset_peak_memory_stats()
    width = loaded.encoder.limit // 8 * 8
    ids = torch.full((max(limit // width, 1), width), loaded.encoder.padding, device="cuda")
    loaded.encoder.encode(ids, torch.ones_like(ids, dtype=torch.bool))
    assert torch.cuda.max_memory_allocated() < torch.cuda.mem_get_info()[1]
    loaded.align(token_table(pairs))
    assert loaded.budget.halvings == 0


@pytest.mark.gpu
@needs_gpu
def test_lack_of_real_memory_halves_the_batch_and_the_run_goes_on(pairs, bert):
    table = token_table(pairs)
    loaded = aligner(bert, token_budget=1 << 14)
    expected = both_directions(loaded.align(table))
    inner, total = loaded.encoder.model, torch.cuda.mem_get_info()[1]

    def model(ids, mask):
        if ids.numel() > 4096:
            torch.empty(2 * total, dtype=torch.uint8, device="cuda")  # the device's own error
        return inner(ids, mask)

    object.__setattr__(loaded.encoder, "model", model)
    made = both_directions(loaded.align(table))
    assert loaded.budget.halvings > 0
    assert loaded.budget.limit <= 4096
    different = sum(len(ours ^ wanted) for ours, wanted in zip(made, expected, strict=True))
    assert different <= 0.001 * sum(map(len, expected))
