"""Turn COMPARED rows into SUGGESTIONS rows: masked texts, each with a suggestion for its mask."""

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pydantic

from pairweave.transforms import ids, schemas
from pairweave.transforms.arrow.flat_columns import chunk_of, text_column
from pairweave.transforms.arrow.replaced_columns import replaced
from pairweave.transforms.config import Seed
from pairweave.transforms.counts.histograms import Bars
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels import sampling
from pairweave.transforms.kernels.masks.mask_borders import OPERATIONS
from pairweave.transforms.kernels.masks.masks import JUDGED_SAME
from pairweave.transforms.kernels.text import spans
from pairweave.transforms.rejects import Reject
from pairweave.transforms.suggestions.aligned_masks import NOT_JUDGED, Judged, find_differences
from pairweave.transforms.suggestions.hints import make_hints
from pairweave.transforms.suggestions.masks import METHODS, Masks, join
from pairweave.transforms.suggestions.random_masks import draw_random, whole_texts
from pairweave.transforms.suggestions.span_lengths import Histograms
from pairweave.transforms.suggestions.suggestion_counts import count_examples, mask_bars
from pairweave.transforms.suggestions.suggestion_filters import (
    ALIGNMENT,
    RULE_NAMES,
    SCORE,
    Examples,
    first_rules,
    outside_scores,
)
from pairweave.transforms.suggestions.suggestion_options import (
    AlignedConfig,
    FilterConfig,
    HintConfig,
    MaskOptions,
    RandomConfig,
)
from pairweave.transforms.suggestions.suggestion_scores import Scorer, score_examples
from pairweave.transforms.suggestions.token_view import TokenView, view_tokens
from pairweave.transforms.symbols.mask import MASK
from pairweave.transforms.text.segmenter import NONE
from pairweave.transforms.text.tokens import TokenConfig, token_counts

_MASK_BYTES = np.frombuffer(MASK.encode(), np.uint8)
_NAMES = pa.array(METHODS)
_OPERATIONS = pa.array(OPERATIONS)


class SuggestionConfig(MaskOptions):
    """Settings of making examples.

    Attributes:
        random: Settings of random masks.
        golden: Distributions of the masks of a golden set, for random masks of empirical lengths.
        aligned: Settings of masks over differences.
        filters: Limits of examples.
        hints: Settings of hints.
        words: How the words of a source are counted: ``words`` or ``whitespace``.
        segmenter: Finds words in scripts without spaces (`transforms.text.segmenter`), which no
            mask splits.
    """

    seed: Seed = 1
    random: RandomConfig = RandomConfig()
    golden: pydantic.InstanceOf[Histograms] | None = None
    aligned: AlignedConfig = AlignedConfig()
    filters: FilterConfig = FilterConfig()
    hints: HintConfig = HintConfig()
    words: Literal["words", "whitespace"] = "words"
    segmenter: str = NONE

    @pydantic.model_validator(mode="after")
    def _check_golden(self) -> Self:
        kind = self.random.lengths or ("geometric" if self.golden is None else "empirical")
        if (kind == "empirical") != (self.golden is not None):
            raise ConfigError("lengths empirical needs a golden set: give --fit_lengths FILE FILE")
        return self

    @pydantic.model_validator(mode="after")
    def _check_limits(self) -> Self:
        filters = self.filters
        for side in ("source", "suggestion"):
            low, high = getattr(filters, f"min_{side}_words"), getattr(filters, f"max_{side}_words")
            if not low <= high:
                raise ConfigError(
                    f"min_{side}_words must be 1 to max_{side}_words ({high}), got {low}"
                )
        if not (-np.inf if filters.min_score is None else filters.min_score) <= filters.max_score:
            raise ConfigError(
                f"min_score must be at most max_score ({filters.max_score}), "
                f"got {filters.min_score}"
            )
        return self

    @pydantic.model_validator(mode="after")
    def _check_methods(self) -> Self:
        if len(set(self.methods)) < len(self.methods):
            raise ConfigError(f"methods are named twice: {', '.join(self.methods)}")
        return self


@dataclasses.dataclass(frozen=True, slots=True)
class Made:
    """The examples of a shard's pairs.

    Attributes:
        rows: The examples (`transforms.schemas.SUGGESTIONS`), by pair, method and variant.
        reasons: The reject reason of each pair without examples, else None, object ``[pair]``.
        details: Details of each reason, object ``[pair]``.
        counts: Counts for the receipt.
        words: Words of the suggestion in each row, -1 for a whole sentence, int64 ``[row]``.
        histograms: Bars of the histograms by method, for the receipt.
    """

    rows: pa.Table
    reasons: np.ndarray
    details: np.ndarray
    counts: dict[str, int]
    words: np.ndarray
    histograms: Bars


