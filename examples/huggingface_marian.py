"""Train a tiny Marian model of transformers on a run whose tags are drawn anew in every epoch.

usage: python examples/huggingface_marian.py tagged/ [steps]

The model is far too small to translate; what matters is the chain. Needs pairweave[neural].
"""

import sys
from collections.abc import Iterable
from pathlib import Path

import tokenizers
import torch
import torch.utils.data
import transformers

import pairweave

PAD, END = "<pad>", "</s>"
PIECES = 2_000


def train_tokenizer(run: str) -> transformers.PreTrainedTokenizerFast:
    """Train a byte-level BPE tokenizer on one epoch, with each tag as one token."""
    tags = Path(run, "symbols.txt").read_text(encoding="utf-8").split("\n")[:-1]
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=PIECES, special_tokens=[PAD, END], show_progress=False
    )
    rows = pairweave.stream(run, mix=0)
    made.train_from_iterator((row[side] for row in rows for side in row), trainer)
    made.add_tokens([tokenizers.AddedToken(tag, normalized=False) for tag in tags])
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"$A {END}", special_tokens=[(END, made.token_to_id(END))]
    )
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, pad_token=PAD, eos_token=END)


def tiny_model(tokenizer: transformers.PreTrainedTokenizerFast) -> transformers.MarianMTModel:
    """Return an untrained Marian model of two small layers."""
    torch.manual_seed(1)
    return transformers.MarianMTModel(
        transformers.MarianConfig(
            vocab_size=len(tokenizer),
            d_model=32,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=64,
            decoder_ffn_dim=64,
            max_position_embeddings=256,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            decoder_start_token_id=tokenizer.pad_token_id,
            forced_eos_token_id=tokenizer.eos_token_id,
        )
    )


def main(run: str, steps: int = 30) -> None:
    """Train for some steps and print the first and the last loss."""
    tokenizer = train_tokenizer(run)
    model = tiny_model(tokenizer)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)

    def encode(rows: list[dict[str, str]]) -> Iterable[torch.Tensor]:
        batch = tokenizer(
            [row["source"] for row in rows],
            text_target=[row["target"] for row in rows],
            padding=True,
            truncation=True,
            max_length=128,
            return_tensors="pt",
        )
        batch["labels"][batch["labels"] == tokenizer.pad_token_id] = -100
        batch.pop("token_type_ids", None)
        return batch

    rows = pairweave.stream(run, epochs=1_000).to_torch()
    losses = []
    batches = torch.utils.data.DataLoader(rows, batch_size=32, collate_fn=encode)
    for _, batch in zip(range(steps), batches, strict=False):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    print(f"{steps} steps, loss {losses[0]:.2f} to {losses[-1]:.2f}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
