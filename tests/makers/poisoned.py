"""A corpus with one pair that makes an encoder fail, such encoders, and jobs on them."""

from safetensors.torch import load_file, save_file

from tests.makers import corpora
from tests.makers.encoders import write_bert

PAIRS = 110
SHARDS = 3
POISON = "Quagga"
"""A word whose vector is no number, in each of the encoders here."""

PAIR = (f"A {POISON} ran.", "Ein Zebra lief.")


def write(directory):
    """Write ``corpus.en``, the same with the pair as ``poisoned.en``, and encoders of two seeds."""
    corpora.write_corpus(directory, PAIRS)
    for language, text in zip(("en", "de"), PAIR, strict=True):
        lines = (directory / f"corpus.{language}").read_bytes()
        (directory / f"poisoned.{language}").write_bytes(lines + text.encode() + b"\n")
    texts = [text for number in range(PAIRS) for text in corpora.sentence(number)]
    for seed, name in ((1, "one"), (2, "two")):
        write_bert(directory / name, [*texts, *[POISON] * 50], layers=2, seed=seed)
        _poison(directory / name)


def _poison(model):
    vocabulary = (model / "vocab.txt").read_text(encoding="utf-8").split("\n")
    weights = load_file(model / "model.safetensors")
    weights["embeddings.word_embeddings.weight"][vocabulary.index(POISON)] = float("nan")
    save_file(weights, model / "model.safetensors", metadata={"format": "pt"})


def command(job, output, *more, corpus="corpus", model="one", workers=1):
    """Return the command line of a job on one of the corpora, with one of the encoders."""
    return (
        *(job, "--source_input", f"{corpus}.en", "--target_input", f"{corpus}.de"),
        *("--corpus", "c", "--source_lang", "en", "--target_lang", "de", "--shard_pairs", "40"),
        *("--aligner", "encoder", "--model", model, "--layer", "2"),
        *("--workers", workers, "--output", output, *more),
    )
