"""The results of a few pairs, as text for a terminal."""

from collections.abc import Iterator, Sequence

from pairweave.pipelines.trial.trial import Row, Trial
from pairweave.transforms.text.control_characters import visible_line

LINKED, NOT_LINKED = "■", "·"

_LABEL = 14
"""Maximum width of a row's label in the grid, in characters."""


def trial_lines(trial: Trial) -> Iterator[str]:
    """Yield the lines about a pair: tokens, a grid of links, phrase pairs, and rows or reason."""
    yield f"{trial.place[0]}:{trial.place[1]}"
    if trial.steps is not None and trial.steps.get("source_tokens"):
        yield from _steps(trial.steps)
    elif trial.rejected is not None:
        yield from _texts(trial.rejected)
    if trial.rejected is not None:
        reject = trial.rejected
        detail = f": {reject['detail']}" if reject["detail"] else ""
        yield f"  rejected by {reject['stage']}: {reject['reason']}{detail}"
    for row in sorted(trial.rows, key=lambda each: each["variant"]):
        yield f"  {row['kind']:<8}{visible_line(row['source'])}"
        yield f"  {'':<8}{visible_line(row['target'])}"


def _texts(row: Row) -> Iterator[str]:
    """Yield the texts of a rejected row, or the bytes that could not be read."""
    for side in ("source", "target"):
        if row[side] is not None:
            yield f"  {side:<8}{visible_line(row[side])}"
    if row["raw"]:
        yield f"  {'raw':<8}{visible_line(row['raw'].decode('utf-8', 'backslashreplace'))}"


def _steps(row: Row) -> Iterator[str]:
    words = {side: tokens_of(row, side) for side in ("source", "target")}
    for side, tokens in words.items():
        numbered = (f"{number}:{visible_line(token)}" for number, token in enumerate(tokens))
        yield f"  {side:<8}{' '.join(numbered)}"
    links = row.get("links")
    if links:
        pairs = {(link["source"], link["target"]) for link in links}
        yield from grid(words["source"], len(words["target"]), pairs)
    phrases = row.get("phrases")
    if phrases is None:
        return  # nothing is tagged
    shown = [_phrase(phrase, words["source"], words["target"]) for phrase in phrases]
    weights = row["drawable"]
    named = {
        "phrase pairs": [text for text, weight in zip(shown, weights, strict=True) if weight > 0],
        "not tagged": [text for text, weight in zip(shown, weights, strict=True) if weight == 0],
    }
    for name, texts in named.items():
        if texts:
            yield f"  {name} ({len(texts)}): {'; '.join(texts)}"
    if not named["phrase pairs"]:
        yield "  no phrase pairs" + (" to tag" if phrases else "")


def tokens_of(row: Row, side: str) -> list[str]:
    """Return the tokens of a side as they are in the text."""
    text = row[side]
    return [text[token["start"] : token["end"]] for token in row[f"{side}_tokens"]]


def grid(tokens: Sequence[str], width: int, links: set[tuple[int, int]]) -> Iterator[str]:
    r"""Yield a grid with a row for each source token and a column for each target token.

    >>> print("\n".join(grid(["the", "cat"], 3, {(0, 0), (1, 2)})))
                      012
                 the  ■··
                 cat  ··■
    """
    margin = " " * (_LABEL + 2)
    if width > 10:
        yield f"  {margin}" + "".join(
            str(place // 10) if place > 9 else " " for place in range(width)
        )
    yield f"  {margin}" + "".join(str(place % 10) for place in range(width))
    for place, token in enumerate(tokens):
        label = visible_line(token)
        label = label if len(label) <= _LABEL else label[: _LABEL - 1] + "…"
        cells = (LINKED if (place, column) in links else NOT_LINKED for column in range(width))
        yield f"  {label:>{_LABEL}}  {''.join(cells)}"


def _phrase(phrase: Row, source: Sequence[str], target: Sequence[str]) -> str:
    ends = ((source, "source"), (target, "target"))
    sides = (
        " ".join(map(visible_line, tokens[phrase[f"{side}_start"] : phrase[f"{side}_end"]]))
        for tokens, side in ends
    )
    return " = ".join(sides)


def changed_lines(before: Sequence[Trial], after: Sequence[Trial]) -> Iterator[str]:
    """Yield the lines about the pairs that a changed option affects, before and after."""
    earlier, later = (_by_pair(trials) for trials in (before, after))
    same = 0
    for pair in earlier | later:
        was, now = earlier.get(pair, []), later.get(pair, [])
        if was == now:
            same += 1
            continue
        yield (was or now)[0]
        for word, shown in (("before", was), ("after", now)):
            yield f" {word}:"
            yield from shown[1:]
        yield ""
    yield f"{same} of {len(earlier | later)} pairs are as before"


def _by_pair(trials: Sequence[Trial]) -> dict[tuple[object, ...], list[str]]:
    """Return the lines about each pair, by place, id and number of earlier pairs with both."""
    lines: dict[tuple[object, ...], list[str]] = {}
    for trial in trials:
        times = sum(pair[:2] == (trial.place, trial.id) for pair in lines)
        lines[trial.place, trial.id, times] = list(trial_lines(trial))
    return lines
