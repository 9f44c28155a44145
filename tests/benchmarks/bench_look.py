"""What the look at a corpus finds, beside what it should not find, and how long it takes.

*Clean corpora*: everything in ``../shared/data`` whose lines are translations of each other, of 100
lines and more, in either direction; real tags are taken out of help pages. Nothing may be found.

*Damage*: each kind put into 3,000 lines of clean text, at ten places one at a time; ``found`` are
those that are reported at their place, ``false alarms`` other kinds that are reported. Languages
are judged over whole files, so there the place is where the file begins.

*Formats*: files that are no text at all, given as line-parallel text.
"""

import bz2
import gzip
import json
import lzma
import os
import pickle
import sqlite3
import sys
import tarfile
import time
import zipfile
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.hmm.pair_scores import coverages
from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.findings import OF_LINES
from pairweave.transforms.inspection.look import look_at
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.sentences.stretches import Linked, features_of, judge_lines
from pairweave.transforms.text.text_tables import token_table
from pairweave.transforms.text.tokens import TokenConfig
from pairweave.transforms.units import CorpusInput, ReadLimits
from tests.benchmarks.bench_help import segments_of
from tests.makers.hmm_corpora import SHUFFLED

pytestmark = pytest.mark.bench

LINES, PLACES, LANGUAGE_LINES = 3_000, 10, 1_000

DAMAGED = ("news en-de", "captions en-fr", "help en-ko")

OF_FILES = ("_language", "_languages", "no_letters")
"""The ends of kinds that concern whole files."""

MAX_SECONDS = 15
"""CPU seconds for a million pairs."""


AS_MEANT = {point: bytes([point]).decode("cp1252", "replace") for point in range(0x80, 0xA0)}
"""The characters that C1 controls stand for, of which news of 2008 has 264 lines."""


def lines_of(path):
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return data.decode().translate(AS_MEANT).removesuffix("\n").split("\n")


def clean_corpora(data):
    """Return the lines of both sides of each clean corpus, by its name."""
    corpora = {}
    german = [lines_of(data / f"parallel/newstest.en-de.{side}.gz") for side in ("en", "de")]
    french = [lines_of(data / f"parallel/newstest.en-fr.{side}.gz") for side in ("en", "fr")]
    for side in french:
        del side[SHUFFLED.start : SHUFFLED.stop]
    corpora["news en-de"], corpora["news en-fr"] = german, french
    captions = {
        side: lines_of(data / f"parallel/multi30k.{side}.gz") for side in ("en", "de", "fr")
    }
    for pair in ("en-de", "en-fr", "de-fr"):
        corpora[f"captions {pair}"] = [captions[side] for side in pair.split("-")]
    for name in ("office.en-de", "office.en-fr", "gnome.en-ko", "gnome.en-fi"):
        segments = segments_of(data / "help" / f"{name}.jsonl.gz")
        rows = [
            (one.text, other.text)
            for _, one, other in segments
            if one.text.strip() and other.text.strip()
        ]
        texts = [[" ".join(text.split()) for text in side] for side in zip(*rows, strict=True)]
        corpora[f"help {name[-5:]}" + " (gnome)" * (name == "gnome.en-fi")] = texts
    for year in ("16", "17", "18"):
        sides = [lines_of(data / f"triples/en-de/wmt{year}.{side}.gz") for side in ("src", "ref")]
        corpora[f"wmt{year} en-de"] = sides
    for lang in ("es", "it", "nl"):
        stem = data / "align" / f"xlwa-{lang}"
        corpora[f"xlwa en-{lang}"] = [
            lines_of(stem.with_suffix(f".{side}")) for side in ("en", "xx")
        ]
    corpora["swedish en-sv"] = [lines_of(data / f"align/sv.{side}") for side in ("en", "xx")]
    for pair in ("enfr", "roen"):
        rows = [line.split(" ||| ") for line in lines_of(data / f"align/{pair}.src-tgt")]
        corpora[f"{pair} {pair[:2]}-{pair[2:]}"] = [list(side) for side in zip(*rows, strict=True)]
    return corpora


def look(directory, sides, languages):
    """Return what is found in two sides as files of text."""
    for name, lines in zip(("a.x", "a.y"), sides, strict=True):
        text = "".join(f"{line}\n" for line in lines)
        (directory / name).write_text(text, encoding="utf-8", newline="")
    paths = [(str(directory / name),) for name in ("a.x", "a.y")]
    corpus = CorpusInput(*languages, source_input=paths[0], target_input=paths[1])
    return list(look_at(make_plan([corpus]).units, ReadLimits()))


