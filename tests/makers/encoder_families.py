"""Encoders of many families with random weights."""

import torch
import transformers

PAIRS = [
    ("The cat sat on the mat .", "Die Katze sass auf der Matte ."),
    ("a", "b c d e"),
    ("The mat", "Le chat est là ."),
    ("e d c b a", "Die Matte"),
]

SIZE = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}
NAMED_ALIKE = [
    *("albert", "bert", "camembert", "deberta-v2", "electra", "ernie", "eurobert"),
    *("modernbert", "mpnet", "rembert", "roberta", "xlm-roberta", "xlm-roberta-xl"),
]
SIZES = dict.fromkeys(NAMED_ALIKE, SIZE) | {
    "distilbert": {"dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 64},
    "xlm": {"emb_dim": 32, "n_layers": 3, "n_heads": 4, "n_langs": 1},
    "xmod": SIZE | {"languages": ["en_XX"], "default_language": "en_XX"},
}


def write_family(directory, family, bert, sizes=None):
    """Write a random model of a family with the tokenizer of another; returns the model."""
    backend = transformers.AutoTokenizer.from_pretrained(bert).backend_tokenizer
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend,
        **{f"{name}_token": f"[{name.upper()}]" for name in ("pad", "cls", "sep", "unk", "mask")},
    ).save_pretrained(directory)
    numbers = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2}
    config = transformers.AutoConfig.for_model(
        family,
        vocab_size=backend.get_vocab_size(),
        sep_token_id=3,
        **numbers,
        **(sizes or SIZES[family]),
    )
    torch.manual_seed(1)
    model = transformers.AutoModel.from_config(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.normal_(0.0, 0.85 / weight.shape[-1] ** 0.5)
    model.save_pretrained(directory)
    return model
