"""Losses and gradients beside those of awesome-align 0.1.7, on the same weights and rows."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from torch.nn.utils.rnn import pad_sequence  # noqa: E402

from pairweave.models.finetune.finetune_config import OBJECTIVES, FinetuneConfig  # noqa: E402
from pairweave.models.finetune.finetune_losses import Losses  # noqa: E402
from pairweave.models.finetune.finetune_model import load_trainee, pad_rows  # noqa: E402
from pairweave.models.finetune.finetune_pairs import RowMaker, prepare_pairs  # noqa: E402
from tests.makers.awesome import AwesomeAlign  # noqa: E402
from tests.makers.encoders import write_bert  # noqa: E402
from tests.makers.real_pairs import real_pairs  # noqa: E402
from tests.makers.token_tables import token_table  # noqa: E402

pytestmark = pytest.mark.slow

LAYER = 2
EPOCH = 3


class Program:
    """The program's model with our weights, heads included, and our rows."""

    def __init__(self, directory, loaded, pairs, config):
        self.oracle = AwesomeAlign(directory)
        self.model = self.oracle.model
        trainee = loaded.trainee
        state = {
            **trainee.whole.state_dict(),
            "psi_cls.transform.weight": trainee.parallel_head.transform.weight,
            "psi_cls.transform.bias": trainee.parallel_head.transform.bias,
            "psi_cls.decoder.weight": trainee.parallel_head.decoder.weight,
            "psi_cls.bias": trainee.parallel_head.decoder.bias,
        }
        missing = self.model.load_state_dict(state, strict=False).missing_keys
        assert all("decoder.bias" in name or "pooler" in name for name in missing), missing
        # The program ties them only where it reads a checkpoint itself.
        self.model.cls.predictions.decoder.weight = (
            self.model.bert.embeddings.word_embeddings.weight
        )
        self.encoder, self.maker = (
            loaded.encoder,
            RowMaker(pairs, loaded.encoder, config, loaded.mask),
        )
        modeling = self.oracle.modeling
        tokenizer = self.oracle.tokenizer
        modeling.PAD_ID, modeling.CLS_ID = tokenizer.pad_token_id, tokenizer.cls_token_id
        modeling.SEP_ID = tokenizer.sep_token_id

    def rows(self, rows):
        ids, _, places = pad_rows(
            rows.ids, rows.offsets, np.arange(len(rows.lengths)), self.encoder
        )
        labels = np.where((places >= 0) & (rows.labels[places] >= 0), rows.labels[places], -100)
        return torch.from_numpy(ids), torch.from_numpy(labels)

    def losses(self, texts, chosen, objective):
        """Return the losses that the program would add up."""
        if objective in ("mlm", "tlm"):
            make = self.maker.masked_sides if objective == "mlm" else self.maker.masked_pairs
            for rows in make(chosen, EPOCH):
                ids, labels = self.rows(rows)
                yield self.model(inputs_src=ids, labels_src=labels)
        elif objective == "psi":
            groups = list(self.maker.parallel_or_not(chosen, EPOCH))
            ids = [row[row != 0] for rows in groups for row in self.rows(rows)[0]]
            labels = torch.from_numpy(np.concatenate([rows.answers for rows in groups]))
            yield self.model(
                inputs_src=pad_sequence(ids, batch_first=True),
                labels_psi=labels,
                align_layer=LAYER + 1,
            )
        else:
            yield self.aligned([texts[pair] for pair in chosen], objective)

    def aligned(self, texts, objective):
        """Return its loss of self-training or consistency."""
        sides = zip(*texts, strict=True)
        (source, source_words), (target, target_words) = (
            zip(*map(self.oracle.prepare, side), strict=True) for side in sides
        )
        source, target = (pad_sequence(side, batch_first=True) for side in (source, target))
        guide = self.model.get_aligned_word(
            source,
            target,
            source_words,
            target_words,
            torch.device("cpu"),
            source.shape[1],
            target.shape[1],
            align_layer=LAYER,
            softmax_threshold=0.001,
        )
        return self.model(
            inputs_src=source,
            inputs_tgt=target,
            attention_mask_src=source != 0,
            attention_mask_tgt=target != 0,
            guide=guide,
            align_layer=LAYER,
            train_so=objective == "so",
            train_co=objective == "co",
        )


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_losses_and_gradients_equal_those_of_awesome_align(shared_data, tmp_path, objective):
    # Its tokenizer takes words one by one; ours the text. These are cut alike by both.
    texts = real_pairs(shared_data, count=60)
    still = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    directory = write_bert(tmp_path, [text for pair in texts for text in pair], **still)
    config = FinetuneConfig(
        objectives=("mlm", "psi"),
        layer=LAYER,
        device="cpu",
        max_pieces=200,
        token_budget=700,
    )
    loaded = load_trainee(str(directory), None, config)
    pairs, rejected = prepare_pairs(token_table(texts), loaded.encoder, config)
    assert not rejected
    program = Program(directory, loaded, pairs, config)
    chosen = np.array([7, 3, 31, 59, 12])
    alone = config.changed(objectives=(objective,))
    actual = Losses(loaded, pairs, alone).add_gradients(chosen, EPOCH)
    losses = list(program.losses(texts, chosen, objective))
    assert actual[objective] == pytest.approx(sum(loss.item() for loss in losses), rel=1e-4)
    sum(losses).backward()
    ours = gradients(loaded.trainee.whole)
    theirs = {
        name: actual for name, actual in gradients(program.model).items() if "psi" not in name
    }
    assert ours.keys() == theirs.keys()
    assert len(ours) >= 16 * LAYER
    # A key's bias moves all scores of a row alike: its gradient is rounding.
    floor = 1e-5 * max(float(gradient.abs().max()) for gradient in theirs.values())
    for name, gradient in ours.items():
        assert torch.allclose(gradient, theirs[name], rtol=1e-3, atol=floor), name


def gradients(model):
    """Return the gradients of a model's weights, by name."""
    return {n: weight.grad for n, weight in model.named_parameters() if weight.grad is not None}