def make_suggestions(
    table: pa.Table,
    config: SuggestionConfig,
    scorer: Scorer | None = None,
    pair_scores: np.ndarray | None = None,
) -> Made:
    """Turn COMPARED rows into SUGGESTIONS rows, in the same order of pairs.

    A hash of each pair decides its part in the mix. A pair gets masked spans if the hash is below
    ``1 / mix``, and a fully masked sentence if it is below ``mix`` times the number of its masked
    spans that pass the filters (or below ``mix``, if there is none). A larger mix thus keeps the
    whole sentences of a smaller one, and the ratio of examples approximates ``mix``, as far as one
    whole sentence per pair allows. With a single method, ``mix`` has no effect.

    All draws depend only on the seed and the pair.

    Args:
        table: Pairs with translations, tokens and links (`transforms.schemas.COMPARED`); a pair
            without a translation has no tokens and links for it.
        config: The settings.
        scorer: Computes the column ``score``.
        pair_scores: Fills this column if there is no scorer: the score of each pair, NaN for none,
            float32 ``[pair]``. Without either, the column is null.
    """
    schemas.require(table, schemas.COMPARED)
    texts = {
        "reference": table.column("target"),
        "translation": pc.fill_null(table.column("translation"), ""),
    }
    views = {
        name: view_tokens(
            text, table.column(f"{name}_tokens"), table.column("target_lang"), config.segmenter
        )
        for name, text in texts.items()
    }
    keys = ids.pair_keys(table.column("id"))
    draws = sampling.units(np.uint64(config.seed), keys, sampling.STEP_MIX)
    source_words, _ = token_counts(
        table.column("source"), TokenConfig(config.words), table.column("source_lang")
    )
    span_masks, judged = _spans(table, views, keys, draws, config)
    pairs = table.num_rows
    spans_of_pair = sum(np.bincount(one.pair, minlength=pairs) for one in span_masks)
    wholes = whole_texts(views["reference"], _get_whole(draws, spans_of_pair, config))
    masks = join([*span_masks, wholes])
    suggestions = _slices(
        views["reference"], masks.pair, masks.suggestion_start, masks.suggestion_end
    )
    identical = _identical(views["translation"], masks, suggestions)
    reserved = _reserved(texts)[masks.pair]
    examples = Examples(masks, source_words[masks.pair], identical, reserved)
    dropped = first_rules(examples, config.filters)
    if config.mix < 1:  # otherwise each pair gets its whole sentence, however many spans are left
        is_span = masks.method != _WHOLE
        left = np.bincount(masks.pair[is_span & (dropped < 0)], minlength=pairs)
        wanted = is_span | _get_whole(draws, left, config)[masks.pair]
        masks, dropped = masks.take(wanted), dropped[wanted]
        suggestions = suggestions.filter(pa.array(wanted))
    kept = dropped < 0
    rows = _rows(table, views, masks.take(kept), suggestions.filter(pa.array(kept)), keys, config)
    scores = None
    if scorer is not None:
        scores = score_examples(rows, scorer)
    elif pair_scores is not None:
        scores = pair_scores[masks.pair[kept]]
    if scores is not None:
        bad = outside_scores(scores, config.filters)
        dropped[np.flatnonzero(kept)[bad]] = SCORE
        rows = replaced(rows, "score", pa.array(scores, from_pandas=True))
        rows = rows.filter(pa.array(~bad))
    stay = masks.take(dropped < 0)
    reasons, details = _reasons(table, masks, dropped, judged)
    words = np.where(stay.method == _WHOLE, -1, stay.suggestion_words).astype(np.int64)
    return Made(
        rows, reasons, details, count_examples(stay, masks, dropped, judged), words, mask_bars(stay)
    )


def draw_span_pairs(config: SuggestionConfig, table: pa.Table) -> np.ndarray:
    """Return whether each pair gets masked spans, and so may need a translation, bool ``[pair]``.

    Args:
        config: The settings.
        table: The pairs; only their ids are used.
    """
    keys = ids.pair_keys(table.column("id"))
    return _picked(sampling.units(np.uint64(config.seed), keys, sampling.STEP_MIX), config)


def _picked(draws: np.ndarray, config: SuggestionConfig) -> np.ndarray:
    mixed = "parallel" in config.methods
    return draws < (1.0 if not mixed or config.mix <= 1 else 1.0 / config.mix)


def _spans(
    table: pa.Table,
    views: Mapping[str, TokenView],
    keys: np.ndarray,
    draws: np.ndarray,
    config: SuggestionConfig,
) -> tuple[list[Masks], Judged | None]:
    """Return the masks over spans, by method, and the quality judgements of the translations."""
    picked = _picked(draws, config)
    masks_by_method = []
    judged = None
    if "random" in config.methods:
        share = config.filters.max_masked_share
        masks_by_method.append(
            draw_random(
                views["reference"], keys, picked, share, config.random, config.golden, config.seed
            )
        )
    if "alignment" in config.methods:
        masks, judged = find_differences(
            table, views["translation"], views["reference"], config.aligned
        )
        used = picked & table.column("translation").is_valid().to_numpy()
        judged.verdict[~used] = NOT_JUDGED
        masks_by_method.append(masks.take(used[masks.pair]))
    return masks_by_method, judged


