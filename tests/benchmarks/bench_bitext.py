"""Sentence alignment on gold beads, beside two baselines, and the time of a long document.

The development documents of ``sentences/``: `bleualign-dev` (German and French, fitted on
``multi30k``) and three novels (English and French, fitted on ``newstest``), each with the documents
themselves, as the job does. F1 is strict, in per cent.
"""

import gzip
import resource
import time

import numpy as np
import pyarrow as pa
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.sentences.document_aligning import SURE
from pairweave.models.sentences.paragraph_order import align_in_order
from pairweave.models.sentences.sentence_aligner import (
    DocumentWords,
    align_by_length,
    align_by_words,
)
from pairweave.transforms import schemas
from pairweave.transforms.metrics.sentence_metrics import SentenceScores, score_beads
from pairweave.transforms.sentences.bead_lines import Bead, read_beads
from pairweave.transforms.sentences.sentence_words import cut_words
from pairweave.transforms.text.tokens import TokenConfig, add_tokens, tokenize
from tests.makers.hmm_corpora import translated_lines
from tests.oracles import bleualign_style, gale_church

pytestmark = pytest.mark.bench

NOVELS = ("candide-fr", "emma", "travailleurs")
LONG = 50_000


def read_side(path):
    """Return the sentences of a file, and the paragraph of each."""
    texts, paragraphs, now, fresh = [], [], -1, True
    for line in path.read_text(encoding="utf-8").split("\n"):
        if not line.strip():
            fresh = True
            continue
        now, fresh = now + fresh, False
        texts.append(line)
        paragraphs.append(now)
    return texts, np.array(paragraphs, np.int64)


def read_pair(paths, languages, *, paragraphs=True):
    """Return the sentences of both sides, and the document as the aligner takes it."""
    sides = [read_side(path) for path in paths]
    cut = [
        cut_words(pa.array(texts), TokenConfig(), language)
        for (texts, _), language in zip(sides, languages, strict=True)
    ]
    numbers = [side[1] if paragraphs else np.zeros_like(side[1]) for side in sides]
    return [side[0] for side in sides], DocumentWords(*cut, *numbers)


def tokens_of(pairs, languages):
    """Return pairs of texts as a table for the aligner."""
    count = len(pairs)
    made = {
        "id": [f"{number:032x}" for number in range(count)],
        **dict.fromkeys(("corpus", "file"), ["bench"] * count),
        "source_lang": [languages[0]] * count,
        "target_lang": [languages[1]] * count,
        "line": list(range(count)),
        "source": [pair[0] for pair in pairs],
        "target": [pair[1] for pair in pairs],
        "translation": [None] * count,
    }
    return add_tokens(pa.Table.from_pydict(made, schema=schemas.PAIRS), TokenConfig())


def parallel(folder, stem, languages):
    """Return the line pairs of a parallel corpus that are translations and have text."""
    sides = []
    for language in languages:
        with gzip.open(folder / "parallel" / f"{stem}.{language}.gz", "rt", encoding="utf-8") as f:
            sides.append(translated_lines(stem, f.read().split("\n")[:-1]))
    return [pair for pair in zip(*sides, strict=True) if all(side.strip() for side in pair)]


def beads_of(path):
    """Yield the beads of a path of counts, with sentence numbers from 0."""
    row = column = 0
    for source, target in zip(path.sources.tolist(), path.targets.tolist(), strict=True):
        yield Bead(tuple(range(row, row + source)), tuple(range(column, column + target)))
        row, column = row + source, column + target


def pairs_of(texts, path, least, *, single):
    """Return the pairs of a path that are learned from."""
    return [
        tuple(" ".join(side[number] for number in bead[at]) for at, side in enumerate(texts))
        for bead, score in zip(beads_of(path), path.scores, strict=True)
        if all(bead)
        and score >= least
        and (not single or len(bead.source) == len(bead.target) == 1)
    ]


def f1(found, gold):
    """Return strict F1 in percent."""
    return 100 * SentenceScores(1, *score_beads(found, gold)).as_dict()["strict_f1"]


def translated(texts, model, language):
    """Translate each word by itself, into its likeliest translation."""
    parts = model.parts
    words, others = parts.source.words.to_pylist(), parts.target.words.to_pylist()
    lexicon = parts.lexicon
    table = {}
    for number, word in enumerate(words):
        row = slice(lexicon.row_offsets[number], lexicon.row_offsets[number + 1])
        if row.start < row.stop:
            best = int(np.argmax(lexicon.probabilities[row, 0]))
            table[word] = others[lexicon.columns[row][best]]
    return [[table.get(word, word) for word in sentence] for sentence in folded(texts, language)]