def test_nothing_is_found_in_clean_corpora(shared_data, tmp_path):
    corpora = clean_corpora(shared_data)
    actual = {}
    for name, sides in corpora.items():
        languages = name.split()[1].split("-")
        for order in (1, -1):
            for finding in look(tmp_path, sides[::order], languages[::order]):
                actual.setdefault(name, []).append(str(finding))
    pairs = sum(len(sides[0]) for sides in corpora.values())
    sys.stdout.write(f"\n{len(corpora)} clean corpora, {pairs:,} pairs, both ways: {actual}\n")
    assert len(corpora) >= 10
    assert not actual


def changed(place, size, change):
    """Return damage that changes the target of some lines from a place on."""

    def damage(sides):
        source, target = sides
        block = [
            change(one, other)
            for one, other in zip(
                source[place : place + size], target[place : place + size], strict=True
            )
        ]
        return [source, [*target[:place], *block, *target[place + size :]]]

    return damage


def shuffled(place):
    def damage(sides):
        source, target = sides
        order = np.random.default_rng(place).permutation(200)
        block = [target[place + line] for line in order]
        return [source, [*target[:place], *block, *target[place + 200 :]]]

    return damage


def moved(place):
    """Return damage that puts a target 1 line ahead for 100 lines."""

    def damage(sides):
        source, target = sides
        block = target[place + 1 : place + 101]
        return [source, [*target[:place], *block, target[place], *target[place + 101 :]]]

    return damage


def repeated(place):
    """Return damage that repeats the first 200 pairs from a place on."""
    return lambda sides: [[*side[:place], *side[:200], *side[place:-200]] for side in sides]


def part(place, sides):
    return [side[place : place + LANGUAGE_LINES] for side in sides]


DAMAGE = {
    "misaligned": (shuffled, set()),
    "moved": (moved, set()),
    "inline_tags": (
        lambda place: changed(place, 10, lambda _, text: f'<g id="1">{text}</g>'),
        set(),
    ),
    "placeholders": (lambda place: changed(place, 10, lambda _, text: f"{text} {{0}}"), set()),
    "duplicates": (repeated, set()),
    "repeated_side": (
        lambda place: changed(place, 120, lambda *_: "404"),
        {"misaligned"},
    ),
    "copied": (lambda place: changed(place, 320, lambda text, _: text), {"mixed_languages"}),
    "empty": (lambda place: changed(place, 10, lambda *_: ""), set()),
    "unreadable": (lambda place: changed(place, 10, lambda _, text: f"{text}\x01"), set()),
    "encoding": (
        lambda place: changed(place, 30, lambda _, text: f"{text} fÃ¼r"),
        set(),
    ),
    "c1_controls": (
        lambda place: changed(place, 30, lambda _, text: f"{text} \x93OK\x94"),
        set(),
    ),
    "no_letters": (
        lambda place: (
            lambda sides: [
                part(place, sides)[0],
                [f"0.{number:04}" for number in range(LANGUAGE_LINES)],
            ]
        ),
        set(),
    ),
    "exchanged_languages": (lambda place: lambda sides: part(place, sides[::-1]), set()),
    "other_language": (lambda place: lambda sides: part(place, sides), set()),
    "one_language": (
        lambda place: lambda sides: part(place, [sides[0], [f"the {text}" for text in sides[0]]]),
        set(),
    ),
    "mixed_languages": (
        lambda place: (
            lambda sides: [
                part(place, sides)[0],
                [*part(place, sides)[1][:600], *part(place, sides)[0][600:]],
            ]
        ),
        {"copied"},
    ),
}
"""What puts each kind into text at a place, and which other kinds are then there, too."""


