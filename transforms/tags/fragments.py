"""Find fragments in TOKENS rows: runs of words whose translations occur on the other side.

Hanneman and Dinu (2020, section 3.1) assume that if a part of the source, translated out of
context, is found in the target, the two correspond. Here, it must also occur exactly once.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from pydantic import Field

from pairweave.transforms import ids, schemas
from pairweave.transforms.arrow.flat_columns import fields_of, list_column, texts_of
from pairweave.transforms.config import Config, Seed, Share
from pairweave.transforms.kernels import sampling
from pairweave.transforms.kernels.hmm import fragments as kernel
from pairweave.transforms.kernels.hmm.fragments import Translations
from pairweave.transforms.kernels.tags.elements import Phrases
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.text import words as word_kernels
from pairweave.transforms.kernels.text.spans import FlatSpans
from pairweave.transforms.markup.own_markup import keep_whole
from pairweave.transforms.tags.injection_options import (
    FRAGMENT_TAGS,
    FRAGMENT_WORDS,
    MaxTags,
    Nesting,
)
from pairweave.transforms.text import codepoints
from pairweave.transforms.text.segmenter import NONE
from pairweave.transforms.text.whole_words import pair_cuts

CHUNK_PAIRS = 8_192
"""Number of pairs whose fragments are in memory and translated together."""

_FIRST_STEP = 8
_LAST_STEP = 64
"""Number of a pair's fragments translated at a time; it doubles from the first step to the last."""


class FragmentConfig(Config):
    """Settings of the search for fragments.

    The defaults are those of Hanneman and Dinu (2020, section 5.1).

    Attributes:
        max_words: Longest fragment, in words.
        max_tags: Maximum number of fragments in a pair.
        nesting: Whether fragments may cross (`transforms.tags.injection_options`).
        segmenter: Finds words in scripts without spaces (`transforms.text.segmenter`).
        punctuation: Accept a match in the target without a letter or digit.
        share: Share of the pairs that are to have fragments. Pairs are tried in hash order, and a
            pair without fragments is replaced by the next; a smaller share selects a subset of the
            pairs of a larger one.
    """

    seed: Seed = 1
    max_words: int = Field(FRAGMENT_WORDS, ge=1, le=64, title="max_words of a fragment")
    max_tags: MaxTags = FRAGMENT_TAGS
    nesting: Nesting = "proper"
    segmenter: str = NONE
    punctuation: bool = False
    share: Share = Field(1.0, title="the share of tagged pairs")


class FragmentTranslator(Protocol):
    """Translates fragments out of context, many at a time."""

    @property
    def translates_words_cheaply(self) -> bool:
        """Return True if translating every single word of a sentence is cheap."""
        ...

    def translate(
        self, fragments: Sequence[str], source_lang: str, target_lang: str
    ) -> Translations:
        """Return the translations of each fragment, best first; may be empty."""
        ...


class FoundFragments(NamedTuple):
    """Fragments found in a table.

    Attributes:
        table: The same pairs, with the accepted fragments as phrase pairs, in order of acceptance
            (`transforms.schemas.PHRASES`, without links).
        tagged: Whether each pair is to have tags, bool ``[pair]``.
        counts: Counts for the receipt.
    """

    table: pa.Table
    tagged: np.ndarray
    counts: dict[str, int]


class Words(NamedTuple):
    """The words of texts.

    Attributes:
        offsets: Offsets of the texts' words, int64 ``[text + 1]``, from 0.
        starts: First code point of each word, int32.
        ends: The code point after it, int32.
        hashes: Hash of its folded letters, uint64.
        wordlike: Whether it has a letter or digit, bool.
    """

    offsets: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    hashes: np.ndarray
    wordlike: np.ndarray


def hash_words(
    texts: pa.Array | pa.ChunkedArray, tokens: pa.Array | pa.ChunkedArray
) -> tuple[Words, np.ndarray, np.ndarray]:
    """Fold and hash the tokens of texts.

    Returns:
        The words; the offsets of their letters, int64 ``[word + 1]``; and the folded letters,
        int32.
    """
    data, text_offsets = texts_of(texts)
    offsets, spans = fields_of(tokens)
    inside = slice(offsets[0], offsets[-1])
    offsets = offsets - offsets[0]
    starts, ends = spans["start"][inside], spans["end"][inside]
    begins, letters = word_kernels.fold_tokens(
        data, text_offsets, offsets, starts, ends, *word_kernels.folding()
    )
    hashes = word_kernels.hash_tokens(begins, letters, 1 << 30)
    real = (codepoints.properties()[letters] & utf8.WORD) != 0
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(real)])
    wordlike = before[begins[1:]] > before[begins[:-1]]
    return Words(offsets, starts, ends, hashes, wordlike), begins, letters


