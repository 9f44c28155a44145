"""Take parallel segments with inline markup out of the message catalogues of programs.

python -m tests.benchmarks.messages SHARE OUTPUT LANGUAGE...

SHARE is ``usr/share`` of unpacked Debian packages of programs with windows, whose messages have
markup such as ``<b>``. OUTPUT gets ``messages.en-LANGUAGE.jsonl.gz`` for each language: JSON lines
with ``id``, ``source`` and ``target``. White space inside a tag's edges stands outside in both
texts, as some translators add it and others do not.
"""

import gettext
import gzip
import html
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

TAG = re.compile(r"<(/?)(a|b|big|em|i|s|small|span|strong|sub|sup|tt|u)\b[^<>]*?(/?)>")

CODES = {"zh": "zh_CN"}
"""Names of catalogues that are not BCP 47 tags."""


def as_segment(message: str) -> str:
    """Return a message with the names of its tags alone and with all other text escaped."""
    if not TAG.search(message):
        message = message.replace("_", "")  # marks the letter of a key
    parts, at = [], 0
    for match in TAG.finditer(message):
        parts += [_escaped(message[at : match.start()]), f"<{match[1]}{match[2]}{match[3]}>"]
        at = match.end()
    text = "".join([*parts, _escaped(message[at:])])
    moved = None
    while moved != text:
        moved, text = text, re.sub(r"(<[a-z]+>)\s+", r" \1", text)
        text = re.sub(r"\s+(</[a-z]+>)", r"\1 ", text)
    return re.sub(r" (?=[.,:;!?।])", "", re.sub(r"\s+", " ", text).strip())


def _escaped(text: str) -> str:
    return html.escape(html.unescape(text), quote=False)


def messages(share: Path, language: str) -> dict[str, str]:
    """Return the translated messages of all programs, each once."""
    translations: dict[str, str] = {}
    for path in sorted(share.glob(f"locale/{language}/LC_MESSAGES/*.mo")):
        with path.open("rb") as file:
            catalogue = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
        for message, translation in catalogue.items():
            if isinstance(message, str):  # one with plural forms has a number beside it
                text = message.rpartition("\4")[2]
                if text and translation and text != translation:
                    translations.setdefault(text, translation)
    return translations


def rows(share: Path, language: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a language, by their English text."""
    pairs = sorted(messages(share, CODES.get(language, language)).items())
    for number, pair in enumerate(pairs):
        source, target = map(as_segment, pair)
        if source and target:
            yield {"id": f"messages/{number}#0", "source": source, "target": target}


def main(share: Path, output: Path, *languages: str) -> None:
    """Write the segments of each language."""
    output.mkdir(parents=True, exist_ok=True)
    for language in languages:
        path = output / f"messages.en-{language}.jsonl.gz"
        made = list(rows(share, language))
        with gzip.open(path, "wt", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in made)
        sys.stdout.write(f"{path}: {len(made):,} segments\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
