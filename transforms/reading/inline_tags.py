"""Treatment of inline tags in texts: left as text, removed, kept, or rejected."""

import dataclasses
from collections.abc import Callable, Collection, Mapping, MutableMapping

import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.counted import counted
from pairweave.transforms.markup.markup import Marked, find_syntax, parse_markup
from pairweave.transforms.markup.pair_markup import pair_markup
from pairweave.transforms.markup.segments import escape_text
from pairweave.transforms.problems import Problem
from pairweave.transforms.reading.damaged_characters import CharacterRules, apply_rules
from pairweave.transforms.rejects import Reject
from pairweave.transforms.units import Unit


@dataclasses.dataclass(frozen=True, slots=True)
class InlinePair:
    """A pair of texts with tags on one side or both.

    Attributes:
        source: The parsed source.
        target: The parsed target.
        raw_source: The source as written in the file.
        raw_target: The target as written in the file.
    """

    source: Marked
    target: Marked
    raw_source: str
    raw_target: str


@dataclasses.dataclass(frozen=True, slots=True)
class Treated:
    """The result of treating a row with tags.

    Attributes:
        source: The source to keep.
        target: The target.
        id_texts: The texts that the pair's id is computed from: with tags if they are kept.
        markup: Its tags as JSON (`transforms.markup.pair_markup`).
        problem: The reason to reject it.
    """

    source: str
    target: str
    id_texts: tuple[str, str]
    markup: str | None = None
    problem: Problem | None = None


def treat(pair: InlinePair, unit: Unit) -> Treated:
    """Treat the tags of a pair as its unit requires (`CorpusInput.inline_tags`)."""
    raw = (pair.raw_source, pair.raw_target)
    plain = (pair.source.text, pair.target.text)
    if unit.inline_tags == "strip":
        return Treated(*plain, plain)
    if unit.inline_tags == "raw":
        return Treated(*raw, raw)
    if unit.inline_tags == "reject":
        count = len(pair.source.tags) + len(pair.target.tags)
        first = (*pair.source.tags, *pair.target.tags)[0].raw
        detail = f"{counted(count, 'tag')}, the first is {first[:80]}"
        return _rejected(raw, Reject.INLINE_TAGS, detail)
    markup = pair_markup(pair.source, pair.target)
    if not markup.agrees and unit.tags_differ == "reject":
        alone = [element for element in markup.elements if element.index is None]
        side = "source" if alone[0].source is not None else "target"
        some = counted(len(alone), "element is", "elements are")
        detail = f"{some} on one side only; the first, in the {side}, is "
        return _rejected(raw, Reject.TAGS_DIFFER, f"{detail}{alone[0].form} {alone[0].name}")
    return Treated(*plain, raw, markup.to_json())


def _rejected(raw: tuple[str, str], reason: Reject, detail: str) -> Treated:
    return Treated(*raw, raw, None, Problem(reason, detail))


@dataclasses.dataclass(slots=True)
class TextColumns:
    """The texts of a batch after their tags were treated.

    Attributes:
        texts: Column by side.
        id_texts: The texts that ids are computed from, by side.
        markup: Column of JSON; None if no row has any.
        problems: By row.
    """

    texts: Mapping[str, pa.StringArray]
    id_texts: Mapping[str, pa.StringArray]
    markup: pa.StringArray | None
    problems: Mapping[int, Problem]


def treat_texts(
    texts: Mapping[str, pa.StringArray],
    problems: Mapping[int, Problem],
    unit: Unit,
    rules: CharacterRules,
) -> TextColumns:
    """Treat the tags of texts that contain them as characters, in the unit's syntax.

    Unless the tags of a pair are left as text, those of its translation are removed.
    """
    columns: dict[str, list[str | None]] = {
        side: column.to_pylist() for side, column in texts.items()
    }
    if unit.inline_tags == "raw":
        return _columns(columns, {}, dict(problems), unit, rules)
    syntax = find_syntax(unit.inline_syntax)
    all_problems = dict(problems)
    pairs: dict[int, InlinePair] = {}
    for row in _rows_with_tags(texts):
        if row in all_problems:
            continue
        source, target = columns["source"][row], columns["target"][row]
        if source is not None and target is not None:
            pair = InlinePair(
                parse_markup(source, syntax), parse_markup(target, syntax), source, target
            )
            if pair.source.tags or pair.target.tags:
                pairs[row] = pair
        translation = columns.get("translation", [None] * (row + 1))[row]
        if translation is not None:
            columns["translation"][row] = parse_markup(translation, syntax).text
    return _columns(columns, pairs, all_problems, unit, rules)


