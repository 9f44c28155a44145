"""Small translation models with random weights, in the layouts of the published ones."""

import json
import warnings
from pathlib import Path

import sentencepiece
import tokenizers
import torch
import transformers
from tokenizers import decoders, pre_tokenizers, trainers
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES

from pairweave.transforms.text.tokens import train_sentencepiece

# Threads that wait for each other on busy cores are slower than one; jobs have one, too.
torch.set_num_threads(1)

SIZES = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2}
SIZES |= {f"{side}_attention_heads": 4 for side in ("encoder", "decoder")}
SIZES |= {f"{side}_ffn_dim": 64 for side in ("encoder", "decoder")}
SIZES |= {"dropout": 0.0, "attention_dropout": 0.0, "scale_embedding": True}


def _pieces(model):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    names = [processor.id_to_piece(number) for number in range(processor.get_piece_size())]
    return [name for name in names if name not in ("<s>", "</s>", "<unk>")]


def _learn(model, rows, steps):
    """Train a model a little: enough for translations that end and hang on the source.

    Args:
        model: Any encoder-decoder.
        rows: Numbers of source and target pieces, with special ones.
        steps: Batches to learn from.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    padding = model.config.pad_token_id
    for step in range(steps):
        batch = [rows[(24 * step + place) % len(rows)] for place in range(24)]
        sources, targets = (
            torch.nn.utils.rnn.pad_sequence(
                [torch.tensor(row[side]) for row in batch], batch_first=True, padding_value=padding
            )
            for side in (0, 1)
        )
        labels = targets.masked_fill(targets == padding, -100)
        loss = model(input_ids=sources, attention_mask=sources.ne(padding), labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        with torch.no_grad():
            # As in the published models: a decoder starts from nothing.
            model.get_input_embeddings().weight[padding] = 0.0
    model.eval()


def write_marian(directory, pairs, *, languages=(), positions=64, steps=120, sides=None):
    """Write a MarianMT with a vocabulary shared by both sides; returns the directory.

    Args:
        directory: Where to.
        pairs: What it is trained on.
        languages: Codes of target languages of a multilingual model.
        positions: Of the encoder and the decoder.
        steps: Batches to learn from.
        sides: Codes of the languages that it is for.
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    model = train_sentencepiece((text for pair in pairs for text in pair), 300)
    for name in ("source.spm", "target.spm"):
        (directory / name).write_bytes(model)
    names = ["</s>", "<unk>", *_pieces(model), *(f">>{code}<<" for code in languages), "<pad>"]
    vocabulary = {name: number for number, name in enumerate(names)}
    (directory / "vocab.json").write_text(json.dumps(vocabulary))
    settings = {"tokenizer_class": "MarianTokenizer", "model_max_length": 512}
    if sides:
        settings |= dict(zip(("source_lang", "target_lang"), sides, strict=True))
    (directory / "tokenizer_config.json").write_text(json.dumps(settings))
    padding = len(names) - 1
    config = transformers.MarianConfig(
        vocab_size=len(names),
        decoder_vocab_size=len(names),
        max_position_embeddings=positions,
        pad_token_id=padding,
        decoder_start_token_id=padding,
        eos_token_id=0,
        forced_eos_token_id=0,
        activation_function="swish",
        static_position_embeddings=True,
        **SIZES,
    )
    torch.manual_seed(1)
    marian = transformers.MarianMTModel(config)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    cut = [processor.encode(list(pair), out_type=str) for pair in pairs]
    code = [vocabulary[f">>{languages[0]}<<"]] if languages else []
    rows = [[[vocabulary.get(piece, 1) for piece in side] + [0] for side in pair] for pair in cut]
    _learn(marian, [(code + source, target) for source, target in rows], steps)
    _save(marian, directory)
    return directory


def write_m2m(directory, pairs, *, positions=64, steps=80):
    """Write an M2M100 with its hundred languages; returns the directory."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    model = train_sentencepiece((text for pair in pairs for text in pair), 300)
    (directory / "sentencepiece.bpe.model").write_bytes(model)
    names = ["<s>", "<pad>", "</s>", "<unk>", *_pieces(model)]
    vocabulary = {name: number for number, name in enumerate(names)}
    (directory / "vocab.json").write_text(json.dumps(vocabulary))
    settings = {"tokenizer_class": "M2M100Tokenizer", "language_codes": "m2m100"}
    (directory / "tokenizer_config.json").write_text(json.dumps(settings))
    tokenizer = transformers.M2M100Tokenizer.from_pretrained(directory)
    size = len(names) + len(tokenizer.lang_code_to_id) + tokenizer.num_madeup_words
    return _write_m2m_model(directory, tokenizer, ("en", "de"), size, pairs, positions, steps)


def write_nllb(directory, pairs, *, positions=64, steps=80):
    """Write an NLLB with its two hundred languages and a `tokenizer.json`."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    space = {"replacement": "▁", "prepend_scheme": "always", "split": True}
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(**space)
    tokenizer.decoder = decoders.Metaspace(**space)
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator((text for pair in pairs for text in pair), trainer)
    made = json.loads(tokenizer.to_str())["model"]
    merges = [tuple(merge) for merge in made["merges"]]
    nllb = transformers.NllbTokenizer(vocab=made["vocab"], merges=merges)
    assert set(FAIRSEQ_LANGUAGE_CODES) <= nllb.get_vocab().keys()
    nllb.save_pretrained(directory)
    codes = ("eng_Latn", "deu_Latn")
    return _write_m2m_model(directory, nllb, codes, len(nllb), pairs, positions, steps)


def _write_m2m_model(directory, tokenizer, codes, size, pairs, positions, steps):
    config = transformers.M2M100Config(
        vocab_size=size, max_position_embeddings=positions, activation_function="relu", **SIZES
    )
    torch.manual_seed(1)
    model = transformers.M2M100ForConditionalGeneration(config)
    rows = []
    for pair in pairs:
        row = []
        for code, text in zip(codes, pair, strict=True):
            tokenizer.src_lang = code
            row.append(tokenizer(text)["input_ids"])
        rows.append(row)
    _learn(model, rows, steps)
    _save(model, directory)
    return directory


def _save(model, directory):
    bars = transformers.utils.logging.is_progress_bar_enabled()
    transformers.utils.logging.disable_progress_bar()
    model.save_pretrained(directory)
    if bars:
        transformers.utils.logging.enable_progress_bar()


def convert(directory, output, files):
    """Convert a model to CTranslate2, with the files that its pieces need; returns the output."""
    from ctranslate2.converters import TransformersConverter

    class Converter(TransformersConverter):
        """Finds the languages of M2M-100 where transformers 5 no longer keeps them."""

        def load_tokenizer(self, tokenizer_class, name, **settings):
            tokenizer = super().load_tokenizer(tokenizer_class, name, **settings)
            tokens = list(getattr(tokenizer, "lang_token_to_id", ()))
            if tokens:
                special = property(lambda _: {"additional_special_tokens": tokens})
                kind = type(tokenizer)
                tokenizer.__class__ = type(kind.__name__, (kind,), {"special_tokens_map": special})
            return tokenizer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Converter(str(directory), copy_files=list(files)).convert(str(output))
    return Path(output)
