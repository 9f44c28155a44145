"""Help pages as triples for an ablation of suggestions, with the translations of a small model.

usage: python -m tests.benchmarks.ablation.prepare_help_suggestions HELP/ SOURCE TARGET [UNIT]

``HELP/`` is what ``prepare_help`` wrote. Without a unit, this cuts its training segments into two
halves by a hash of their source, ``first`` and ``second``. The model of ``help_translations.yaml``
learns from the first and translates the second and the test set; with its unit, this writes these
translations as ``second.mt`` and ``test.mt``.
"""

import gzip
import hashlib
import sys
from pathlib import Path

import orjson

from tests.benchmarks.ablation.line_files import write_lines

TRANSLATED = ("second", "test")


def write_halves(folder, languages):
    """Write the two halves of the training segments."""
    sides = [
        (folder / f"train.txt.{language}").read_text(encoding="utf-8").splitlines()
        for language in languages
    ]
    halves = {"first": [], "second": []}
    for row in zip(*sides, strict=True):
        odd = hashlib.sha256(" ".join(row[0].split()).encode()).digest()[0] % 2
        halves["second" if odd else "first"].append(row)
    for name, rows in halves.items():
        write_lines(folder, name, [f"txt.{language}" for language in languages], rows)


def write_translations(folder, target, unit):
    """Write the translations of a finished unit, in one line each."""
    translations = orjson.loads(gzip.decompress(Path(unit).read_bytes()))["translations"]
    for name in TRANSLATED:
        rows = [(" ".join(text.split()),) for text in translations[name]]
        write_lines(folder, name, [f"mt.{target}"], rows)


def main(folder, source, target, unit=None):
    """Write the halves, or a unit's translations."""
    if unit is None:
        write_halves(Path(folder), (source, target))
    else:
        write_translations(Path(folder), target, unit)


if __name__ == "__main__":
    main(*sys.argv[1:5])
