"""The options of the job ``bitext``."""

import math
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from pairweave.models.encoder.encoder_options import Layer
from pairweave.models.similarity.similarity_options import of_scorer
from pairweave.pipelines.options.base import (
    FITTED_MODEL,
    Patterns,
    RowJobOptions,
    several_corpora,
)
from pairweave.pipelines.options.corpus_options import DocumentCorpus
from pairweave.pipelines.options.first_help import INPUT, LANGUAGES, PLACE, RUN, FirstHelp
from pairweave.transforms.option_marks import PLANNED_OTHERWISE, UNPLANNED, UNSAID, in_short
from pairweave.transforms.option_places import CORPUS_FILES, FILE_BESIDE, HUB_MODEL, MODEL
from pairweave.transforms.screen_options import MaxRatio, MaxTokenChars, MaxTokens
from pairweave.transforms.units import Notice

_MIN_YISI = -0.8
"""Minimum score of pairs and documents by YiSi-2. On the development documents of
`tests/benchmarks/bench_bitext_encoder.py`, true pairs have means of -0.55 to -0.65 and fifth
percentiles of -0.75 to -0.8, pairs of unrelated novels a mean of -0.9 and a 95th percentile of
-0.81."""


_OF_ENCODER = {**UNSAID, **of_scorer("encoder")}


