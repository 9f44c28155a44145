"""The options of the jobs on a corpus that align or train: one frozen model a job."""

import math
import os
from typing import Annotated, Literal

import pydantic
from pydantic import Field

from pairweave.pipelines.options.base import (
    FRAGMENT_DEFAULTS,
    UNSAID,
    AlignerOptions,
    Heuristic,
    JobOptions,
    Patterns,
    SegmenterOptions,
    TranslatorOptions,
)
from pairweave.transforms.indexed_tag import MOST_TAGS

_UnsaidShare = Annotated[float, Field(ge=0, le=1, json_schema_extra=UNSAID)]
"""A share that settings name only where it is not the default."""


class FitOptions(JobOptions):
    """Options of ``fit``."""


class FinetuneOptions(JobOptions):
    """Options of ``finetune``. It runs in one process: what is about others is left out."""

    model: str = Field(min_length=1, description="encoder to start from: directory or hub name")
    revision: str | None = Field(None, description="branch, tag or commit of a hub model")
    objectives: str = Field(
        "mlm,tlm,so,psi",
        pattern=r"^(mlm|tlm|so|psi|co)(,(mlm|tlm|so|psi|co))*$",
        description="what is learnt: mlm and tlm (guessing masked pieces of a sentence, of a "
        "pair), so (strengthening its own links), psi (telling translations from others), co "
        "(agreement of both directions)",
    )
    layer: int = Field(
        8, ge=-200, le=200, description="layer that is to be aligned with; -1 the last"
    )
    tokens: str = Field(
        "words",
        pattern=r"^(words|whitespace|sentencepiece:.+)$",
        description="what so links as wholes: words, whitespace, sentencepiece:MODEL",
    )
    fit_pairs: int = Field(200_000, ge=1, description="about how many pairs are trained on")
    steps: int | None = Field(None, ge=1, description="updates in all (default: see epochs)")
    epochs: int = Field(1, ge=1, description="how often each pair is seen")
    batch_pairs: int = Field(8, ge=1, description="pairs of one update")
    learning_rate: float = Field(2e-5, gt=0, le=1, description="greatest step size of AdamW")
    warmup_steps: int = Field(0, ge=0, description="updates over which the step size grows")
    weight_decay: float = Field(0.0, ge=0, le=1, description="decay of weights")
    max_gradient: float = Field(1.0, gt=0, description="longest gradient")
    threshold: float = Field(
        0.001, ge=0, le=1, description="so: probability that a link is above in both directions"
    )
    mask_share: float = Field(0.15, ge=0.001, le=0.9, description="mlm, tlm: share of masked")
    max_pieces: int = Field(256, ge=1, le=32_768, description="longest side, in encoder's pieces")
    token_budget: int = Field(
        4096, ge=1, le=1 << 24, description="pieces worked on at once, padding included"
    )
    checkpoint_steps: int = Field(
        1000, ge=1, description="updates between two savings of the state, to go on from"
    )
    precision: Literal["fp32", "bf16"] = Field("fp32", description="arithmetic of the encoder")
    device: str = Field(
        "auto", pattern=r"^(auto|cpu|cuda(:\d+)?)$", description="auto, cpu, cuda or cuda:N"
    )
    threads: int = Field(
        default_factory=lambda: os.cpu_count() or 1,
        ge=1,
        description="threads of a CPU; with another number, results are rounded otherwise",
    )
    vocabulary: int = Field(16_000, exclude=True)
    decode: Literal["posterior", "viterbi"] = Field("posterior", exclude=True)
    engine: Literal["local", "prism", "flink"] = Field("local", exclude=True)
    workers: int = Field(1, exclude=True)
    attempts: int = Field(1, exclude=True)
    shard_pairs: int = Field(1 << 62, exclude=True)
    allow_empty: bool = Field(default=False, exclude=True)


class AlignOptions(AlignerOptions, JobOptions):
    """Options of ``align``."""

    max_tokens: int = Field(1_000, ge=1, le=32_000, description="longest side, in tokens")
    max_ratio: float = Field(
        math.inf, ge=1, description="largest ratio of the sides' token counts; inf for none"
    )
    max_token_chars: int = Field(1_000, ge=1, description="longest token, in characters")
    heuristic: Heuristic = Field("grow-diag", description="how the two directions are combined")
    pharaoh: str | None = Field(
        None,
        min_length=1,
        description="file for the links of each input line, in input order",
        json_schema_extra={"metavar": "FILE"},
    )