def test_each_kind_is_found_where_it_was_put(shared_data, tmp_path):
    corpora = clean_corpora(shared_data)
    actual, alarms = Counter(), Counter()
    for name in DAMAGED:
        languages = name.split()[1].split("-")
        places = [int(place) for place in np.linspace(250, 1_950, PLACES)]
        sides = [side[:LINES] for side in corpora[name]]
        for kind, (damage_at, also) in DAMAGE.items():
            given = {
                "other_language": ("en", "th" if languages[1] == "ko" else "pl"),
                "one_language": ("en", "und"),
            }.get(kind, languages)
            for place in places:
                findings = look(tmp_path, damage_at(place)(sides), given)
                right = any(each.kind == kind and is_at(each, place + 1) for each in findings)
                others = [each for each in findings if each.kind not in also | {kind}]
                actual[kind, name] += right
                alarms[kind, name] += bool(others)
                if not right or others:
                    sys.stdout.write(f"{kind} in {name} at {place}: {[*map(str, findings)]}\n")
    head = "".join(f" {name} |" for name in DAMAGED)
    sys.stdout.write(f"\n| kind: found (false alarms) of {PLACES} |{head}\n")
    for kind in DAMAGE:
        cells = [f"{actual[kind, name]} ({alarms[kind, name]})" for name in DAMAGED]
        sys.stdout.write(f"| `{kind}` | {' | '.join(cells)} |\n")
    assert not any(alarms.values())
    assert min(actual.values()) >= PLACES


SHORT, SHORT_LINES = 20, 20_000
"""Lines of the shortest blocks that are put in, and of the text around them, with an aligner."""