def folded(texts, language):
    """Return the words of each text, case-folded."""
    spans = tokenize(pa.array(texts), TokenConfig(), language).to_pylist()
    return [
        [text[span["start"] : span["end"]].casefold() for span in of_text]
        for text, of_text in zip(texts, spans, strict=True)
    ]


CORPORA = [
    (("bleualign-dev",), ("de", "fr"), "multi30k"),
    (NOVELS, ("en", "fr"), "newstest.en-fr"),
]
"""Names of documents, their languages, and the parallel text that is fitted on as well."""


def read_documents(folder, names, languages):
    """Return the texts and words of documents, and their gold beads, by name."""
    documents, golds = {}, {}
    for name in names:
        stem_of = folder / "novels-dev" / name if name in NOVELS else folder / name
        paths = [stem_of.with_name(f"{name}.{language}") for language in languages]
        documents[name] = read_pair(paths, languages)
        gold = f"{name}.gold" if name in NOVELS else f"{name}.{''.join(languages)}"
        (golds[name],) = read_beads(str(stem_of.with_name(gold)))
    return documents, golds


def align_as_the_job_does(documents, given, languages):
    """Return the paths of both passes by name, and the aligner of the last."""
    first = {name: align_by_length(words) for name, (_, words) in documents.items()}
    result, single, least = first, True, SURE
    for _ in range(2):
        own = [
            pair
            for name, (texts, _) in documents.items()
            for pair in pairs_of(texts, result[name], least, single=single)
        ]
        model = fit(tokens_of([*given, *own], languages), HmmConfig(), 2)
        result = {
            name: align_by_words(words, first[name], model)
            for name, (_, words) in documents.items()
        }
        single, least = False, 0.0
    return first, result, model


@pytest.mark.parametrize(("names", "languages", "stem"), CORPORA)
@pytest.mark.parametrize("fitted_on", ["parallel and documents", "documents"])
def test_gold_beads_are_found(shared_data, names, languages, stem, fitted_on):
    documents, golds = read_documents(shared_data / "sentences", names, languages)
    given = parallel(shared_data, stem, languages) if fitted_on.startswith("parallel") else []
    first, paths_found, model = align_as_the_job_does(documents, given, languages)
    for name, (texts, words) in documents.items():

        def search(part, model=model):
            return align_by_words(part, align_by_length(part), model)

        beads = {
            "Gale and Church": gale_church.align(*texts),
            "BLEU of words": bleualign_style.align(
                translated(texts[0], model, languages[0]), folded(texts[1], languages[1]), *texts
            ),
            "first pass": beads_of(first[name]),
            "second pass": beads_of(paths_found[name]),
            **(
                {"second pass, paragraphs first": beads_of(align_in_order(words, "first", search))}
                if words.comparable_paragraphs
                else {}
            ),
            "second pass, no paragraphs": beads_of(align_in_order(words, "none", search)),
        }
        shown = {
            method: round(f1([Bead(*bead) for bead in actual], golds[name]), 1)
            for method, actual in beads.items()
        }
        print(f"\n{name}, fitted on {fitted_on}: {shown}")
        assert shown["second pass"] > shown["Gale and Church"]
        assert shown["second pass"] > shown["BLEU of words"]


def test_the_time_of_a_long_document(shared_data):
    languages = ("en", "fr")
    pairs = parallel(shared_data, "newstest.en-fr", languages)
    model = fit(tokens_of(pairs, languages), HmmConfig(), 2)
    texts = [[pairs[number % len(pairs)][side] for number in range(LONG)] for side in range(2)]
    # Every hundredth target sentence is missing.
    kept = [number for number in range(LONG) if number % 100 != 50]
    texts[1] = [texts[1][number] for number in kept]
    cut = [
        cut_words(pa.array(side), TokenConfig(), language)
        for side, language in zip(texts, languages, strict=True)
    ]
    words = DocumentWords(*cut, *(np.zeros(len(side), np.int64) for side in texts))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    first = align_by_length(words)
    middle = time.process_time()
    path = align_by_words(words, first, model)
    ended = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    gold = {Bead((source,), (target,)) for target, source in enumerate(kept)}
    share = len(gold.intersection(beads_of(path))) / len(gold)
    print(
        f"\n{len(texts[0])} and {len(texts[1])} sentences: first pass {middle - started:.0f} s, "
        f"second pass {ended - middle:.0f} s, {(peak - before) / 1024:.0f} MiB more at its peak; "
        f"{100 * share:.1f} % of the pairs found"
    )
    assert share > 0.9
