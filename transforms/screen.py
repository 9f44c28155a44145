"""The screen: cheap rules that reject pairs before costly steps."""

import dataclasses
import enum
import functools
from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pydantic
import xxhash

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.errors import InputError
from pairweave.transforms.kernels.text.utf8 import any_visible
from pairweave.transforms.kernels.text.word_counts import words_of_tokens
from pairweave.transforms.rejects import PluginReason, Reason, Reject, Stage, is_of_plugin
from pairweave.transforms.screen_options import ScreenLimits
from pairweave.transforms.shards.rejected_texts import leave_out_long_texts
from pairweave.transforms.storage import files
from pairweave.transforms.storage.text_lines import read_text_lines
from pairweave.transforms.text import codepoints
from pairweave.transforms.text.tokens import (
    MAX_PIECE_CHARS,
    TokenConfig,
    token_counts,
)


class ScreenReject(enum.StrEnum):
    """The reason codes of the screen; values are part of the output format."""

    EMPTY_SOURCE = "empty_source"
    EMPTY_TARGET = "empty_target"
    TOO_LONG = "too_long"
    LENGTH_RATIO = "length_ratio"
    LONG_TOKEN = "long_token"
    IDENTICAL = "identical"
    EXCLUDED = "excluded"
    RESERVED_TOKEN = "reserved_token"


def reason_of(code: str) -> Reason:
    """Return the reason that a code names: one of the screen, of a plugin, or any other.

    >>> reason_of("too_long"), reason_of("duplicate")
    (<ScreenReject.TOO_LONG: 'too_long'>, <Reject.DUPLICATE: 'duplicate'>)

    Raises:
        ValueError: There is no such reason.
    """
    if is_of_plugin(code):
        return PluginReason(code)
    return ScreenReject(code) if code in set(ScreenReject) else Reject(code)


class ScreenConfig(ScreenLimits):
    """Limits of the screen.

    Attributes:
        excluded: Keys of sentences to reject (`load_exclude`).
        tokens: The tokens to count.
        reserved: A pair with a text that matches this is rejected (RE2); empty to reject none.
        translations: Whether the machine translation of a pair, if there is one, is screened too.
        countable: Whether the tokens can be counted yet. If not, because their model is still to be
            trained, a side counts as the fewest pieces that can hold its characters, and the ratio
            is not checked.
        keeps_long_texts: Whether rejected pairs keep their long texts, for an output with every
            pair.
    """

    excluded: pydantic.InstanceOf[frozenset[int]] = frozenset()
    tokens: pydantic.InstanceOf[TokenConfig] = TokenConfig()
    reserved: str = ""
    translations: bool = False
    countable: bool = True
    keeps_long_texts: bool = False

    def counting(self, tokens: TokenConfig) -> "ScreenConfig":
        """Return the same limits for other tokens."""
        return self.changed(tokens=tokens)

    def before_training(self) -> "ScreenConfig":
        """Return the limits on the text that a SentencePiece model is trained on."""
        return self.changed(countable=False)


class Pairs:
    """The data of a batch that the rules check.

    Attributes:
        source: Source texts ``[pair]``.
        target: Target texts ``[pair]``.
        sides: Both, and the translations if they are screened; an empty text for none.
        visible: Whether each text of `sides` has more than white space and invisible characters
            ``[side][pair]``.
        translated: Which pairs have a translation that is screened ``[pair]``.
        source_tokens: Tokens of each source ``[pair]``.
        target_tokens: Tokens of each target ``[pair]``.
        translation_tokens: Tokens of each screened translation, 0 for none ``[pair]``.
        words: Words of each side that `sides` has, for the ratio: tokens, except for letters of
            scripts without spaces ``[side][pair]``.
        longest: Length of each pair's longest token in code points ``[pair]``.
    """

    def __init__(self, batch: pa.RecordBatch, config: ScreenConfig) -> None:
        self.source = batch.column("source")
        self.target = batch.column("target")
        self.sides = [self.source, self.target]
        languages = [batch.column(f"{side}_lang") for side in ("source", "target")]
        self.source_tokens, longest = _counts(self.source, config, languages[0])
        self.target_tokens, other = _counts(self.target, config, languages[1])
        self.longest = np.maximum(longest, other)
        self.translated = np.zeros(batch.num_rows, dtype=np.bool_)
        self.translation_tokens = np.zeros(batch.num_rows, dtype=np.int64)
        if config.translations:
            column = batch.column("translation")
            self.translated = column.is_valid().to_numpy(zero_copy_only=False)
            self.sides.append(pc.fill_null(column, ""))
            counts, longest = _counts(self.sides[-1], config, languages[1])
            self.translation_tokens = counts
            self.longest = np.maximum(self.longest, longest)
        flat_sides = list(map(texts_of, self.sides))
        properties = codepoints.properties()
        self.visible = [any_visible(*flat, properties) for flat in flat_sides]
        tokens = [self.source_tokens, self.target_tokens, self.translation_tokens]
        self.words = [
            words_of_tokens(side, count, properties) if config.tokens.kind == "words" else count
            for side, count in zip(flat_sides, tokens, strict=False)
        ]

    @property
    def most_tokens(self) -> np.ndarray:
        """Return the tokens of each pair's longest side ``[pair]``."""
        both = np.maximum(self.source_tokens, self.target_tokens)
        return np.maximum(both, self.translation_tokens)

    @property
    def ratio(self) -> np.ndarray:
        """Return the longest side's words over the shortest one's ``[pair]``."""
        most, least = np.maximum(*self.words[:2]), np.minimum(*self.words[:2])
        for words in self.words[2:]:
            most = np.maximum(most, words)
            least = np.where(self.translated, np.minimum(least, words), least)
        return most / np.maximum(1, least)


