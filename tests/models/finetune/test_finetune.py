"""Fine-tuning small encoders: learning, output, and resuming after a kill."""

import itertools
import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

import transformers  # noqa: E402

from pairweave.models.encoder.encoder import load_encoder  # noqa: E402
from pairweave.models.encoder.encoder_config import EncoderConfig  # noqa: E402
from pairweave.models.finetune import finetune  # noqa: E402
from pairweave.models.finetune.finetune import train  # noqa: E402
from pairweave.models.finetune.finetune_checkpoint import CHECKPOINT  # noqa: E402
from pairweave.models.finetune.finetune_config import OBJECTIVES, FinetuneConfig  # noqa: E402
from pairweave.models.finetune.finetune_losses import Losses  # noqa: E402
from pairweave.models.finetune.finetune_model import load_trainee, pad_rows  # noqa: E402
from pairweave.models.finetune.finetune_pairs import RowMaker, prepare_pairs, updates_of_epoch  # noqa: E402
from pairweave.transforms.errors import ConfigError, FullError  # noqa: E402
from tests.makers.encoders import write_bert, write_xlmr  # noqa: E402
from tests.makers.file_limits import most_bytes  # noqa: E402
from tests.makers.token_tables import token_table  # noqa: E402
from tests.makers.toy_language import (  # noqa: E402
    alignment_error,
    toy_pairs,
    toy_table,
    write_toy_encoder,
)

BASE = FinetuneConfig(
    objectives=OBJECTIVES, layer=2, learning_rate=3e-3, batch_pairs=8, device="cpu"
)

SENTENCES = [
    ("The house is small.", "Das Haus ist klein."),
    ("We unfortunately saw nothing there", "Leider sahen wir dort nichts"),
    ("Yes", "Ja, gewiss doch"),
    ("No one knows the way home", "Niemand kennt den Heimweg"),
]


def config_with(**settings):
    """Return the tests' settings, some of them changed."""
    return BASE.changed(**settings)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """Return a toy encoder."""
    return write_toy_encoder(tmp_path_factory.mktemp("toy") / "model")


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """Return a BERT of three layers without a head, and without dropout."""
    texts = list(itertools.chain(*SENTENCES)) * 3
    more = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    directory = tmp_path_factory.mktemp("bert")
    return write_bert(directory, texts, layers=3, vocabulary=150, **more)


@pytest.fixture(scope="module")
def xlmr(tmp_path_factory):
    """Return an XLM-RoBERTa of three layers; it knows no token types."""
    texts = list(itertools.chain(*SENTENCES)) * 3
    return write_xlmr(tmp_path_factory.mktemp("xlmr"), texts, layers=3, vocabulary=120)


def weights_of(directory):
    """Return the bytes of a model's weights."""
    return (directory / finetune.WEIGHTS).read_bytes()


def test_self_training_and_consistency_mend_the_alignment(toy, tmp_path):
    held_out = toy_pairs(60, 2)
    before = alignment_error(toy, 2, held_out)
    config = config_with(objectives=("so", "co"), batch_pairs=32, steps=25)
    train(toy, toy_table(toy_pairs(400, 1)), config, tmp_path)
    after = alignment_error(tmp_path, 2, held_out)
    assert before > 0.15
    assert after < before / 2


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_an_objective_lowers_its_own_loss(toy, tmp_path, objective):
    rate = 1e-2 if objective == "psi" else 3e-3
    # Self-training starts close to its end.
    steps = 60 if objective == "so" else 24
    config = config_with(objectives=(objective,), learning_rate=rate, steps=steps)
    # Few pairs, so that even what has to be learnt by heart is.
    made = train(toy, toy_table(toy_pairs(16, 1)), config, tmp_path)
    losses = made.losses[objective]
    assert len(losses) == made.updates == steps
    assert np.mean(losses[-6:]) < np.mean(losses[:6]) - 0.05