def _get_whole(
    draws: np.ndarray, spans_of_pair: np.ndarray | int, config: SuggestionConfig
) -> np.ndarray:
    """Return whether each pair gets its whole sentence, bool ``[pair]``.

    More spans never take it away.

    Args:
        draws: Hashes of the pairs, in [0, 1).
        spans_of_pair: Number of masked spans of each pair, ``[pair]``, or of all.
        config: The settings.
    """
    if "parallel" not in config.methods:
        return np.zeros(len(draws), np.bool_)
    if len(config.methods) == 1:
        return np.ones(len(draws), np.bool_)
    share = config.mix if np.isinf(config.mix) else config.mix * np.maximum(1, spans_of_pair)
    return draws < share


def _slices(
    view: TokenView, pair: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> pa.StringArray:
    return text_column(*spans.slices(view.data, view.offsets, pair, starts, ends))


def _identical(translation: TokenView, masks: Masks, suggestions: pa.StringArray) -> np.ndarray:
    """Return whether each suggestion equals the masked text of a translation, bool ``[mask]``."""
    same = np.zeros(len(masks), np.bool_)
    places = np.flatnonzero(masks.method == ALIGNMENT)
    chosen = masks.take(places)
    covered = _slices(translation, chosen.pair, chosen.start, chosen.end)
    same[places] = pc.equal(covered, suggestions.take(pa.array(places))).to_numpy(
        zero_copy_only=False
    )
    return same


def _reserved(texts: Mapping[str, pa.ChunkedArray]) -> np.ndarray:
    """Return whether each pair's texts contain the mask token, bool ``[pair]``.

    The screen rejects such pairs, but it does not check translations, which are made later.
    """
    sides = [pc.match_substring(text, MASK).to_numpy() for text in texts.values()]
    return np.logical_or(*sides)


def _rows(
    table: pa.Table,
    views: Mapping[str, TokenView],
    masks: Masks,
    suggestions: pa.StringArray,
    keys: np.ndarray,
    config: SuggestionConfig,
) -> pa.Table:
    """Return the examples (`transforms.schemas.SUGGESTIONS`)."""
    on_translation = masks.method == ALIGNMENT
    masked = []
    for view, places in (
        (views["reference"], np.flatnonzero(~on_translation)),
        (views["translation"], np.flatnonzero(on_translation)),
    ):
        chosen = masks.take(places)
        masked.append(
            text_column(
                *spans.splice(
                    view.data, view.offsets, chosen.pair, chosen.start, chosen.end, _MASK_BYTES
                )
            )
        )
    order = np.argsort(np.argsort(on_translation, kind="stable"), kind="stable")
    pairs = pa.array(masks.pair)
    columns = {
        **{name: chunk_of(table.column(name)).take(pairs) for name in _KEPT},
        "variant": pa.array(masks.variant),
        "method": _NAMES.take(pa.array(masks.method)),
        "operation": _OPERATIONS.take(pa.array(masks.operation)),
        "masked": pa.concat_arrays(masked).take(pa.array(order)),
        "suggestion": suggestions,
        "hint": make_hints(suggestions, masks, views["reference"], keys, config.hints, config.seed),
        "start": pa.array(masks.start.astype(np.int32)),
        "end": pa.array(masks.end.astype(np.int32)),
        "confidence": pa.array(masks.confidence, from_pandas=True),
        "score": pa.nulls(len(masks), pa.float32()),
    }
    names = schemas.SUGGESTIONS.names
    return pa.table([columns[name] for name in names], schema=schemas.SUGGESTIONS)


_WHOLE = METHODS.index("parallel")
_KEPT = ("id", "source", "source_lang", "target_lang", "corpus")


def _reasons(
    table: pa.Table,
    masks: Masks,
    dropped: np.ndarray,
    judged: Judged | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the reject reason of each pair without an example, and details where available."""
    size = table.num_rows
    reasons = np.full(size, None, dtype=object)
    details = np.full(size, None, dtype=object)
    examples = np.bincount(masks.pair, minlength=size)
    left = np.bincount(masks.pair[dropped < 0], minlength=size)
    translated = table.column("translation").is_valid().to_numpy()
    for pair in np.flatnonzero(left == 0).tolist():
        if examples[pair]:
            reasons[pair] = Reject.FILTERED
            details[pair] = _dropped_text(masks, dropped, pair)
        elif judged is None:
            reasons[pair] = Reject.NO_MASK
        elif not translated[pair]:
            reasons[pair] = Reject.NO_TRANSLATION
        elif judged.verdict[pair] == JUDGED_SAME:
            reasons[pair] = Reject.SAME_TRANSLATION
        else:
            reasons[pair] = Reject.TOO_MANY_PLACEHOLDERS
            details[pair] = f"{judged.placeholders[pair]} placeholders"
    return reasons, details


def _dropped_text(masks: Masks, dropped: np.ndarray, pair: int) -> str:
    first, last = np.searchsorted(masks.pair, [pair, pair + 1])
    seen = Counter(
        f"{METHODS[masks.method[mask]]}: {RULE_NAMES[dropped[mask]]}" for mask in range(first, last)
    )
    return ", ".join(f"{name} {number}" for name, number in sorted(seen.items()))