def _counts(
    texts: pa.Array, config: ScreenConfig, language: pa.Array
) -> tuple[np.ndarray, np.ndarray]:
    """Return the tokens of each text, and the length of its longest word or token."""
    counts, longest = token_counts(texts, config.tokens, language)
    if not config.countable:
        lengths = pc.utf8_length(texts).to_numpy(zero_copy_only=False)
        counts = -(-lengths.astype(np.int64) // MAX_PIECE_CHARS)
    return counts, longest


Mask = np.ndarray


@dataclasses.dataclass(frozen=True)
class Rule:
    """A rule of the screen.

    Attributes:
        reason: The reason of the pairs that it rejects.
        finds: Returns the pairs of a batch to reject.
        detail: Returns the detail of a reject, by row.
    """

    reason: Reason
    finds: Callable[[Pairs, ScreenConfig], Mask]
    detail: Callable[[Pairs, ScreenConfig, int], str | None] = lambda _pairs, _config, _row: None


def blank_source(pairs: Pairs, _config: ScreenConfig) -> Mask:
    """Flag sources with only white space and invisible characters."""
    return ~pairs.visible[0]


def blank_target(pairs: Pairs, _config: ScreenConfig) -> Mask:
    """Flag targets with only white space and invisible characters."""
    return ~pairs.visible[1]


def blank_translation(pairs: Pairs, _config: ScreenConfig) -> Mask:
    """Flag translations with only white space and invisible characters."""
    return pairs.translated & ~pairs.visible[-1]


def reserved_token(pairs: Pairs, config: ScreenConfig) -> Mask:
    """Flag pairs with a token that is reserved in the output."""
    flags = np.zeros(len(pairs.source), dtype=np.bool_)
    for texts in pairs.sides if config.reserved else ():
        flags |= _matches(texts, config.reserved)
    return flags


def too_long(pairs: Pairs, config: ScreenConfig) -> Mask:
    """Flag pairs with a side over the limit (Ryu et al. 2022, section 3.1.1)."""
    return pairs.most_tokens > config.max_tokens


def long_token(pairs: Pairs, config: ScreenConfig) -> Mask:
    """Flag pairs with a token over the limit."""
    return pairs.longest > config.max_token_chars


def unbalanced(pairs: Pairs, config: ScreenConfig) -> Mask:
    """Flag pairs whose word counts differ too much (Ryu et al. 2022, section 3.1.1)."""
    if not config.countable:
        return np.zeros(len(pairs.source), dtype=np.bool_)
    return pairs.ratio > config.max_ratio


def identical(pairs: Pairs, config: ScreenConfig) -> Mask:
    """Flag pairs with equal sides, if these are to be dropped."""
    if not config.drop_identical:
        return np.zeros(len(pairs.source), dtype=np.bool_)
    return pc.equal(pairs.source, pairs.target).to_numpy(zero_copy_only=False)


def excluded(pairs: Pairs, config: ScreenConfig) -> Mask:
    """Flag pairs with a side among the excluded sentences."""
    if not config.excluded:
        return np.zeros(len(pairs.source), dtype=np.bool_)
    keys = _sorted_keys(config.excluded)
    flags = np.zeros(len(pairs.source), dtype=np.bool_)
    for texts in pairs.sides:
        flags |= _are_among(sentence_keys(texts), keys)
    return flags


def _tokens_over(pairs: Pairs, config: ScreenConfig, row: int) -> str:
    return f"{pairs.most_tokens[row]} tokens > {config.max_tokens}"


def _characters_over(pairs: Pairs, config: ScreenConfig, row: int) -> str:
    return f"{pairs.longest[row]} characters > {config.max_token_chars}"


def _ratio_over(pairs: Pairs, config: ScreenConfig, row: int) -> str:
    counts = [words[row] for words in pairs.words[: 3 if pairs.translated[row] else 2]]
    shown = " : ".join(f"{count:.1f}".removesuffix(".0") for count in counts)
    counted = "words" if config.tokens.kind == "words" else "tokens"
    return f"{shown} {counted}, ratio {pairs.ratio[row]:.2f} > {config.max_ratio:g}"


RULES = (
    Rule(ScreenReject.EMPTY_SOURCE, blank_source),
    Rule(ScreenReject.EMPTY_TARGET, blank_target),
    Rule(Reject.EMPTY_TRANSLATION, blank_translation),
    Rule(ScreenReject.RESERVED_TOKEN, reserved_token),
    Rule(ScreenReject.TOO_LONG, too_long, _tokens_over),
    Rule(ScreenReject.LONG_TOKEN, long_token, _characters_over),
    Rule(ScreenReject.LENGTH_RATIO, unbalanced, _ratio_over),
    Rule(ScreenReject.IDENTICAL, identical),
    Rule(ScreenReject.EXCLUDED, excluded),
)
"""The rules in the order in which they are checked; the first that flags a pair is its reason."""


def screen(batch: pa.RecordBatch, config: ScreenConfig) -> pa.RecordBatch:
    """Give a reason to each pair that a rule rejects; rows that are already rejected keep theirs.

    Rejected rows lose their long texts (`transforms.shards.rejected_texts`), unless the
    configuration says otherwise, because no later step needs them.

    Args:
        batch: Rows (`schemas.ROWS`).
        config: The limits.

    Returns:
        The same rows in the same order.
    """
    judged = _judge(batch, config)
    if config.keeps_long_texts or judged.column("reason").null_count == judged.num_rows:
        return judged
    return leave_out_long_texts(judged)


def _judge(batch: pa.RecordBatch, config: ScreenConfig) -> pa.RecordBatch:
    open_rows = np.flatnonzero(batch.column("reason").is_null().to_numpy(zero_copy_only=False))
    if not len(open_rows):
        return batch
    whole = len(open_rows) == batch.num_rows
    pairs = Pairs(batch if whole else batch.take(pa.array(open_rows)), config)
    reasons: dict[int, tuple[Reason, str | None]] = {}
    unrejected = np.ones(len(open_rows), dtype=np.bool_)
    for rule in RULES:
        hits = np.flatnonzero(rule.finds(pairs, config) & unrejected)
        unrejected[hits] = False
        for row in hits.tolist():
            reasons[int(open_rows[row])] = (rule.reason, rule.detail(pairs, config, row))
    return with_reasons(batch, reasons, Stage.SCREEN) if reasons else batch


def with_reasons(
    batch: pa.RecordBatch, reasons: Mapping[int, tuple[Reason, str | None]], stage: Stage
) -> pa.RecordBatch:
    """Return rows (`schemas.ROWS`) with a reason and a detail for some of them."""
    rows = np.array(sorted(reasons), dtype=np.int64)
    mask = np.zeros(batch.num_rows, dtype=np.bool_)
    mask[rows] = True
    problems = [reasons[row] for row in rows.tolist()]
    news = {
        "stage": [str(stage)] * len(problems),
        "reason": [str(reason) for reason, _ in problems],
        "detail": [detail for _, detail in problems],
    }
    columns = batch.columns
    for name, values in news.items():
        field = schemas.ROWS.field(name)
        old = batch.column(name).cast(pa.string())
        new = pc.replace_with_mask(old, pa.array(mask), pa.array(values, type=pa.string()))
        columns[schemas.ROWS.get_field_index(name)] = new.cast(field.type)
    return pa.RecordBatch.from_arrays(columns, schema=schemas.ROWS)


def _matches(texts: pa.Array, pattern: str) -> Mask:
    return pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)