def test_the_same_call_gives_the_same_bytes(toy, tmp_path):
    table = toy_table(toy_pairs(10, 1))
    for name, config in (("a", BASE), ("b", BASE), ("c", config_with(seed=2))):
        train(toy, table, config, tmp_path / name)
    assert weights_of(tmp_path / "a") == weights_of(tmp_path / "b")
    assert weights_of(tmp_path / "a") != weights_of(tmp_path / "c")


def test_a_killed_training_goes_on_to_the_same_bytes(toy, tmp_path):
    table = toy_table(toy_pairs(10, 1))
    config = config_with(
        epochs=2, batch_pairs=4, checkpoint_steps=2, weight_decay=0.1, warmup_steps=2
    )
    whole = train(toy, table, config, tmp_path / "whole")

    class KilledError(Exception):
        pass

    def kill(done, *_):
        if done == 5:
            raise KilledError

    with pytest.raises(KilledError):
        train(toy, table, config, tmp_path / "killed", progress=kill)
    assert (tmp_path / "killed" / CHECKPOINT).is_file()
    resumed = train(toy, table, config, tmp_path / "killed")
    assert (whole.resumed_at, resumed.resumed_at) == (0, 4)
    assert whole.losses == resumed.losses
    assert weights_of(tmp_path / "whole") == weights_of(tmp_path / "killed")
    assert not (tmp_path / "killed" / CHECKPOINT).exists()