class AugmentOptions(TranslatorOptions, SegmenterOptions, AlignerOptions, JobOptions):
    """Options of ``augment``."""

    method: Literal["alignment", "fragment", "glossary"] = Field(
        "alignment",
        description="what tags are put round: alignment, phrase pairs of word links; fragment, "
        "pieces of the source whose translation, by the model's phrases and lexicon or "
        "--translator, stands in the target; glossary, terms of --glossary that stand on both "
        "sides and are linked (for fragment, max_words 6, max_tags 2, self_closing_share 0.27, "
        "damage_share 0.1 by default)",
        json_schema_extra=UNSAID,
    )
    glossary: str | None = Field(
        None,
        min_length=1,
        description="method glossary: file of terms, source TAB target a line [.gz .zst]",
        json_schema_extra={**UNSAID, "metavar": "FILE"},
    )
    glossary_match: Literal["stem", "exact"] = Field(
        "stem",
        description="method glossary: a word of a term is any word of its stem, in languages that "
        "have a stemmer, or the same word; case does not matter",
        json_schema_extra=UNSAID,
    )
    heuristic: Heuristic = Field("grow-diag", description="how the two directions are combined")
    max_words: int = Field(64, ge=1, le=512, description="longest phrase, in tokens")
    unaligned_words: Literal["forbid", "allow"] = Field(
        "forbid", description="whether a phrase may hold unaligned words"
    )
    representation: Literal["indexed", "xliff", "masked", "html", "raw", "template"] = Field(
        "indexed",
        description="what tags look like: indexed <a_0> ... </a_0>, xliff <g id=...>, masked "
        "XLF_OPENG,1, html <b>, raw with the names of --tag_profile, or a --template",
    )
    template: Patterns = Field(
        (),
        max_length=3,
        description="with --representation template: what opening, closing and self-closing tags "
        "look like, such as '⟦{index}⟧' '⟦/{index}⟧' '⟦{index}/⟧'",
        json_schema_extra=UNSAID,
    )
    max_id: int | None = Field(
        None,
        ge=10,
        le=10_000,
        description="with --representation xliff: draw each row's ids from 1 to this, instead of "
        "counting them from 1",
    )
    max_tags: int = Field(MOST_TAGS, ge=1, le=MOST_TAGS, description="most tags in a pair")
    tag_share: float = Field(0.3, gt=0, le=1, description="tags stay under this share of the words")
    nesting: Literal["proper", "free"] = Field(
        "proper", description="proper: tags nest as markup must; free: they may cross"
    )
    mix: float = Field(
        1.0, ge=0, description="tagged rows to one plain row; 0 plain only, inf tagged only"
    )
    variants: int = Field(1, ge=1, le=100, description="tagged rows made of a picked pair")
    whitespace_shift: bool = Field(
        default=False,
        description="move the space before a tag behind it, and put one behind tags that begin a "
        "text, so that SentencePiece cuts words as it does without tags (tags vocabulary --train)",
    )
    punctuation_tags: bool = Field(
        default=False,
        description="let a tag hold neither a letter nor a digit on a side, such as the full stop "
        "alone",
    )
    keep_links: bool = Field(
        default=False,
        description="a column word_links in each row, the linked words of the untagged texts: "
        "export makes an alignment column of it",
        json_schema_extra=UNSAID,
    )
    min_confidence: _UnsaidShare = Field(
        0.0,
        description="least score of a phrase pair, by what the aligner believes of its links; 0 "
        "takes all",
    )
    draw: Literal["uniform", "confident"] = Field(
        "uniform",
        description="how phrase pairs are drawn: alike, or by the odds of their scores",
        json_schema_extra=UNSAID,
    )
    self_closing_share: _UnsaidShare = Field(
        0.0, description="share of tags that are self-closing instead of a pair"
    )
    damage_share: _UnsaidShare = Field(
        0.0, description="share of pairs of tags of which one half is skipped"
    )
    empty_share: _UnsaidShare = Field(
        0.0, description="share of whole pairs of tags with nothing inside"
    )
    split_share: _UnsaidShare = Field(
        0.0,
        description="share of whole pairs of tags in two parts on one side, where phrases allow it",
    )
    tag_profile: str | None = Field(
        None,
        description="file of tags profile: draw numbers, forms, lengths, places and nesting of "
        "tags as it says, with --representation raw their names, too",
        json_schema_extra=UNSAID,
    )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _fragment_defaults(cls, values: object) -> object:
        """Let fragments have defaults of their own."""
        if isinstance(values, dict) and values.get("method") == "fragment":
            return {**FRAGMENT_DEFAULTS, **values}
        return values
