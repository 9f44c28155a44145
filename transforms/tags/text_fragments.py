"""Use any translator of texts as a translator of fragments (`transforms.tags.fragments`)."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from pairweave.transforms.arrow.flat_columns import chunk_of
from pairweave.transforms.kernels.hmm.fragments import Translations
from pairweave.transforms.tags.fragments import hash_words
from pairweave.transforms.text.tokens import TokenConfig, tokenize


@dataclasses.dataclass(frozen=True)
class TextFragments:
    """Adapts a translator of texts to `FragmentTranslator`.

    Many translators end everything with a full stop. If a translation ends with a mark and its
    fragment does not, the translation without the mark is a second candidate.

    Attributes:
        translate_texts: Translates texts from one language to another; a result that is not a
            string means no translation.
        tokens: How text is tokenized.
    """

    translate_texts: Callable[[Sequence[str], str, str], Sequence[object]]
    tokens: TokenConfig

    @property
    def translates_words_cheaply(self) -> bool:
        """Return False: every word would be a text to translate."""
        return False

    def translate(
        self, fragments: Sequence[str], source_lang: str, target_lang: str
    ) -> Translations:
        """Translate fragments, then tokenize and hash the translations."""
        translations = self.translate_texts(fragments, source_lang, target_lang)
        texts = [text if isinstance(text, str) else "" for text in translations]
        sources, targets = (
            hash_words(column, chunk_of(tokenize(column, self.tokens, language)))[0]
            for column, language in (
                (pa.array(fragments, pa.string()), source_lang),
                (pa.array(texts, pa.string()), target_lang),
            )
        )
        offsets, word_offsets, words = [0], [0], []
        for fragment in range(len(texts)):
            own = slice(targets.offsets[fragment], targets.offsets[fragment + 1])
            last = sources.offsets[fragment + 1] - 1
            ends = [own.stop]
            if own.stop - own.start > 1 and not targets.wordlike[own.stop - 1]:
                ends += [own.stop - 1] if sources.wordlike[last] else []
            for end in ends if own.stop > own.start else []:
                words.append(targets.hashes[own.start : end])
                word_offsets.append(word_offsets[-1] + end - own.start)
            offsets.append(len(words))
        return Translations(
            np.array(offsets, np.int64),
            np.array(word_offsets, np.int64),
            np.concatenate([np.zeros(0, np.uint64), *words]),
        )
