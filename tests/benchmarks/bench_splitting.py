"""Sentence splitting: boundaries that are found again in joined sentences, by splitter.

    pytest -m bench -n 0 -s tests/benchmarks/bench_splitting.py

Runs of up to six sentences, each of which ends in punctuation, are joined and split again. Messages
of catalogues may hold several sentences, so that precision is too low there for all splitters.
Splitters that are not installed are left out.
"""

import gzip
import importlib
import re
import time
from pathlib import Path

import polib
import pytest

from pairweave.transforms.text.sentence_splitter import split_sentences

pytestmark = pytest.mark.bench

ENDS = re.compile(r"[.!?…。।؟:;\uff01\uff1f][\s'\"»”\u2019)\]“\u2018«」』]*$")
MOST = 6
LINES = 12_000
CATALOGUES = ("zh_Hans", "ja", "hi", "ar", "ru", "ko", "es", "pl", "el", "fa")


def _pysbd(language):
    library = importlib.import_module("pysbd")
    try:
        return library.Segmenter(language=language, clean=False).segment
    except ValueError:
        return library.Segmenter(language="en", clean=False).segment


def _icu(language):
    breaker = importlib.import_module("icu4py.breakers").SentenceBreaker
    return lambda text: list(breaker(text, language))


def _blingfire(_language):
    library = importlib.import_module("blingfire")
    return lambda text: library.text_to_sentences(text).split("\n")


def _splitter(language):
    library = importlib.import_module("sentence_splitter")
    try:
        return library.SentenceSplitter(language=language).split
    except library.SentenceSplitterException:
        return library.SentenceSplitter(language="en").split


def _spacy(language):
    library = importlib.import_module("spacy")
    try:
        pipe = library.blank(language)
    except ImportError:
        pipe = library.blank("xx")
    pipe.add_pipe("sentencizer")
    return lambda text: [sentence.text for sentence in pipe(text).sents]


def _syntok(_language):
    library = importlib.import_module("syntok.segmenter")

    def split(text):
        for paragraph in library.analyze(text):
            for words in paragraph:
                yield text[words[0].offset : words[-1].offset + len(words[-1].value)]

    return split


def _sentencex(language):
    library = importlib.import_module("sentencex")
    return lambda text: library.segment(language, text)


def _ours(language):
    return lambda text: [text[start:end] for start, end in split_sentences(text, language)]


SPLITTERS = {
    "sentencex and titles (ours)": _ours,
    "sentencex": _sentencex,
    "icu4py": _icu,
    "pysbd": _pysbd,
    "blingfire": _blingfire,
    "sentence-splitter": _splitter,
    "spaCy sentencizer": _spacy,
    "syntok": _syntok,
}


def read_texts(shared_data):
    """Return lines by name and language."""
    result = {}
    for stem, language in (("en-de", "en"), ("en-de", "de"), ("en-fr", "fr")):
        path = shared_data / "parallel" / f"newstest.{stem}.{language}.gz"
        result["news", language] = gzip.decompress(path.read_bytes()).decode().split("\n")[:LINES]
    for language in ("en", "de", "fr", "hu"):
        text = (shared_data / "tagged" / f"eurlex-dev.{language}").read_text(encoding="utf-8")
        plain = re.sub(r"<[^>]*>", " ", text).split("\n")
        result["eurlex", language] = [" ".join(line.split()) for line in plain]
    for name in ("candide-fr", "emma", "travailleurs"):
        for language in ("en", "fr"):
            path = shared_data / "sentences/novels-dev" / f"{name}.{language}"
            result[name, language] = path.read_text(encoding="utf-8").split("\n")
    for language in ("de", "fr"):
        path = shared_data / "sentences" / f"bleualign-dev.{language}"
        result["bleualign-dev", language] = path.read_text(encoding="utf-8").split("\n")
    for language in CATALOGUES:
        result["messages", language[:2]] = list(read_messages(language))
    return result


def read_messages(language):
    """Yield translated messages that end like sentences, each once."""
    packages = Path(polib.__file__).parent
    seen = set()
    for path in sorted(packages.glob(f"**/locale/{language}/LC_MESSAGES/*.po")):
        for entry in polib.pofile(str(path)):
            text = " ".join(entry.msgstr.split())
            if text not in seen and "<" not in text and len(text) > 11 and ENDS.search(text):
                seen.add(text)
                yield text


def runs_of(lines, language):
    """Yield sentences that stand together, and what joins them."""
    glue = "" if language in ("zh", "ja") else " "
    run = []
    for line in [*map(str.strip, lines), ""]:
        run += [line] if line else []
        if not line or not ENDS.search(line) or len(run) == MOST:
            if len(run) > 1:
                yield run, glue
            run = []


def score(split, lines, language):
    """Return F1 of boundaries in per cent, characters that are lost, and characters a second."""
    hits = made = gold = lost = size = 0
    seconds = 0.0
    for sentences, glue in runs_of(lines, language):
        text = glue.join(sentences)
        started = time.process_time()
        pieces = list(split(text))
        seconds += time.process_time() - started
        wanted, result, at = set(), set(), 0
        for sentence in sentences:
            at += len("".join(sentence.split()))
            wanted.add(at)
        at = 0
        for piece in pieces:
            at += len("".join(piece.split()))
            result.add(at)
        size += len(text)
        lost += "".join("".join(pieces).split()) != "".join(text.split())
        end = {len("".join(text.split()))}
        hits += len(result & wanted - end)
        made += len(result - end)
        gold += len(wanted - end)
    return 200 * hits / max(made + gold, 1), lost, size / max(seconds, 1e-9)


def test_boundaries_are_found_again(shared_data):
    texts = read_texts(shared_data)
    for name, make in SPLITTERS.items():
        try:
            actual = {key: score(make(key[1]), lines, key[1]) for key, lines in texts.items()}
        except ImportError:
            print(f"\n{name}: not installed")
            continue
        shown = ", ".join(f"{' '.join(key)} {each[0]:.1f}" for key, each in actual.items())
        altered = sum(each[1] for each in actual.values())
        speed = actual["news", "en"][2] / 1e6
        print(f"\n{name}: {shown}; {altered} texts altered; {speed:.1f} M characters/s")
        if make is _ours:
            assert not altered
            assert min(actual["news", language][0] for language in ("en", "de", "fr")) > 95
