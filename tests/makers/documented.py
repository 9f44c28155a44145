"""The files that the commands of the documentation name, from the artificial grammar."""

import gzip
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import sentencepiece

from tests.makers import corpora, runs

RUNS = frozenset({"tagged", "linked", "suggestions"})
"""Finished runs among the files."""

PAIRS = 300
LANGS = ("--source_lang", "en", "--target_lang", "de", "--workers", 1)


def write_inputs(directory: Path) -> None:
    """Write corpora in every format, documents, links, texts with tags, and three finished runs."""
    corpora.write_corpus(directory, PAIRS)
    english, german = zip(*map(corpora.sentence, range(PAIRS)), strict=True)
    worse = [text.replace("alte", "neue").replace("mag", "sieht") for text in german]
    _write_texts(directory, english, german, worse)
    _write_formats(directory, english, german)
    _write_markup(directory, english, german)
    _write_links(directory)
    _write_runs(directory)


def _lines(path: Path, texts) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(f"{text}\n" for text in texts).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def _write_texts(directory, english, german, worse):
    _lines(directory / "corpus.mt.de.gz", worse)
    _lines(directory / "corpus.en.gz", english)
    _lines(directory / "corpus.de.gz", german)
    _lines(directory / "crawl.en.gz", (*english[:200], *english[:9]))
    _lines(directory / "crawl.de.gz", (*german[:200], *english[:9]))
    # Text of another language would be no better: nothing knows what French looks like.
    for side, texts in (("en", english), ("fr", german)):
        _lines(directory / f"news.{side}.gz", texts)
        for name in ("one", "two"):
            _lines(directory / "novels" / f"{name}.{side}", texts[:60])
    for side, texts in (("de", german), ("fr", english)):
        _lines(directory / f"clean.{side}.gz", texts)
        for name in ("one", "two"):
            _lines(directory / "documents" / f"{name}.{side}", texts[:60])
    for side, texts in (("en", english), ("de", german)):
        _lines(directory / "news" / f"first.{side}.gz", texts[:150])
        _lines(directory / "dev" / f"newstest.{side}", texts[290:])
        for name in ("one", "two"):
            _lines(directory / "documents" / side / f"{name}.txt", texts[:60])


def _write_formats(directory, english, german):
    pairs = list(zip(english, german, strict=True))
    _lines(directory / "corpus.tsv", ("\t".join(pair) for pair in pairs))
    quoted = (f'"{one}","{two}"' for one, two in pairs)
    _lines(directory / "corpus.csv", ("source,target", *quoted))
    (directory / "help").mkdir()
    shutil.copy(directory / "corpus.tsv", directory / "help" / "one.tsv")
    mined = (f"{1 + number % 20 / 100}\t{two}\t{one}" for number, (one, two) in enumerate(pairs))
    _lines(directory / "WikiMatrix.de-en.tsv.gz", mined)
    _lines(directory / "labelled.tsv", (f"{one}\t{two}" for one, two in pairs[:40]))
    _lines(directory / "labels.txt", (number % 2 for number in range(40)))
    rows = [{"source": one, "target": two} for one, two in pairs]
    _lines(directory / "help" / "two.jsonl", map(json.dumps, rows))
    _lines(
        directory / "corpus.jsonl",
        (json.dumps({"en": one, "de": two}) for one, two in pairs),
    )
    pq.write_table(pa.table({"source": english, "target": german}), directory / "corpus.parquet")
    entries = [f'msgid "{one}"\nmsgstr "{two}"\n' for one, two in dict(pairs).items()]
    _lines(directory / "corpus.po", ('msgid ""\nmsgstr "Language: de\\n"\n', *entries))
    units = [
        f'<tu><tuv xml:lang="en"><seg>{_bold(one)}</seg></tuv>'
        f'<tuv xml:lang="de"><seg>{_bold(two)}</seg></tuv></tu>'
        for one, two in pairs
    ]
    _lines(
        directory / "corpus.tmx",
        ('<tmx version="1.4"><header srclang="en"/><body>', *units, "</body></tmx>"),
    )
    units = [
        f'<trans-unit id="{number}"><source>{one}</source><target>{two}</target></trans-unit>'
        for number, (one, two) in enumerate(pairs)
    ]
    head = '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">'
    head += '<file original="a" datatype="plaintext" source-language="en" target-language="de">'
    _lines(directory / "corpus.xlf", (f"{head}<body>", *units, "</body></file></xliff>"))


def _bold(text):
    """Return a text with an element around its second word."""
    first, second, rest = text.split(" ", 2)
    return f'{first} <bpt i="1">b</bpt>{second}<ept i="1">/b</ept> {rest}'


def _write_markup(directory, english, german):
    marked = []
    for text in english[:50]:
        first, second, rest = text.split(" ", 2)
        marked.append(f'{first} <g id="1">{second}</g> {rest}')
    _lines(directory / "src.txt", marked)
    for name in ("test.en", "test.de", "test.fr", "test.hu", "masked.de"):
        _lines(directory / name, marked)
    _lines(directory / "tagged.txt", marked)
    for side, texts in (("en", english), ("de", german)):
        words = [text.split(" ", 2) for text in texts]
        tagged = (f"{first} <b>{second}</b> {rest}" for first, second, rest in words)
        _lines(directory / f"docs.{side}", tagged)
    _lines(directory / "mt.sym", german[:50])
    _lines(directory / "mt.plain", german[:50])
    _lines(directory / "plain.en", english)
    _lines(directory / "plain.de", german)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter((*english, *german)),
        model_prefix=str(directory / "old"),
        vocab_size=200,
        hard_vocab_limit=False,
        minloglevel=2,
    )


def _write_links(directory):
    lines = (directory / "corpus.en").read_bytes().count(b"\n")
    for name in ("corpus.fwd", "corpus.rev", "giza/model/aligned.grow-diag-final-and"):
        _lines(directory / name, ["0-0" if number > 200 else "" for number in range(lines)])
    _lines(directory / "forward.links", ["0-0 1-1 1-2"] * 3)
    _lines(directory / "reverse.links", ["0-0 1-1 2-2"] * 3)


def _write_runs(directory):
    files = ("--source_input", "corpus.en.gz", "--target_input", "corpus.de.gz", *LANGS)
    rough = ("--source_input", "corpus.en", "--target_input", "corpus.de", *LANGS)
    runs.run_well_here("augment", *rough, "--keep_links", "--output", "tagged", cwd=directory)
    runs.run_well_here("align", *files, "--output", "linked", cwd=directory)
    more = ("--translation_input", "corpus.mt.de.gz", "--output", "suggestions")
    runs.run_well_here("suggest", *files, *more, cwd=directory)