# Pydantic's plugin for mypy compares methods that it has itself put into both classes.
class BitextOptions(RowJobOptions, DocumentCorpus):  # type: ignore[misc, unused-ignore]
    """Options of ``bitext``."""

    DOCUMENTS: ClassVar[bool] = True
    FIRST_HELP: ClassVar[FirstHelp | None] = FirstHelp(
        "pairweave bitext --source_input 'en/*.txt' --target_input 'de/*.txt' --pair_by name \\\n"
        f"  {LANGUAGES} --split lines --output sentences/",
        f"{INPUT} {PLACE} pair_by split paragraphs model scorer {RUN}",
    )

    corpora: tuple[DocumentCorpus, ...] = several_corpora()
    max_tokens: MaxTokens = Field(1_000, description="longest side, in tokens")
    max_ratio: MaxRatio = Field(
        math.inf, description="largest ratio of the sides' token counts; inf for none"
    )
    max_token_chars: MaxTokenChars = Field(1_000, description="longest token, in characters")
    split: Literal["none", "lines", "paragraphs"] = Field(
        "none",
        description="how text is split into sentences: none, each line is a sentence; lines, each "
        "line is a paragraph to split; paragraphs, lines up to a blank one are joined, then split "
        "(pip install 'pairweave[split]')",
    )
    paragraphs: Literal["weigh", "first", "none"] = Field(
        "weigh",
        description="paragraphs: weigh, their ends have a cost inside a pair; first, they are "
        "aligned with each other, and sentences within them; none, they are ignored",
        json_schema_extra={**UNSAID, **in_short("role of paragraphs (default weigh)")},
    )
    model: Annotated[str | None, MODEL] = Field(
        None,
        min_length=1,
        description="directory of a fitted hmm (default: fit one on the documents, and on the "
        "parallel text if there is any)",
        json_schema_extra={**FITTED_MODEL, **of_scorer("words")},
    )
    scorer: Literal["words", "encoder", "both"] = Field(
        "words",
        description="scorer of pairs: words, the lexicon of the hmm; encoder, the cosines of an "
        "encoder's vectors (--encoder), as in vecalign or by YiSi-2 (--similarity); both",
        json_schema_extra=UNSAID,
    )
    similarity: Literal["sentences", "yisi2"] = Field(
        "sentences",
        description="scorer encoder or both: what of two sides is compared: sentences, the cosine "
        "of sentence vectors; yisi2, YiSi-2 of the vectors of their pieces, as in filter",
        json_schema_extra=_OF_ENCODER,
    )
    encoder: Annotated[str | None, HUB_MODEL] = Field(
        None,
        min_length=1,
        description="scorer encoder or both: directory or hub name of the encoder",
        json_schema_extra=_OF_ENCODER,
    )
    revision: str | None = Field(
        None,
        description="scorer encoder or both: branch, tag or commit of a hub model (default: its "
        "newest)",
        json_schema_extra=_OF_ENCODER,
    )
    layer: Layer | None = Field(
        None,
        description="scorer encoder or both: layer whose vectors are compared (default -1, the "
        "last; for yisi2 a third of the layers before the end, -8 of 24, -4 of 12)",
        json_schema_extra=_OF_ENCODER,
    )
    parallel_source_input: Annotated[Patterns, CORPUS_FILES] = Field(
        (),
        description="line-parallel text to fit on too, the source side",
        json_schema_extra={**PLANNED_OTHERWISE, **of_scorer("words")},
    )
    parallel_target_input: Annotated[Patterns, CORPUS_FILES] = Field(
        (),
        description="line-parallel text to fit on too, the target side",
        json_schema_extra={**PLANNED_OTHERWISE, **of_scorer("words")},
    )
    iterations: int = Field(
        2,
        ge=1,
        le=10,
        description="number of fits of the aligner: the first on beads that are certain by length "
        "alone, later ones on the beads that it finds",
        json_schema_extra=of_scorer("words"),
    )
    min_score: float = Field(
        -0.6,
        ge=-100,
        le=100,
        description="minimum score of a pair: the mean log-ratio between the probability of its "
        "words given the other side and their frequency; with --scorer encoder, the negative "
        "distance of its sides, from about -1 (unrelated) to 0, and with --similarity yisi2 the "
        "default is -0.8; lower ones are rejected",
    )
    min_document_score: float = Field(
        -0.5,
        ge=-100,
        le=100,
        description="minimum mean score of the pairs of a document; below it, the sides are not "
        "translations of each other and the whole document is rejected; with --scorer encoder and "
        "--similarity yisi2 the default is -0.8",
    )
    min_document_gain: float = Field(
        0.2,
        ge=-100,
        le=100,
        description="minimum gain of a document's pairs over chance, by aligners fitted on other "
        "pairs, if the aligner is fitted on the documents alone: how much higher they score than "
        "the same sentences with partners of pairs near them; below it, as for "
        "min_document_score; -100 to judge no document so",
        json_schema_extra=UNSAID,
    )
    beads: Annotated[str | None, FILE_BESIDE] = Field(
        None,
        min_length=1,
        description="file for the beads of each document [.gz .zst .xz .bz2], one per line as [0, "
        "1]:[2]:score, with unaligned sentences; blank lines separate documents, and an empty "
        "document is []:[]",
        json_schema_extra=UNPLANNED,
    )

    @property
    def splits(self) -> bool:
        """Tell whether sentences are only known on a worker, because it splits lines or cells."""
        tables = any(corpus.input for corpus in (self, *self.corpora))
        return self.split != "none" or tables

    @property
    def aligns(self) -> bool:
        """Return True if the job needs an aligner, and fits one if none is given."""
        return self.scorer != "encoder"

    @property
    def least_scores(self) -> dict[str, float]:
        """Return the minimum scores of pairs and of documents, given or by default."""
        names = ("min_score", "min_document_score")
        scores = {name: getattr(self, name) for name in names}
        if self.scorer == "encoder" and self.similarity == "yisi2":
            scores |= dict.fromkeys(set(names) - self.model_fields_set, _MIN_YISI)
        return scores

    @property
    def fits_alone(self) -> bool:
        """Return True if the aligner is fitted on the documents alone."""
        return self.aligns and self.model is None and not self.parallel_source_input

    def notices(self) -> Iterator[Notice]:
        """Yield a notice if the aligner is fitted on the documents alone."""
        if not self.fits_alone:
            return
        message = (
            "the aligner is fitted on the documents alone and learns the very pairs that it then "
            "scores, so aligners of half the pairs judge the documents; if there are few pairs, "
            "documents that are not translations of each other may be kept: give "
            "parallel text (--parallel_source_input, --parallel_target_input) or a fitted --model "
            "if there may be any"
        )
        yield Notice("no_parallel_text", "options", 1, message)
