"""The rules of the job ``filter``: their measurements and limits.

The first five are those of the NRC's systems for WMT20 (Lo and Joanis 2020, section 2.2); the
docstrings state the choices that the paper leaves open.
"""

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.config import pick
from pairweave.transforms.filtering import detectors, languages, scripts
from pairweave.transforms.filtering.plugin_rules import PlannedRule, measure
from pairweave.transforms.filtering.rule_options import RuleOptions
from pairweave.transforms.kernels.filtering import characters, marks
from pairweave.transforms.kernels.filtering.characters import Characters, Words
from pairweave.transforms.kernels.filtering.marks import Marks
from pairweave.transforms.kernels.filtering.signs import MOJIBAKE, count_signs
from pairweave.transforms.rejects import PluginReason, Reject
from pairweave.transforms.storage import files
from pairweave.transforms.text import codepoints, sentence_marks

Values = Mapping[str, np.ndarray]
Mask = np.ndarray

FULL_STOPS = f".\u0965\u0f0d\u2026{sentence_marks.FULL_STOPS}"
QUESTIONS = f"?\u037e\u2e2e{sentence_marks.QUESTIONS}"
EXCLAMATIONS = f"!{sentence_marks.EXCLAMATIONS}"
PAUSES = f":;,{sentence_marks.COLONS}{sentence_marks.SEMICOLONS}{sentence_marks.COMMAS}"
"""Characters that end sentences, in classes. In Greek, a semicolon is a question mark."""


class RuleConfig(RuleOptions):
    """Limits of the rules.

    Attributes:
        plugins: The rules of other packages, as planned.
    """

    plugins: tuple[PlannedRule, ...] = ()


def rule_config(
    options: RuleOptions, planned: object, plugins: tuple[PlannedRule, ...] = ()
) -> RuleConfig:
    """Return the rules that options set, for workers in any directory.

    Args:
        options: The options.
        planned: The detector as the plan names it, with the digest of its file if it has one.
        plugins: The rules of other packages.
    """
    kind, colon, path = options.detector.partition(":")
    if not colon:
        return pick(RuleConfig, options, plugins=plugins)
    digest = str(planned).partition(":")[2]
    detector = f"{kind}:{digest}@{files.absolute(path)}"
    return pick(RuleConfig, options, detector=detector, plugins=plugins)


class Sides:
    """Both sides of some pairs, scanned once for all rules.

    Attributes:
        pairs: The pairs.
        texts: Source and target texts.
        characters: Their characters by class.
        words: Their words.
        marks: Their numbers, addresses, placeholders, tags and entities.
        signs: Their brackets and traces of a wrong encoding.
        same_script: Whether the languages of a pair share a script or are unknown ``[pair]``.
        known: Whether the script of each side's language is known ``[2][pair]``.
        greek: Whether each side's language is written in Greek ``[2][pair]``.
    """

    def __init__(self, pairs: pa.Table | pa.RecordBatch) -> None:
        """Scan the texts of pairs (with the columns of `transforms.schemas.PAIRS`)."""
        self.pairs = pairs
        properties = codepoints.all_properties()
        bits = [_script_bits(pairs.column(f"{side}_lang")) for side in ("source", "target")]
        unknown = (bits[0] == 0) | (bits[1] == 0)
        self.same_script: Mask = unknown | ((bits[0] & bits[1]) != 0)
        self.known = [each != 0 for each in bits]
        self.greek = [each == scripts.script_bits(("Greek",)) for each in bits]
        foreign = np.where(unknown, np.uint64(0), bits[1] & ~bits[0])
        none = np.zeros_like(foreign)
        self.texts = [texts_of(pairs.column(side)) for side in ("source", "target")]
        scans: list[tuple[Characters, Words]] = [
            characters.scan(*texts, properties, expected, other)
            for texts, expected, other in zip(self.texts, bits, (foreign, none), strict=True)
        ]
        self.characters = [scan[0] for scan in scans]
        self.words = [scan[1] for scan in scans]
        self.marks: list[Marks] = [marks.find_marks(*texts, properties) for texts in self.texts]
        self.signs = [count_signs(*texts, properties) for texts in self.texts]