@pytest.mark.parametrize("damage", ["other", "cut", "empty", "flipped"])
def test_a_state_that_cannot_be_used_is_begun_again(toy, tmp_path, damage):
    table = toy_table(toy_pairs(20, 1))
    config = config_with(objectives=("co",), epochs=2, checkpoint_steps=2)

    def keep(done, *_):
        if done == 3:
            shutil.copy(tmp_path / "made" / CHECKPOINT, tmp_path)

    made = train(toy, table, config, tmp_path / "made", progress=keep)
    state = (tmp_path / CHECKPOINT).read_bytes()
    again = tmp_path / "again"
    again.mkdir()
    sizes = {"cut": len(state) // 2, "empty": 0}
    damaged = bytearray(state[: sizes.get(damage)])
    if damage == "flipped":
        damaged[-1] ^= 0x40  # safetensors reads other numbers without complaint
    (again / CHECKPOINT).write_bytes(damaged)
    other = config_with(objectives=("co",), epochs=2, checkpoint_steps=2, seed=9)
    repeated = train(toy, table, other if damage == "other" else config, again)
    assert repeated.resumed_at == 0
    assert (repeated.losses == made.losses) is (damage != "other")


@pytest.mark.parametrize("family", ["bert", "xlmr"])
def test_layers_in_training_are_those_of_the_aligner(family, request):
    directory = request.getfixturevalue(family)
    for layer in (1, 2, 3):
        config = config_with(layer=layer)
        loaded = load_trainee(str(directory), None, config)
        encoder = load_encoder(EncoderConfig(str(directory), layer=layer, device="cpu"))
        pairs, _ = prepare_pairs(token_table(SENTENCES), encoder, config)
        side = pairs.source
        ids, mask, _ = pad_rows(side.ids, side.offsets, np.arange(len(pairs)), encoder)
        ids, mask = torch.from_numpy(ids), torch.from_numpy(mask)
        loaded.trainee.eval()
        actual = loaded.trainee.hidden(ids, mask, layer)
        expected = encoder.encode(ids, mask)
        assert torch.allclose(actual[mask], expected[mask], atol=1e-5)


@pytest.mark.parametrize("family", ["bert", "xlmr"])
def test_guesses_at_some_places_are_those_of_the_whole_model(family, request):
    loaded = load_trainee(str(request.getfixturevalue(family)), None, BASE)
    loaded.trainee.eval()
    ids = torch.tensor([[5, 6, 7, 8], [9, 10, 11, 12]])
    mask = torch.ones_like(ids, dtype=torch.bool)
    rows, columns = torch.tensor([0, 1, 1]), torch.tensor([2, 0, 3])
    actual = loaded.trainee.vocabulary_scores(ids, mask, rows, columns)
    expected = loaded.trainee.whole(input_ids=ids, attention_mask=mask).logits[rows, columns]
    assert torch.allclose(actual, expected, atol=1e-5)


@pytest.mark.parametrize("budget", [30, 4096])
def test_the_budget_changes_nothing_but_rounding(bert, budget):
    gradients = []
    for size in (60, budget):
        config = config_with(token_budget=size)
        loaded = load_trainee(str(bert), None, config)
        pairs, _ = prepare_pairs(token_table(SENTENCES), loaded.encoder, config)
        actual = Losses(loaded, pairs, config).add_gradients(np.array([2, 0, 3, 1]), epoch=4)
        named = loaded.trainee.named_parameters()
        gradients.append((actual, {n: w.grad for n, w in named if w.grad is not None}))
    (first, ours), (second, others) = gradients
    assert list(first) == list(OBJECTIVES)
    assert first == pytest.approx(second, rel=1e-4)
    assert ours.keys() == others.keys()
    for name, gradient in ours.items():
        assert torch.allclose(gradient, others[name], atol=2e-4), name


def test_rows_are_dressed_as_the_encoder_expects(bert):
    config = config_with(mask_share=0.5)
    loaded = load_trainee(str(bert), None, config)
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    pairs, _ = prepare_pairs(token_table(SENTENCES), loaded.encoder, config)
    maker = RowMaker(pairs, loaded.encoder, config, loaded.mask)
    chosen = np.array([1, 3])
    alone = [[tokenizer(text)["input_ids"] for text in SENTENCES[pair]] for pair in chosen]

    def dressed(rows, ids):
        padded, mask, _ = pad_rows(ids, rows.offsets, np.arange(len(chosen)), loaded.encoder)
        return [row[real].tolist() for row, real in zip(padded, mask, strict=True)]

    for side, rows in enumerate(maker.masked_sides(chosen, 0)):
        plain = np.where(rows.labels >= 0, rows.labels, rows.ids)
        assert dressed(rows, plain) == [pair[side] for pair in alone]
    groups = list(maker.masked_pairs(chosen, 0))
    assert len(groups) == 4
    for number, rows in enumerate(groups):
        first, masked = divmod(number, 2)
        plain = np.where(rows.labels >= 0, rows.labels, rows.ids)
        assert dressed(rows, plain) == [pair[first] + pair[1 - first] for pair in alone]
        for row, pair in enumerate(alone):
            border = len(pair[first])
            places = np.arange(rows.offsets[row], rows.offsets[row + 1]) - rows.offsets[row] + 1
            labels = rows.labels[rows.offsets[row] : rows.offsets[row + 1]]
            inside = places < border if first == masked else places >= border
            assert (labels[inside] >= 0).any()
            assert (labels[~inside] == -1).all()


def test_other_pieces_are_masked_in_every_epoch_side_and_order(bert):
    config = config_with(mask_share=0.5)
    loaded = load_trainee(str(bert), None, config)
    pairs, _ = prepare_pairs(token_table(SENTENCES), loaded.encoder, config)
    maker = RowMaker(pairs, loaded.encoder, config, loaded.mask)
    chosen = np.arange(4)
    originals = {"source": [], "target": []}
    for epoch in (0, 1):
        both = [*maker.masked_sides(chosen, epoch), *maker.masked_pairs(chosen, epoch)]
        for side, rows in zip(("source", "target") * 3, both, strict=True):
            originals[side].append(rows.labels[rows.labels >= 0].tolist())
    for found in originals.values():
        assert len({str(pieces) for pieces in found}) == len(found) == 6


def test_negative_pairs_hold_one_side_of_another_pair(bert):
    loaded = load_trainee(str(bert), None, BASE)
    pairs, _ = prepare_pairs(token_table(SENTENCES), loaded.encoder, BASE)
    maker = RowMaker(pairs, loaded.encoder, BASE, loaded.mask)
    sides = [
        [tuple(s.ids[s.offsets[p] : s.offsets[p + 1]]) for p in range(4)]
        for s in (pairs.source, pairs.target)
    ]
    between = (*loaded.encoder.suffix, *loaded.encoder.prefix)
    joined = {
        (one + between + other): (a, b, turned)
        for a, b, turned in itertools.product(range(4), range(4), (False, True))
        for one, other in [(sides[turned][a], sides[not turned][b])]
    }
    seen = set()
    for epoch in range(12):
        for answer, rows in zip((1, 0), maker.parallel_or_not(np.arange(4), epoch), strict=True):
            assert rows.answers.tolist() == [answer] * 4
            for row in range(4):
                text = tuple(rows.ids[rows.offsets[row] : rows.offsets[row + 1]])
                one, other, turned = joined[text]
                assert (one == other) is bool(answer)
                assert row in (one, other)
                seen.add((answer, turned, row == one))
    assert seen == {
        (1, False, True),
        (1, True, True),
        *itertools.product((0,), *[(False, True)] * 2),
    }


def test_every_pair_is_seen_once_in_an_epoch(toy):
    config = config_with(batch_pairs=7)
    encoder = load_encoder(EncoderConfig(str(toy), layer=1, device="cpu"))
    pairs, _ = prepare_pairs(toy_table(toy_pairs(500, 1)), encoder, config)
    orders = [updates_of_epoch(pairs, config, epoch) for epoch in (0, 1)]
    for order in orders:
        assert sorted(np.concatenate(order).tolist()) == list(range(500))
        assert sorted(map(len, order), reverse=True)[:71] == [7] * 71
    together = [sorted(sorted(update.tolist()) for update in order) for order in orders]
    assert together[0] != together[1]  # not only in another order


def test_pairs_that_do_not_fit_are_left_out_with_a_reason(bert, tmp_path):
    table = token_table([*SENTENCES, ("word " * 40, "Wort"), ("Yes", "\u00ad")])
    made = train(bert, table, config_with(max_pieces=30), tmp_path)
    assert made.pairs == 4
    assert {row: reason for row, (reason, _) in made.rejected.items()} == {
        4: "too_long_for_encoder",
        5: "empty_target",
    }


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_an_encoder_without_token_types_is_tuned_and_written(xlmr, tmp_path, precision):
    config = config_with(precision=precision, steps=2)
    train(xlmr, token_table(SENTENCES), config, tmp_path)
    kept = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path)
    start = transformers.AutoModel.from_pretrained(xlmr)
    weights, old = kept.base_model.state_dict(), start.state_dict()
    assert weights["encoder.layer.0.output.dense.weight"].dtype == torch.float32
    assert not torch.equal(
        weights["encoder.layer.0.output.dense.weight"], old["encoder.layer.0.output.dense.weight"]
    )
    assert kept.lm_head.decoder.weight is kept.base_model.embeddings.word_embeddings.weight
    load_encoder(EncoderConfig(str(tmp_path), layer=2, device="cpu"))
    names = {path.name for path in xlmr.iterdir()}
    assert {path.name for path in tmp_path.iterdir()} == names
    for name in names - {"config.json", "model.safetensors"}:
        assert (tmp_path / name).read_bytes() == (xlmr / name).read_bytes()


