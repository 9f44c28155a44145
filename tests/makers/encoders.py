"""Small encoders with random weights and pieces counted on the spot, the same in every process."""

import collections
import itertools
import json
import math
from pathlib import Path

import tokenizers
import torch
import transformers
from tokenizers import normalizers, pre_tokenizers, processors

from tests.makers.token_tables import links_of

# Threads that wait for each other on busy cores are slower than one; jobs have one, too.
torch.set_num_threads(1)

SPECIAL_BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SPECIAL_XLMR = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]

LONGEST_PIECE = 8


def both_directions(table):
    """Return the links that both directions have."""
    sides = (links_of(table, name) for name in ("forward", "reverse"))
    return [forward & reverse for forward, reverse in zip(*sides, strict=True)]


def count_words(cutter, texts):
    """Return how often each word is there, as a tokenizer finds words."""
    words = collections.Counter()
    for text in texts:
        cut = cutter.pre_tokenizer.pre_tokenize_str(cutter.normalizer.normalize_str(text))
        words.update(word for word, _ in cut)
    return words


def common_pieces(words, most, mark=""):
    """Return every character and the pieces that save most, with how often they are there.

    The trainers of `tokenizers` draw the order of equals anew in each process: rounding would then
    decide another link each time.

    Args:
        words: How often each word is there.
        most: So many pieces, or as many as there are characters.
        mark: Stands before a piece that begins inside a word.
    """
    counts = collections.Counter()
    for word, count in words.items():
        for start, stop in itertools.combinations(range(len(word) + 1), 2):
            if stop - start <= LONGEST_PIECE:
                counts[mark * (start > 0) + word[start:stop]] += count
    inside = {piece: piece.startswith(mark) * len(mark) for piece in counts}
    ordered = sorted(
        counts,
        key=lambda piece: (
            len(piece) - inside[piece] > 1,
            -counts[piece] * (len(piece) - inside[piece] - 1),
            piece,
        ),
    )
    characters = sum(len(piece) - inside[piece] == 1 for piece in counts)
    return {piece: counts[piece] for piece in ordered[: max(most, characters)]}


def write_bert(
    directory,
    texts,
    *,
    layers=4,
    hidden=32,
    heads=4,
    vocabulary=2000,
    embeddings=0,
    seed=1,
    masked=False,
    **more,
):
    """Write a BERT with random weights and a WordPiece tokenizer; returns the directory.

    There are as many ``embeddings`` as pieces, or more if so many are asked for. A ``masked`` one
    has a language model head.
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    cutter = tokenizers.BertWordPieceTokenizer(lowercase=False)
    pieces = common_pieces(count_words(cutter, texts), vocabulary - len(SPECIAL_BERT), "##")
    names = [*SPECIAL_BERT, *pieces]
    (directory / "vocab.txt").write_text("".join(f"{name}\n" for name in names))
    (directory / "tokenizer_config.json").write_text(
        json.dumps(
            {"do_lower_case": False, "tokenizer_class": "BertTokenizer", "model_max_length": 512}
        )
    )
    config = transformers.BertConfig(
        vocab_size=max(len(names), embeddings),
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * hidden,
        **more,
    )
    torch.manual_seed(seed)
    model = (transformers.BertForMaskedLM if masked else transformers.BertModel)(config)
    _spread(model)
    model.save_pretrained(directory)
    return directory


def write_xlmr(
    directory, texts, *, layers=4, hidden=32, heads=4, vocabulary=2000, seed=1, masked=False
):
    """Write an XLM-RoBERTa with random weights and a Unigram tokenizer.

    A ``masked`` one has a language model head.
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    cutter = tokenizers.Tokenizer(tokenizers.models.Unigram())
    cutter.normalizer = normalizers.NFKC()
    cutter.pre_tokenizer = pre_tokenizers.Metaspace()
    pieces = common_pieces(count_words(cutter, texts), vocabulary - len(SPECIAL_XLMR))
    total = sum(pieces.values())
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.Unigram(
            [
                *((name, 0.0) for name in SPECIAL_XLMR),
                *((piece, math.log(count / total)) for piece, count in pieces.items()),
            ],
            unk_id=SPECIAL_XLMR.index("<unk>"),
        )
    )
    tokenizer.normalizer, tokenizer.pre_tokenizer = cutter.normalizer, cutter.pre_tokenizer
    tokenizer.add_special_tokens(SPECIAL_XLMR)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=512,
    ).save_pretrained(directory)
    config = transformers.XLMRobertaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * hidden,
        max_position_embeddings=514,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    torch.manual_seed(seed)
    kind = transformers.XLMRobertaForMaskedLM if masked else transformers.XLMRobertaModel
    model = kind(config)
    _spread(model)
    model.save_pretrained(directory)
    return directory


def _spread(model):
    """Make the random weights large enough for vectors that differ from place to place.

    Weights that do not shrink with the width would make them all alike after some layers, and
    every best link a matter of rounding.
    """
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "LayerNorm.weight" in name:
                weight.uniform_(1.0, 3.0)
            elif weight.dim() > 1:
                weight.normal_(0.0, 0.85 / weight.shape[1] ** 0.5)
            else:
                weight.normal_(0.0, 0.05)