def find_fragments(
    table: pa.Table, translator: FragmentTranslator, config: FragmentConfig
) -> FoundFragments:
    """Find fragments whose translations occur in the target.

    The seed and the pair determine the order in which a pair's fragments are tried. A fragment is
    accepted if its best translation that occurs in the target occurs exactly once, if none of its
    other translations occurs elsewhere, and if it nests with the fragments accepted before. In a
    shard of n pairs, the first ``share * n`` pairs with fragments, in the order of a hash, are to
    be tagged.

    Each fragment is translated once, in batches, and only the last batch may translate more than
    is needed. Neither the batch size nor other pairs affect the result.

    Args:
        table: Pairs with words (`transforms.schemas.TOKENS`).
        translator: The translator.
        config: The settings.
    """
    schemas.require(table, schemas.TOKENS)
    keys = ids.pair_keys(table.column("id"))
    search = _Search(table, translator, config, keys)
    wanted = math.ceil(round(config.share * len(keys), 6))
    order = np.lexsort((keys, sampling.draws(np.uint64(config.seed), keys, sampling.STEP_MIX)))
    tagged = np.zeros(len(keys), np.bool_)
    looked = accepted = 0
    while accepted < wanted and looked < len(keys):
        more = min(CHUNK_PAIRS, (wanted - accepted) * 17 // 16 + 4)
        chunk = order[looked : looked + more]
        search.run(chunk)
        fine = chunk[search.counts[chunk] > 0][: wanted - accepted]
        tagged[fine] = True
        accepted += len(fine)
        looked += len(chunk)
    counts = {
        "tried_pairs": looked,
        "wanted_pairs": wanted,
        "tried_fragments": int(search.tried.sum()),
        "fragments_in_tried_pairs": search.listed,
        **search.work,
    }
    return FoundFragments(
        _with_phrases(table, search.taken, np.where(tagged, search.counts, 0)), tagged, counts
    )


class _Search:
    """A search through a table, in chunks of pairs."""

    def __init__(
        self,
        table: pa.Table,
        translator: FragmentTranslator,
        config: FragmentConfig,
        keys: np.ndarray,
    ) -> None:
        self._table = table
        self._translator = translator
        self._config = config
        self._keys = keys
        self._languages = _languages(table)
        self._caches: dict[tuple[str, str], _Cache] = {}
        self.work = Counter({"translator_calls": 0, "translated_fragments": 0})
        self.taken = np.zeros((len(keys), config.max_tags, 4), np.int16)
        self.counts = np.zeros(len(keys), np.int64)
        self.tried = np.zeros(len(keys), np.int64)
        self.listed = 0

    def run(self, rows: np.ndarray) -> None:
        """Search the given pairs, by language."""
        for languages in sorted({self._languages[row] for row in rows.tolist()}):
            own = np.array([row for row in rows.tolist() if self._languages[row] == languages])
            cache = self._caches.get(languages)
            if cache is None:
                cache = _Cache(self._translator, languages, self.work)
                self._caches[languages] = cache
            self._search(own, cache)
            if self._translator.translates_words_cheaply:
                cache.clear()

    def _search(self, rows: np.ndarray, cache: "_Cache") -> None:
        table = self._table.take(pa.array(rows))
        config, free = self._config, int(self._config.nesting == "free")
        texts = table.column("source").to_pylist()
        source, target = (
            hash_words(table.column(side), table.column(f"{side}_tokens"))[0]
            for side in ("source", "target")
        )
        source_cuts, target_cuts = (
            cuts.flatten().to_numpy(zero_copy_only=False)
            for cuts in pair_cuts(table, config.segmenter)
        )
        sentences = kernel.Sentences(source.offsets, source.hashes, source.wordlike, source_cuts)
        targets = kernel.Sentences(
            target.offsets, target.hashes, target.wordlike | config.punctuation, target_cuts
        )
        fragments = kernel.list_fragments(
            np.uint64(config.seed), self._keys[rows], sentences, config.max_words
        )
        begins, starts, ends = fragments
        self.listed += len(starts)
        taken = np.zeros((len(rows), config.max_tags, 4), np.int16)
        counts, tried = np.zeros((2, len(rows)), np.int64)
        already = kernel.Taken(taken, counts, tried)
        cursors = begins[:-1].copy()
        meanings = np.zeros(0, np.int64)
        if self._translator.translates_words_cheaply:
            words = np.arange(len(source.starts))
            owners = np.repeat(np.arange(len(rows)), np.diff(source.offsets))
            meanings = cache.numbers(_cut(texts, source, owners, words, words))
        active = np.arange(len(rows))
        step = _FIRST_STEP
        while len(active):
            bounds, chosen = kernel.next_fragments(active, fragments, cursors, already, step, free)
            owners = np.repeat(active, np.diff(bounds))
            first = source.offsets[owners] + starts[chosen]
            last = source.offsets[owners] + ends[chosen] - 1
            numbers = cache.numbers(_cut(texts, source, owners, first, last))
            kernel.take_fragments(
                active,
                FlatSpans(bounds, starts[chosen], ends[chosen]),
                numbers,
                cache.translations(),
                kernel.Meanings(source.offsets, meanings),
                targets,
                free,
                already,
            )
            left = (counts[active] < config.max_tags) & (cursors[active] < begins[active + 1])
            active = active[left]
            step = min(2 * step, _LAST_STEP)
        kept = _keep_whole(table, taken, counts)
        self.taken[rows], self.counts[rows], self.tried[rows] = kept, counts, tried


def _keep_whole(table: pa.Table, taken: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Drop fragments that would split an element of a text's own markup; update the counts."""
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    used = np.arange(taken.shape[1]) < counts[:, None]
    boxes = np.ascontiguousarray(taken[used].T)
    whole = keep_whole(table, Phrases(offsets, boxes, np.zeros(0, np.float32)))
    counts[:] = np.diff(whole.offsets)
    kept = np.zeros_like(taken)
    kept[np.arange(taken.shape[1]) < counts[:, None]] = whole.boxes.T
    return kept


class _Cache:
    """The translations of fragments in one language pair."""

    def __init__(
        self,
        translator: FragmentTranslator,
        languages: tuple[str, str],
        counts: Counter[str],
    ) -> None:
        self._translator = translator
        self._languages = languages
        self._counts = counts
        self.clear()

    def clear(self) -> None:
        """Drop all translations."""
        self._numbers: dict[str, int] = {}
        none = np.zeros(1, np.int64)
        self._translations = Translations(none, none, np.zeros(0, np.uint64))

    def numbers(self, fragments: Iterator[str]) -> np.ndarray:
        """Return the number of each fragment, int64; translate the new ones in one call."""
        known = self._numbers
        before = len(known)
        numbers = [known.setdefault(fragment, len(known)) for fragment in fragments]
        fresh = list(known)[before:]
        if fresh:
            self._counts["translator_calls"] += 1
            self._counts["translated_fragments"] += len(fresh)
            old, new = self._translations, self._translator.translate(fresh, *self._languages)
            self._translations = Translations(
                np.concatenate([old.offsets, new.offsets[1:] + old.offsets[-1]]),
                np.concatenate([old.word_offsets, new.word_offsets[1:] + old.word_offsets[-1]]),
                np.concatenate([old.words, new.words]),
            )
        return np.array(numbers, np.int64)

    def translations(self) -> Translations:
        """Return all translations, by the fragments' numbers."""
        return self._translations


def _cut(
    texts: list[str], words: Words, owners: np.ndarray, first: np.ndarray, last: np.ndarray
) -> Iterator[str]:
    """Yield the text from each first to each last word."""
    spans = zip(
        owners.tolist(), words.starts[first].tolist(), words.ends[last].tolist(), strict=True
    )
    for owner, start, end in spans:
        yield texts[owner][start:end]


def _languages(table: pa.Table) -> list[tuple[str, str]]:
    sides = (table.column(f"{side}_lang").to_pylist() for side in ("source", "target"))
    return list(zip(*sides, strict=True))


def _with_phrases(table: pa.Table, taken: np.ndarray, counts: np.ndarray) -> pa.Table:
    """Return PHRASES rows whose phrase pairs are the first ``counts`` accepted fragments."""
    rows = table.num_rows
    used = np.arange(taken.shape[1]) < counts[:, None]
    boxes = taken[used]
    names = [field.name for field in schemas.PHRASE]
    columns = [*boxes.T, np.ones(len(boxes), np.float32)]
    phrases = list_column(
        np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
        dict(zip(names, columns, strict=True)),
        schemas.PHRASE_LIST,
    )
    no_links = pa.array([[]] * rows, schemas.LINK_LIST)
    table = table.append_column(schemas.PHRASES.field("links"), no_links)
    return table.append_column(schemas.PHRASES.field("phrases"), phrases)