@functools.lru_cache(maxsize=2)
def _sorted_keys(keys: frozenset[int]) -> np.ndarray:
    return np.sort(np.fromiter(keys, dtype=np.uint64, count=len(keys)))


def _are_among(keys: np.ndarray, known: np.ndarray) -> Mask:
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return known[places] == keys


def sentence_keys(texts: pa.Array) -> np.ndarray:
    """Return a key for each sentence that case, spacing and compatibility forms do not change.

    Returns:
        xxh3-64 of the text in NFKC, case-folded, with white space joined, uint64 ``[text]``.
    """
    view = pc.replace_substring_regex(pc.utf8_normalize(texts, form="NFKC"), r"[\s\p{Z}]+", " ")
    view = pc.utf8_trim_whitespace(view)
    keys = (xxhash.xxh3_64_intdigest(text.casefold().encode()) for text in view.to_pylist())
    return np.fromiter(keys, dtype=np.uint64, count=len(texts))


def load_exclude(patterns: Iterable[str]) -> frozenset[int]:
    """Return the keys of the sentences of dev and test files, which have one sentence per line.

    Args:
        patterns: Files or globs; plain, ``.gz`` or ``.zst``.

    Raises:
        InputError: A file does not exist or is not UTF-8 text.
    """
    keys: set[int] = set()
    for pattern in patterns:
        files.require_regular(pattern, "write its text to a file")
        paths = files.match(pattern)
        if not paths:
            raise InputError("no_match", pattern, "no such file; give the files of --exclude")
        for path in paths:
            keys.update(_file_keys(path))
    return frozenset(keys)


def _file_keys(path: str) -> list[int]:
    sentences = [line.strip() for line in read_text_lines(path)]
    keys = sentence_keys(pa.array([text for text in sentences if text], type=pa.string()))
    return [int(key) for key in keys]