def test_a_head_that_is_there_is_used(tmp_path):
    model = write_toy_encoder(tmp_path / "model", head=True)
    known = transformers.AutoModelForMaskedLM.from_pretrained(model)
    loaded = load_trainee(str(model), None, BASE)
    assert torch.equal(
        loaded.trainee.whole.cls.predictions.transform.dense.weight,
        known.cls.predictions.transform.dense.weight,
    )


def test_upper_layers_stay_as_they_are_if_nothing_learns_there(bert, tmp_path):
    train(bert, token_table(SENTENCES), config_with(objectives=("so",), layer=1), tmp_path)
    old, new = (transformers.AutoModel.from_pretrained(it).state_dict() for it in (bert, tmp_path))
    changed = {name for name in old if not torch.equal(old[name], new[name])}
    assert any(name.startswith("encoder.layer.0.") for name in changed)
    assert not any(name.startswith(("encoder.layer.1.", "encoder.layer.2.")) for name in changed)


def test_the_callers_threads_and_generators_are_left_alone(toy, tmp_path):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    config = config_with(objectives=("co",), threads=2, steps=1)
    train(toy, toy_table(toy_pairs(8, 1)), config, tmp_path)
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objectives": ()}, "objectives must be some of mlm, tlm.* got none"),
        ({"objectives": ("mlm", "xx")}, "objectives .xx. is unknown"),
        ({"objectives": ("so", "so")}, "named twice: so,so"),
        ({"precision": "fp16"}, "precision .fp16. is unknown.*one of fp32, bf16"),
        ({"learning_rate": 0.0}, "learning_rate must be 1e-09 to 1"),
        ({"steps": 0}, "steps must be 1 to"),
        ({"batch_pairs": True}, "batch_pairs must be a whole number"),
    ],
)
def test_settings_are_checked_when_made(settings, message):
    with pytest.raises(ConfigError, match=message):
        config_with(**settings)