def _script_bits(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Return the scripts of each text's language as bits, uint64 ``[text]``; 0 if unknown."""
    encoded = column.cast(pa.string()).dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    bits = [scripts.script_bits(scripts.scripts_of(tag)) for tag in encoded.dictionary.to_pylist()]
    return np.array(bits or [0], np.uint64)[encoded.indices.to_numpy(zero_copy_only=False)]


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return shares, float32; 0 if the whole is 0."""
    return (part / np.maximum(whole, 1)).astype(np.float32)


def number_mismatch(sides: Sides) -> Values:
    """Measure the share of both sides' numbers that have no counterpart on the other.

    Numbers are equal if their digits are, and all have a counterpart if both sides consist of
    the same digits in another order (`transforms.kernels.filtering.marks`). "A majority of
    number mismatches" is interpreted as over half of all numbers of both sides; a pair without
    numbers has 0. A number written as a word on one side has no counterpart. A second column has
    the share of contradicting numbers, where each side has a number that the other lacks.
    """
    source, target, every = marks.unmatched(sides.marks[0], sides.marks[1], marks.NUMBER)
    conflict = 2 * np.minimum(source, target)
    return {
        "number_mismatch": _share(source + target, every),
        "number_conflict": _share(conflict, every),
    }


def _unmatched(sides: Sides, kind: int) -> np.ndarray:
    """Return the share of marks of a kind that have no equal mark on the other side."""
    source, target, every = marks.unmatched(sides.marks[0], sides.marks[1], kind)
    return _share(source + target, every)


def source_foreign(sides: Sides) -> Values:
    """Measure the share of the source that is not alphabetical or in the target's script.

    White space does not count; combining marks are alphabetical. Letters of the target's script
    count only if the two languages share no script: otherwise every source would consist of them.
    """
    counts = sides.characters[0]
    other = counts.visible - counts.letters + counts.other
    return {"source_foreign": _share(other, counts.visible)}


def target_foreign(sides: Sides) -> Values:
    """Measure the share of the target's characters, without white space, that are not letters."""
    of_target = sides.characters[1]
    return {"target_foreign": _share(of_target.visible - of_target.letters, of_target.visible)}


def copied(sides: Sides) -> Values:
    """Measure the share of the target that occurs in the source, in words and in characters.

    A word of the source accounts for one equal word of the target. Both shares must be over the
    limit. Translations in the same script legitimately share names and figures: there, words that
    begin with a capital letter or a digit do not count, and a target of only such words has 0.
    """
    by_word, by_character = characters.copied(sides.words[0], sides.words[1], sides.same_script)
    return {"copied_words": by_word, "copied_characters": by_character}


def script(sides: Sides) -> Values:
    """Measure each side's share of letters in a script of its language.

    Letters that belong to no script count as correct; a side without letters, or in a language
    whose script is not known, has 1.
    """
    return {
        f"{side}_script": np.where(
            known & (counts.bases > 0), _share(counts.expected, counts.bases), np.float32(1)
        )
        for side, known, counts in zip(
            ("source", "target"), sides.known, sides.characters, strict=True
        )
    }


def repetition(sides: Sides) -> Values:
    """Measure the share of a side's words that repeat a block of words three times or more.

    If both sides repeat equally, as in songs, nothing is wrong: the value is the difference
    between the larger and the smaller share.
    """
    source, target = (characters.repetition(words) for words in sides.words)
    return {"repetition": np.abs(source - target)}


def end_mismatch(sides: Sides) -> Values:
    """Measure how much the sides' final punctuation differs; closing marks may follow it.

    0: both end with the same class of mark (full stop, question mark, exclamation mark, pause,
    none); 0.5: one has a full stop and the other none of these; 1: anything else.
    """
    source, target = map(_final_classes, sides.texts, sides.greek)
    half = (source + target == 1) & (source != target)
    values = np.where(source == target, 0.0, np.where(half, 0.5, 1.0))
    return {"end_mismatch": values.astype(np.float32)}


def _final_classes(texts: tuple[np.ndarray, np.ndarray], greek: Mask) -> np.ndarray:
    """Return the class of the final mark of each text, int8 ``[text]``; 0 for none."""
    last = characters.last_characters(*texts, codepoints.all_properties())
    classes = _END_CLASSES[last]
    classes[greek & (last == ord(";"))] = _END_CLASSES[ord("?")]
    data, offsets = texts
    for row in np.flatnonzero(last == ord(_ARMENIAN_STOP)).tolist():
        text = data[offsets[row] : offsets[row + 1]].tobytes().decode()
        sentence = text.split(_ARMENIAN_STOP)[-2]
        for mark, same in _ARMENIAN_MARKS.items():
            if mark in sentence:
                classes[row] = _END_CLASSES[ord(same)]
    return classes


_ARMENIAN_STOP = "\u0589"
_ARMENIAN_MARKS = {"\u055c": "!", "\u055e": "?"}
"""In Armenian, the mark of a question or an exclamation is in a word; a full stop is at the end."""


def _end_classes() -> np.ndarray:
    table = np.zeros(0x110000, np.int8)
    for number, members in enumerate((FULL_STOPS, QUESTIONS, EXCLAMATIONS, PAUSES), 1):
        table[[ord(member) for member in members]] = number
    return table


_END_CLASSES = _end_classes()


def address_mismatch(sides: Sides) -> Values:
    """Measure the share of web and e-mail addresses without one of their kind on the other side."""
    web, mail = (_unmatched(sides, kind) for kind in (marks.ADDRESS, marks.EMAIL))
    return {"address_mismatch": np.maximum(web, mail)}


def placeholder_mismatch(sides: Sides) -> Values:
    """Measure the share of placeholders without an equal one on the other side."""
    return {"placeholder_mismatch": _unmatched(sides, marks.PLACEHOLDER)}


def tag_mismatch(sides: Sides) -> Values:
    """Measure the share of tags without one of the same name on the other side."""
    return {"tag_mismatch": _unmatched(sides, marks.TAG)}


def bracket_mismatch(sides: Sides) -> Values:
    """Measure the share of brackets without one of the same shape on the other side."""
    source, target = (signs[:MOJIBAKE] for signs in sides.signs)
    unmatched = np.abs(source - target).sum(axis=0)
    return {"bracket_mismatch": _share(unmatched, (source + target).sum(axis=0))}


def mojibake(sides: Sides) -> Values:
    """Count traces of a wrong encoding on both sides (`transforms.kernels.filtering.signs`)."""
    source, target = (signs[MOJIBAKE] for signs in sides.signs)
    return {"mojibake": (source + target).astype(np.float32)}


def entities(sides: Sides) -> Values:
    """Count HTML entities on both sides."""
    source, target = (marks.count_kind(each, marks.ENTITY) for each in sides.marks)
    return {"entities": (source + target).astype(np.float32)}


def char_ratio(sides: Sides) -> Values:
    """Measure the ratio of the longer side's characters to the shorter's, without white space."""
    source, target = (np.maximum(counts.visible, 1) for counts in sides.characters)
    ratio = np.maximum(source, target) / np.minimum(source, target)
    return {"char_ratio": ratio.astype(np.float32)}


def word_chars(sides: Sides) -> Values:
    """Measure the larger mean word length of both sides; letters of unspaced scripts are words."""
    source, target = (characters.mean_lengths(words) for words in sides.words)
    return {"word_chars": np.maximum(source, target)}


@dataclasses.dataclass(frozen=True)
class Rule:
    """A rule.

    Attributes:
        reason: The reason of pairs that it rejects.
        measure: Returns its columns, float32 ``[pair]``.
        columns: The names of the columns that the limit applies to.
        option: Its limit in `RuleOptions`.
        least: Whether the limit is a minimum, not a maximum.
        beside: Further columns of the same measurement, for the score.
        own_limit: The limit of a rule of another package, which is not an option of its own.
    """

    reason: Reject | PluginReason
    measure: Callable[[Sides], Values]
    columns: tuple[str, ...]
    option: str
    least: bool = False
    beside: tuple[str, ...] = ()
    own_limit: float | None = None

    def limit(self, config: RuleConfig) -> float:
        """Return its limit."""
        return getattr(config, self.option) if self.own_limit is None else self.own_limit

    def hits(self, values: Values, config: RuleConfig) -> Mask:
        """Tell which pairs it rejects: those with every column beyond the limit.

        The rule on scripts rejects a pair if either side is beyond the limit.
        """
        limit = np.float32(self.limit(config))
        if self.least:
            return np.logical_or.reduce([values[name] < limit for name in self.columns])
        return np.logical_and.reduce([values[name] > limit for name in self.columns])

    def detail(self, values: Values, row: int, config: RuleConfig) -> str:
        """Return the detail of a rejected pair: its values and the limit."""
        measured = ", ".join(f"{name} {values[name][row]:.3g}" for name in self.columns)
        return f"{measured} {'<' if self.least else '>'} {self.limit(config):g}"


RULES = (
    Rule(Reject.MOJIBAKE, mojibake, ("mojibake",), "max_mojibake"),
    Rule(Reject.ENTITIES, entities, ("entities",), "max_entities"),
    Rule(Reject.SOURCE_FOREIGN, source_foreign, ("source_foreign",), "max_source_foreign"),
    Rule(Reject.TARGET_FOREIGN, target_foreign, ("target_foreign",), "max_target_foreign"),
    Rule(Reject.SCRIPT, script, ("source_script", "target_script"), "min_script", least=True),
    Rule(Reject.COPIED, copied, ("copied_words", "copied_characters"), "max_copied"),
    Rule(
        Reject.NUMBER_MISMATCH,
        number_mismatch,
        ("number_mismatch",),
        "max_number_mismatch",
        beside=("number_conflict",),
    ),
    Rule(Reject.REPETITION, repetition, ("repetition",), "max_repetition"),
    Rule(Reject.CHAR_RATIO, char_ratio, ("char_ratio",), "max_char_ratio"),
    Rule(Reject.WORD_CHARS, word_chars, ("word_chars",), "max_word_chars"),
    Rule(Reject.ADDRESS_MISMATCH, address_mismatch, ("address_mismatch",), "max_address_mismatch"),
    Rule(
        Reject.PLACEHOLDER_MISMATCH,
        placeholder_mismatch,
        ("placeholder_mismatch",),
        "max_placeholder_mismatch",
    ),
    Rule(Reject.TAG_MISMATCH, tag_mismatch, ("tag_mismatch",), "max_tag_mismatch"),
    Rule(Reject.BRACKET_MISMATCH, bracket_mismatch, ("bracket_mismatch",), "max_bracket_mismatch"),
    Rule(Reject.END_MISMATCH, end_mismatch, ("end_mismatch",), "max_end_mismatch"),
)
"""The rules in order; the first one that a pair breaks is its reject reason."""

COLUMNS = tuple(column for rule in RULES for column in (*rule.columns, *rule.beside))
"""The columns of all rules of this package, float32."""


def rules_of(config: RuleConfig) -> tuple[Rule, ...]:
    """Return all rules in order: those of this package, then those of other packages."""
    return (*RULES, *(_plugin_rule(planned) for planned in config.plugins))


def _plugin_rule(planned: PlannedRule) -> Rule:
    reason = PluginReason.of(planned.plugin.name)
    return Rule(
        reason,
        lambda sides: {str(reason): measure(planned, sides.pairs)},
        (str(reason),),
        "plugin_rules",
        least=planned.least,
        own_limit=planned.limit,
    )


@dataclasses.dataclass(frozen=True)
class Judged:
    """Results of the rules for some pairs.

    Attributes:
        values: The columns of the rules, float32 ``[pair]``.
        hits: Pairs that break each rule, by reason in the rules' order, bool ``[pair]``.
        details: Functions that return the detail of a rejected pair, by reason.
        target_words: Number of words of each target: separated by white space, with each letter of
            a script without spaces as a word, int64 ``[pair]``.
        detected: Detected language of each side, by the names ``source_detected`` and
            ``target_detected``, if there is a detector; None if it is not certain.
    """

    values: Values
    hits: Mapping[Reject | PluginReason, Mask]
    details: Mapping[Reject | PluginReason, Callable[[int], str]]
    target_words: np.ndarray
    detected: Mapping[str, list[str | None]]

    def first(self) -> np.ndarray:
        """Return the index of the first rule that rejects each pair, -1 for none ``[pair]``."""
        numbers = np.full(len(next(iter(self.hits.values()))), -1, np.int64)
        for place, mask in reversed(list(enumerate(self.hits.values()))):
            numbers[mask] = place
        return numbers


def judge(pairs: pa.Table | pa.RecordBatch, config: RuleConfig) -> Judged:
    """Apply all rules to pairs.

    Args:
        pairs: Rows with the texts and languages of `transforms.schemas.PAIRS`; no text is null.
        config: Limits of the rules.

    Raises:
        ConfigError: The language detector or a rule's package is not installed, or that rule fails.
    """
    sides = Sides(pairs)
    active = rules_of(config)
    values: dict[str, np.ndarray] = {}
    for rule in active:
        values |= rule.measure(sides)
    hits = {rule.reason: rule.hits(values, config) for rule in active}
    details: dict[Reject | PluginReason, Callable[[int], str]] = {
        rule.reason: lambda row, rule=rule: rule.detail(values, row, config)  # type: ignore[misc]
        for rule in active
    }
    detected: dict[str, list[str | None]] = {}
    for side, reason in languages.REASONS.items() if config.detector != "none" else ():
        languages_of_side = detectors.detect(pairs.column(side).to_pylist(), config.detector)
        expected = pairs.column(f"{side}_lang").cast(pa.string()).to_pylist()
        hits[reason] = languages.other(languages_of_side, expected, config.detector)
        detected[f"{side}_detected"] = languages_of_side
        details[reason] = lambda row, languages_of_side=languages_of_side, expected=expected: (  # type: ignore[misc]
            f"{languages_of_side[row]}, expected {expected[row]}"
        )
    return Judged(values, hits, details, sides.characters[1].written, detected)


def reasons(config: RuleConfig) -> tuple[Reject | PluginReason, ...]:
    """Return the reasons of all active rules, in their order."""
    detected = tuple(languages.REASONS.values()) if config.detector != "none" else ()
    return (*(rule.reason for rule in rules_of(config)), *detected)
