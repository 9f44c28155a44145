"""Train a SentencePiece model on a run of augment, with each tag as one piece.

usage: python examples/sentencepiece_tags.py tagged/ model.spm [pieces]
"""

import sys
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.dataset
import sentencepiece


def main(run: str, model: str, pieces: int = 8_000) -> None:
    """Train on the rows without tags, so that no piece contains a part of a tag."""
    rows = pyarrow.dataset.dataset(Path(run, "data"))
    plain = rows.to_table(columns=["source", "target"], filter=pc.field("kind") == "plain")
    texts = [*plain["source"].to_pylist(), *plain["target"].to_pylist()]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_prefix=model.removesuffix(".spm"),
        vocab_size=pieces,
        hard_vocab_limit=False,
        # The two settings that matter: the tags are pieces of their own, and a tag within a number
        # splits it no further than its digits are split already.
        user_defined_symbols=Path(run, "symbols.txt").read_text(encoding="utf-8").split("\n")[:-1],
        split_digits=True,
        minloglevel=2,
    )
    processor = sentencepiece.SentencePieceProcessor(
        model_file=f"{model.removesuffix('.spm')}.model"
    )
    tagged = rows.head(1, columns=["source"], filter=pc.field("kind") == "tagged")
    print(" ".join(processor.encode(tagged["source"][0].as_py(), out_type=str)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