@pytest.mark.parametrize(
    ("settings", "count", "message"),
    [
        ({"layer": 4}, 4, "has 3 layers; choose 0 to 3"),
        ({"layer": 0}, 4, "the embeddings alone cannot be tuned"),
        ({}, 1, "^1 pair to train on, 2 needed: objective psi compares pairs$"),
        ({"objectives": ("so",)}, 0, "^0 pairs to train on, 1 needed$"),
        ({"max_pieces": 1}, 4, "4 left out, the first because: source has .* pieces > 1"),
    ],
)
def test_what_cannot_be_trained_is_said(bert, tmp_path, settings, count, message):
    table = token_table(SENTENCES[:count])
    with pytest.raises(ConfigError, match=message):
        train(bert, table, config_with(**settings), tmp_path / "made")


@pytest.mark.parametrize(
    ("steps", "said"), [(9, CHECKPOINT), (1, "made: the model cannot be written")]
)
def test_a_full_disk_is_named(toy, tmp_path, steps, said):
    config = config_with(objectives=("co",), steps=steps, checkpoint_steps=2)
    with most_bytes(50_000), pytest.raises(FullError, match=said):
        train(toy, toy_table(toy_pairs(9, 1)), config, tmp_path / "made")


def test_a_loss_beyond_all_bounds_ends_the_training(bert, tmp_path):
    broken = load_trainee(str(bert), None, BASE).trainee.whole
    with torch.no_grad():
        broken.get_input_embeddings().weight[:] = float("nan")
    broken.save_pretrained(tmp_path / "model")
    for name in ("vocab.txt", "tokenizer_config.json"):
        shutil.copy(bert / name, tmp_path / "model")
    config = config_with(objectives=("so", "co"))
    with pytest.raises(ConfigError, match=r"step 1: the gradient is not finite .*learning_rate"):
        train(tmp_path / "model", token_table(SENTENCES), config, tmp_path / "made")


def test_weights_missing_above_the_layer_are_not_made_up(bert, tmp_path):
    from safetensors.torch import load_file, save_file

    shutil.copytree(bert, tmp_path / "model")
    path = tmp_path / "model" / finetune.WEIGHTS
    weights = load_file(path)
    del weights["encoder.layer.2.output.dense.weight"]
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(ConfigError, match=r"1 missing, 0 of another shape, first .*layer\.2"):
        train(tmp_path / "model", token_table(SENTENCES), BASE, tmp_path / "made")


def test_an_objective_that_the_tokenizer_cannot_serve_is_refused(tmp_path):
    model = write_toy_encoder(tmp_path / "model")
    words = (model / "vocab.txt").read_text().replace("[MASK]", "[WORD]")
    (model / "vocab.txt").write_text(words)
    (model / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "BertTokenizer", "mask_token": null, "do_lower_case": false}'
    )
    with pytest.raises(ConfigError, match="need a mask token"):
        train(model, toy_table(toy_pairs(4, 1)), BASE, tmp_path / "made")
    train(model, toy_table(toy_pairs(4, 1)), config_with(objectives=("so",)), tmp_path / "made")
