"""An artificial language pair with known links, and encoders that partly align it."""

import itertools
import json

import numpy as np
import torch
import transformers

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.neural import load_aligner
from tests.makers.encoders import SPECIAL_BERT, both_directions
from tests.makers.token_tables import token_table

WORDS = 40


def toy_pairs(count, seed):
    """Return pairs of five to eight words, translated word for word, neighbours swapped at times.

    Returns:
        Source, target and the links of each pair.
    """
    draws, made = np.random.default_rng(seed), []
    for _ in range(count):
        words = draws.choice(WORDS, int(draws.integers(5, 9)), replace=False)
        order = list(range(len(words)))
        for place in range(0, len(words) - 1, 2):
            if draws.random() < 0.5:
                order[place : place + 2] = reversed(order[place : place + 2])
        made.append(
            (
                " ".join(f"a{word:02d}" for word in words),
                " ".join(f"b{words[place]:02d}" for place in order),
                {(source, target) for target, source in enumerate(order)},
            )
        )
    return made


def toy_table(pairs):
    """Return toy pairs as a TOKENS table."""
    return token_table([pair[:2] for pair in pairs])


def write_toy_encoder(directory, noise=4.0, layers=2, hidden=64, dropout=0.1, head=False, seed=0):
    """Write a BERT to which a word and its translation look alike, but for noise."""
    directory.mkdir(parents=True, exist_ok=True)
    words = [f"{side}{word:02d}" for side, word in itertools.product("ab", range(WORDS))]
    (directory / "vocab.txt").write_text("\n".join([*SPECIAL_BERT, *words]) + "\n")
    settings = {
        "do_lower_case": False,
        "tokenizer_class": "BertTokenizer",
        "model_max_length": 64,
    }
    (directory / "tokenizer_config.json").write_text(json.dumps(settings))
    config = transformers.BertConfig(
        vocab_size=len(SPECIAL_BERT) + len(words),
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=2 * hidden,
        max_position_embeddings=64,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    torch.manual_seed(seed)
    model = transformers.BertForMaskedLM(config) if head else transformers.BertModel(config)
    with torch.no_grad():
        weight = model.get_input_embeddings().weight
        start = len(SPECIAL_BERT)
        weight[start:].normal_(0, 0.5)
        weight[start + WORDS :] *= noise
        weight[start + WORDS :] += weight[start : start + WORDS]
    model.save_pretrained(directory)
    return directory


def alignment_error(directory, layer, pairs):
    """Return the alignment error rate of an encoder on toy pairs."""
    config = EncoderConfig(str(directory), layer=layer, device="cpu")
    links_of_pairs = both_directions(load_aligner(config).align(toy_table(pairs)))
    right = sum(len(links & pair[2]) for links, pair in zip(links_of_pairs, pairs, strict=True))
    return 1 - 2 * right / (sum(map(len, links_of_pairs)) + sum(len(pair[2]) for pair in pairs))
