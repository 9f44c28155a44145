"""TOKENS rows to fragments: runs of words whose translations stand on the other side.

The hypothesis of Hanneman and Dinu (2020, section 3.1): if a piece of the source, translated out of
context, is found in the target, the two correspond. Unlike there, what is found must be found once.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from pydantic import Field

from pairweave.transforms import ids, schemas
from pairweave.transforms.arrow.flat_lists import fields_of, list_column
from pairweave.transforms.arrow.flat_texts import texts_of
from pairweave.transforms.config import Seeded, Share
from pairweave.transforms.kernels import sampling
from pairweave.transforms.kernels.hmm import fragments as kernel
from pairweave.transforms.kernels.hmm.fragments import Translations
from pairweave.transforms.kernels.tags.elements import Phrases
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.text import words as word_kernels
from pairweave.transforms.kernels.text.spans import FlatSpans
from pairweave.transforms.markup.own_markup import keep_whole
from pairweave.transforms.tags.injection_options import FragmentOptions
from pairweave.transforms.text import codepoints
from pairweave.transforms.text.segmenter import NONE
from pairweave.transforms.text.tokens import pair_cuts

CHUNK_PAIRS = 8_192
"""Pairs whose fragments are in memory at a time, and are translated in common batches."""

_FIRST_STEP = 8
_LAST_STEP = 64
"""Fragments of a pair that are translated at a time: twice as many each time, up to this."""


class FragmentConfig(FragmentOptions, Seeded):
    """Which fragments are sought.

    Attributes:
        segmenter: What finds words of scripts without spaces (`transforms.text.segmenter`).
        punctuation: Let the place in the target hold neither a letter nor a digit.
        share: Share of the pairs that shall have fragments. Pairs come in the order of a hash, and
            one that has none is made good by the next, so a smaller share's are among a larger's.
    """

    segmenter: str = NONE
    punctuation: bool = False
    share: Share = Field(1.0, title="the share of tagged pairs")


class FragmentTranslator(Protocol):
    """Translates fragments out of context, many at a time."""

    @property
    def knows_words(self) -> bool:
        """Tell whether single words cost so little that all of a sentence may be asked for."""
        ...

    def translate(
        self, fragments: Sequence[str], source_lang: str, target_lang: str
    ) -> Translations:
        """Return the translations of each fragment, best first; none where it knows none."""
        ...


class Found(NamedTuple):
    """What was found in a table.

    Attributes:
        table: The same pairs; the fragments that were taken are their phrase pairs, in order of
            the taking (`transforms.schemas.PHRASES`, without links).
        tagged: Which pairs are to have tags, bool ``[pair]``.
        counts: What was done, for the receipt.
    """

    table: pa.Table
    tagged: np.ndarray
    counts: dict[str, int]


class Words(NamedTuple):
    """Words of some texts.

    Attributes:
        offsets: Where each text's words begin, int64 ``[text + 1]``, from 0.
        starts: First code point of each word, int32.
        ends: The code point behind it, int32.
        hashes: Hash of its folded letters, uint64.
        wordlike: Whether it holds a letter or a digit, bool.
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
        The words; where the letters of each begin, int64 ``[word + 1]``; and the folded letters,
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
) -> Found:
    """Find fragments of pairs whose translations stand in the target.

    The fragments of a pair come in an order that the seed and the pair decide, and one is taken if
    its translation, or the best of several that is there at all, stands in the target exactly once;
    if no other of its translations stands elsewhere; and if it nests with those taken before. Of a
    shard of n pairs, the first ``share * n`` in the order of a hash that have any are to be tagged.

    Fragments are translated in batches, each once, and no more than are needed but for the rest of
    the last batch; neither the size of batches nor other pairs decide what is found.

    Args:
        table: Pairs with words (`transforms.schemas.TOKENS`).
        translator: The translator.
        config: Which fragments.
    """
    schemas.require(table, schemas.TOKENS)
    keys = ids.pair_keys(table.column("id"))
    search = _Search(table, translator, config, keys)
    wanted = math.ceil(round(config.share * len(keys), 6))
    order = np.lexsort((keys, sampling.draws(np.uint64(config.seed), keys, sampling.STEP_MIX)))
    tagged = np.zeros(len(keys), np.bool_)
    looked = found = 0
    while found < wanted and looked < len(keys):
        more = min(CHUNK_PAIRS, (wanted - found) * 17 // 16 + 4)
        chunk = order[looked : looked + more]
        search.run(chunk)
        fine = chunk[search.counts[chunk] > 0][: wanted - found]
        tagged[fine] = True
        found += len(fine)
        looked += len(chunk)
    counts = {
        "pairs tried": looked,
        "pairs wanted": wanted,
        "fragments tried": int(search.tried.sum()),
        "fragments in pairs tried": search.listed,
        **search.work,
    }
    return Found(
        _with_phrases(table, search.taken, np.where(tagged, search.counts, 0)), tagged, counts
    )


class _Search:
    """The search through a table, some of its pairs at a time."""

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
        self.work = Counter({"translator calls": 0, "fragments translated": 0})
        self.taken = np.zeros((len(keys), config.max_tags, 4), np.int16)
        self.counts = np.zeros(len(keys), np.int64)
        self.tried = np.zeros(len(keys), np.int64)
        self.listed = 0

    def run(self, rows: np.ndarray) -> None:
        """Search some pairs, by language."""
        for languages in sorted({self._languages[row] for row in rows.tolist()}):
            own = np.array([row for row in rows.tolist() if self._languages[row] == languages])
            cache = self._caches.get(languages)
            if cache is None:
                cache = _Cache(self._translator, languages, self.work)
                self._caches[languages] = cache
            self._search(own, cache)
            if self._translator.knows_words:
                cache.forget()

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
        found = kernel.list_fragments(
            np.uint64(config.seed), self._keys[rows], sentences, config.max_words
        )
        begins, starts, ends = found
        self.listed += len(starts)
        taken = np.zeros((len(rows), config.max_tags, 4), np.int16)
        counts, tried = np.zeros((2, len(rows)), np.int64)
        already = kernel.Taken(taken, counts, tried)
        cursors = begins[:-1].copy()
        meanings = np.zeros(0, np.int64)
        if self._translator.knows_words:
            words = np.arange(len(source.starts))
            owners = np.repeat(np.arange(len(rows)), np.diff(source.offsets))
            meanings = cache.numbers(_cut(texts, source, owners, words, words))
        active = np.arange(len(rows))
        step = _FIRST_STEP
        while len(active):
            bounds, chosen = kernel.next_fragments(active, found, cursors, already, step, free)
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
    """Drop the fragments that would part an element of a text's own markup; lower the counts."""
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    used = np.arange(taken.shape[1]) < counts[:, None]
    boxes = np.ascontiguousarray(taken[used].T)
    whole = keep_whole(table, Phrases(offsets, boxes, np.zeros(0, np.float32)))
    counts[:] = np.diff(whole.offsets)
    kept = np.zeros_like(taken)
    kept[np.arange(taken.shape[1]) < counts[:, None]] = whole.boxes.T
    return kept


class _Cache:
    """The translations of one pair of languages, each fragment translated once."""

    def __init__(
        self,
        translator: FragmentTranslator,
        languages: tuple[str, str],
        counts: Counter[str],
    ) -> None:
        self._translator = translator
        self._languages = languages
        self._counts = counts
        self.forget()

    def forget(self) -> None:
        """Drop all translations."""
        self._numbers: dict[str, int] = {}
        none = np.zeros(1, np.int64)
        self._found = Translations(none, none, np.zeros(0, np.uint64))

    def numbers(self, fragments: Iterator[str]) -> np.ndarray:
        """Return the number of each fragment, int64; translate those that are new, in one call."""
        known = self._numbers
        before = len(known)
        numbers = [known.setdefault(fragment, len(known)) for fragment in fragments]
        fresh = list(known)[before:]
        if fresh:
            self._counts["translator calls"] += 1
            self._counts["fragments translated"] += len(fresh)
            old, new = self._found, self._translator.translate(fresh, *self._languages)
            self._found = Translations(
                np.concatenate([old.offsets, new.offsets[1:] + old.offsets[-1]]),
                np.concatenate([old.word_offsets, new.word_offsets[1:] + old.word_offsets[-1]]),
                np.concatenate([old.words, new.words]),
            )
        return np.array(numbers, np.int64)

    def translations(self) -> Translations:
        """Return all translations, by the fragments' numbers."""
        return self._found


def _cut(
    texts: list[str], words: Words, owners: np.ndarray, first: np.ndarray, last: np.ndarray
) -> Iterator[str]:
    """Yield the text from one word to another."""
    spans = zip(
        owners.tolist(), words.starts[first].tolist(), words.ends[last].tolist(), strict=True
    )
    for owner, start, end in spans:
        yield texts[owner][start:end]


def _languages(table: pa.Table) -> list[tuple[str, str]]:
    sides = (table.column(f"{side}_lang").to_pylist() for side in ("source", "target"))
    return list(zip(*sides, strict=True))


def _with_phrases(table: pa.Table, taken: np.ndarray, counts: np.ndarray) -> pa.Table:
    """Return PHRASES rows whose phrase pairs are the first of those taken."""
    rows = table.num_rows
    used = np.arange(taken.shape[1]) < counts[:, None]
    boxes = taken[used]
    names = [field.name for field in schemas.PHRASE]
    columns = [*boxes.T, np.ones(len(boxes), np.float32)]
    phrases = list_column(
        np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
        dict(zip(names, columns, strict=True)),
        schemas.list_of(schemas.PHRASE),
    )
    no_links = pa.array([[]] * rows, schemas.list_of(schemas.LINK))
    table = table.append_column(schemas.PHRASES.field("links"), no_links)
    return table.append_column(schemas.PHRASES.field("phrases"), phrases)