def treat_pairs(
    texts: Mapping[str, pa.StringArray],
    pairs: Mapping[int, InlinePair],
    problems: Mapping[int, Problem],
    unit: Unit,
    rules: CharacterRules,
) -> TextColumns:
    """Treat the tags of rows whose reader has parsed them.

    Args:
        texts: Column by side; texts in rows with tags are ignored.
        pairs: The rows with tags.
        problems: By row; such rows keep their reason.
        unit: The unit, with its options.
        rules: Treatment of entities and C1 controls.
    """
    columns: dict[str, list[str | None]] = {
        side: column.to_pylist() for side, column in texts.items()
    }
    return _columns(columns, pairs, dict(problems), unit, rules, str_of=xml_of)


def _columns(
    columns: MutableMapping[str, list[str | None]],
    pairs: Mapping[int, InlinePair],
    problems: dict[int, Problem],
    unit: Unit,
    rules: CharacterRules,
    str_of: Callable[[Marked], str] = str,
) -> TextColumns:
    if rules:
        pairs = _mended(pairs, rules, problems, str_of)
        tagged = pairs.keys()
        apply_rules(columns, rules, problems, lambda side, row: _is_tagged(side, row, tagged))
    id_columns = {side: list(column) for side, column in columns.items()}
    markup: list[str | None] = [None] * len(columns["source"])
    for row, pair in pairs.items():
        treated = treat(pair, unit)
        for place, side in enumerate(("source", "target")):
            columns[side][row] = (treated.source, treated.target)[place]
            id_columns[side][row] = treated.id_texts[place]
        markup[row] = treated.markup
        if treated.problem is not None:
            problems.setdefault(row, treated.problem)
    return TextColumns(
        {side: pa.array(column, pa.string()) for side, column in columns.items()},
        {side: pa.array(column, pa.string()) for side, column in id_columns.items()},
        pa.array(markup, pa.string()) if any(line is not None for line in markup) else None,
        problems,
    )


def _is_tagged(side: str, row: int, tagged: Collection[int]) -> bool:
    """Tell whether a text is in a pair with tags; tags of translations are removed."""
    return side != "translation" and row in tagged


def _mended(
    pairs: Mapping[int, InlinePair],
    rules: CharacterRules,
    problems: dict[int, Problem],
    str_of: Callable[[Marked], str],
) -> dict[int, InlinePair]:
    """Return pairs with tags after the rules for their texts; add the problems of others.

    Args:
        pairs: By row.
        rules: Treatment of entities and C1 controls.
        problems: By row; such rows are not changed.
        str_of: Returns a text with its tags as in the file.
    """
    mended = dict(pairs)
    for row, pair in pairs.items():
        sides = [
            rules.apply_marked(marked, side)
            for side, marked in (("source", pair.source), ("target", pair.target))
        ]
        wrong = next((treated for treated in sides if isinstance(treated, Problem)), None)
        if wrong is not None:
            problems.setdefault(row, wrong)
            continue
        source, target = (treated for treated in sides if isinstance(treated, Marked))
        mended[row] = InlinePair(
            source,
            target,
            pair.raw_source if source == pair.source else str_of(source),
            pair.raw_target if target == pair.target else str_of(target),
        )
    return mended


def _rows_with_tags(texts: Mapping[str, pa.StringArray]) -> list[int]:
    """Return the rows with a character that begins a tag."""
    rows: set[int] = set()
    for column in texts.values():
        mask = pc.fill_null(pc.match_substring(column, "<"), fill_value=False)
        rows.update(pc.indices_nonzero(mask).to_pylist())
    return sorted(rows)


def xml_of(marked: Marked) -> str:
    """Return a text with its tags as XML content, with special characters escaped.

    >>> from pairweave.transforms.markup.markup import Kind, Tag
    >>> xml_of(Marked("a < b", (Tag(Kind.EMPTY, "x", "1", '<x id="1"/>', 4),)))
    'a &lt; <x id="1"/>b'
    """
    parts, done = [], 0
    for tag in marked.tags:
        parts += [escape_text(marked.text[done : tag.offset]), tag.raw]
        done = tag.offset
    return "".join([*parts, escape_text(marked.text[done:])])