def test_a_fitted_aligner_shows_shorter_stretches(shared_data):
    corpora = clean_corpora(shared_data)
    sys.stdout.write(f"\n| {PLACES} blocks of {SHORT} lines in another order | without | with |\n")
    for name in ("news en-de", "captions en-fr", "help en-de", "help en-ko"):
        languages = tuple(name.split()[1].split("-"))
        rows = [row for row in zip(*corpora[name], strict=True) if all(map(str.strip, row))]
        sides = [list(side) for side in zip(*rows[:SHORT_LINES], strict=True)]
        for damaged in (False, True):
            source, target = sides[0], list(sides[1])
            draws = np.random.default_rng(1)
            places = draws.permutation(len(source) // 200 - 1)[:PLACES] * 200 + 50
            for place in places.tolist() if damaged else ():
                order = place + draws.permutation(SHORT)
                target[place : place + SHORT] = [sides[1][line] for line in order]
            table = token_table((source, target), TokenConfig(), languages)
            model = fit(table, HmmConfig(), os.cpu_count() or 1)

            def coverage(one, other, model=model, languages=languages):
                table = token_table((one.to_pylist(), other.to_pylist()), TokenConfig(), languages)
                return coverages(model, table).min(axis=0)

            texts = pa.array(source), pa.array(target)
            features = [features_of(text) for text in texts]
            actual = []
            for linked in (None, Linked(*texts, coverage)):
                stretches, _ = judge_lines(*features, linked=linked)
                at = [
                    any(each.first < place + SHORT and each.last >= place for each in stretches)
                    for place in places
                ]
                actual.append(sum(at))
                assert len(stretches) == (sum(at) if damaged else 0)
            if damaged:
                sys.stdout.write(f"| {name} | {actual[0]} | {actual[1]} |\n")
                assert PLACES - 1 <= actual[1] > actual[0]


def is_at(finding, line):
    """Tell whether a finding is about a line: of a stretch its first one, within five."""
    if finding.kind in OF_LINES:
        return abs(finding.first_line - line) <= 5
    return finding.kind.endswith(OF_FILES) or finding.first_line <= line <= finding.last_line


def mismatch(directory, sides):
    """Return what is said of sides with different numbers of lines, and the line that is named."""
    for name, lines in zip(("a.x", "a.y"), sides, strict=True):
        text = "".join(f"{line}\n" for line in lines)
        (directory / name).write_text(text, encoding="utf-8", newline="")
    paths = [(str(directory / name),) for name in ("a.x", "a.y")]
    with pytest.raises(InputError) as caught:
        make_plan([CorpusInput("en", "de", source_input=paths[0], target_input=paths[1])])
    return str(caught.value), caught.value.line


def test_a_lost_or_inserted_line_is_found_where_it_is(shared_data, tmp_path):
    actual, claims = Counter(), []
    corpora = clean_corpora(shared_data)
    for name, (source, target) in corpora.items():
        cut = target[: -max(1, len(target) // 20)]  # the end alone is missing
        claims += [name for sides in ((source, cut), (cut, source)) if mismatch(tmp_path, sides)[1]]
    for name in DAMAGED:
        source, target = (side[:LINES] for side in corpora[name])
        for place in map(int, np.linspace(250, 1_950, PLACES)):
            changed = {
                "lost": [*target[:place], *target[place + 1 :]],
                "inserted": [*target[:place], source[0], *target[place:]],
                "ten lost": [*target[:place], *target[place + 10 :]],
            }
            for what, lines in changed.items():
                said, line = mismatch(tmp_path, [source, lines])
                # Beside lines of the source whose translations are lost, any line is the first.
                right = line is not None and -5 <= line - place - 1 <= 5 + 10 * (what == "ten lost")
                actual[what, name] += right
                if not right:
                    sys.stdout.write(f"{what} in {name} at {place}: {said}\n")
    sys.stdout.write(f"\nfound of {PLACES}: {dict(actual)}; said of {len(corpora)}: {claims}\n")
    assert min(actual.values()) >= PLACES
    assert not claims


def files_that_are_no_text(directory):
    """Write files of twenty formats, and yield their paths."""
    text = b"A sentence.\n" * 200
    contents = {
        "html": b"<!DOCTYPE html>\n<html><body><p>A sentence.</p></body></html>\n",
        "pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
        "png": b"\x89PNG\r\n\x1a\n" + bytes(100),
        "elf": b"\x7fELF" + bytes(100),
        "gzip": gzip.compress(text),
        "bzip2": bz2.compress(text),
        "xz": lzma.compress(text),
        "lxm": json.dumps({"lang": "en", "text": {"a": "A sentence."}}, indent=1).encode(),
        "json": json.dumps({"hello": "Hello", "bye": "Bye"}, indent=1).encode(),
        "jsonl": b'{"source": "A sentence.", "target": "Ein Satz."}\n' * 200,
        "tmx": b'<?xml version="1.0"?>\n<tmx version="1.4">\n</tmx>\n',
        "sgml": b'<srcset setid="news" srclang="any">\n</srcset>\n',
        "npy": b"\x93NUMPY\x01\0v\0" + bytes(1_000),
        "mo": b"\xde\x12\x04\x95" + bytes(24),
        "pickle": pickle.dumps(["A sentence."] * 200),
        "arrow": b"ARROW1\0\0" + bytes(100),
        "random": np.random.default_rng(1).bytes(10_000),
    }
    for name, content in contents.items():
        path = directory / f"{name}.en"
        path.write_bytes(content)
        yield name, path
    with sqlite3.connect(directory / "sqlite.en") as database:
        database.execute("create table a (b)")
    yield "sqlite", directory / "sqlite.en"
    with zipfile.ZipFile(directory / "zip.en", "w") as archive:
        archive.writestr("a.txt", text)
    yield "zip", directory / "zip.en"
    with tarfile.open(directory / "tar.en", "w") as archive:
        archive.add(directory / "gzip.en", "a.gz")
    yield "tar", directory / "tar.en"


def test_files_that_are_no_text_are_refused_or_read_as_what_they_are(tmp_path):
    refused = {}
    for name, path in files_that_are_no_text(tmp_path):
        corpus = CorpusInput("en", "de", source_input=(str(path),), target_input=(str(path),))
        try:
            plan = make_plan([corpus])
        except ConfigError as error:
            refused[name] = str(error).replace(str(tmp_path), "")
        else:
            refused[name] = f"read, {sum(unit.rows for unit in plan.units)} rows"
    for name, said in refused.items():
        sys.stdout.write(f"{name}: {said}\n")
    assert not [name for name, said in refused.items() if said.startswith("read")]


def test_a_million_pairs_take_seconds(shared_data, tmp_path):
    german = [lines_of(shared_data / f"parallel/newstest.en-de.{side}.gz") for side in ("en", "de")]
    times = -(-1_000_000 // len(german[0]))
    million = [(side * times)[:1_000_000] for side in german]
    look(tmp_path, [side[:1_000] for side in million], ("en", "de"))
    for name, lines in zip(("a.x", "a.y"), million, strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    paths = [(str(tmp_path / name),) for name in ("a.x", "a.y")]
    units = make_plan([CorpusInput("en", "de", source_input=paths[0], target_input=paths[1])]).units
    begin = time.process_time()
    kinds = {finding.kind for finding in look_at(units, ReadLimits())}
    seconds = time.process_time() - begin
    sys.stdout.write(f"\na million pairs of news: {seconds:.1f} s of CPU, {sorted(kinds)}\n")
    assert kinds == {"duplicates"}
    assert seconds < MAX_SECONDS
