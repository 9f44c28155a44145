"""Families of encoders in training: the layers, the guesses, and what is written."""

import itertools

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

import transformers  # noqa: E402

from pairweave.models.encoder.encoder import load_encoder  # noqa: E402
from pairweave.models.encoder.encoder_config import EncoderConfig  # noqa: E402
from pairweave.models.finetune.finetune import train  # noqa: E402
from pairweave.models.finetune.finetune_config import OBJECTIVES, FinetuneConfig  # noqa: E402
from pairweave.models.finetune.finetune_model import load_trainee  # noqa: E402
from tests.makers.encoder_families import SIZES, write_family  # noqa: E402
from tests.makers.encoders import write_bert  # noqa: E402
from tests.makers.token_tables import token_table  # noqa: E402

PAIRS = [
    ("The cat sat on the mat .", "Die Katze sass auf der Matte ."),
    ("a", "b c d e"),
    ("The mat", "Le chat est là ."),
]
TEXT = "The cat sat on"


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """Return a BERT, whose tokenizer the others get."""
    texts = list(itertools.chain(*PAIRS))
    return write_bert(tmp_path_factory.mktemp("models") / "bert", texts, vocabulary=120)


def config_of(layer, objectives=OBJECTIVES):
    """Return settings of a short training."""
    return FinetuneConfig(
        objectives=objectives,
        layer=layer,
        learning_rate=1e-2,
        batch_pairs=3,
        steps=2,
        max_pieces=24,
        device="cpu",
    )


@pytest.mark.parametrize("family", sorted(SIZES))
def test_a_family_is_trained_on_the_layer_that_it_aligns_with(family, bert, tmp_path):
    write_family(tmp_path, family, bert)
    loaded = load_trainee(str(tmp_path), None, config_of(2))
    trainee = loaded.trainee.eval()
    ids = torch.tensor([loaded.encoder.tokenizer.encode(TEXT).ids])
    mask = torch.ones_like(ids, dtype=torch.bool)
    for layer in (1, 2, 3):
        encoder = load_encoder(EncoderConfig(str(tmp_path), layer=layer, device="cpu"))
        with torch.no_grad():
            actual = trainee.hidden(ids, mask, layer)
        assert torch.allclose(actual, encoder.encode(ids, None), atol=1e-4), layer
    places = torch.tensor([0, 0]), torch.tensor([2, 1])
    with torch.no_grad():
        guessed = trainee.vocabulary_scores(ids, mask, *places)
        whole = trainee.whole(input_ids=ids, attention_mask=mask).logits
    assert torch.allclose(guessed, whole[places], atol=1e-4)


@pytest.mark.parametrize("family", sorted(SIZES))
def test_what_a_family_learnt_is_what_is_written(family, bert, tmp_path):
    old = write_family(tmp_path / "old", family, bert).state_dict()
    made = train(tmp_path / "old", token_table(PAIRS), config_of(2), tmp_path / "new")
    assert made.updates == 2
    whole = transformers.AutoModel.from_pretrained(tmp_path / "new").eval()
    new = whole.state_dict()
    moved = [name for name in old if name in new and not torch.equal(old[name], new[name])]
    assert len(moved) > len(old) / 2
    encoder = load_encoder(EncoderConfig(str(tmp_path / "new"), layer=2, device="cpu"))
    ids = torch.tensor([encoder.tokenizer.encode(TEXT).ids])
    with torch.no_grad():
        hidden = whole(ids, output_hidden_states=True).hidden_states
    assert torch.allclose(encoder.encode(ids, None), hidden[2], atol=1e-4)


@pytest.mark.parametrize("family", ["albert", "bert", "xlm"])
def test_an_inner_layer_moves_no_weight_above_it(family, bert, tmp_path):
    write_family(tmp_path / "old", family, bert)
    loaded = load_trainee(str(tmp_path / "old"), None, config_of(1, ("so",)))
    ids = torch.tensor([loaded.encoder.tokenizer.encode(TEXT).ids])
    mask = torch.ones_like(ids, dtype=torch.bool)
    loaded.trainee.hidden(ids, mask, 1).sum().backward()
    reached = {
        name for name, weight in loaded.trainee.named_parameters() if weight.grad is not None
    }
    assert any("0" in name for name in reached)
    assert not any(number in name.split(".") for name in reached for number in ("1", "2"))
