"""Shapes of the tags of real documents, learnt from a tagged corpus to draw tags like them."""

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
import orjson
import pyarrow as pa
from pydantic import Field

from pairweave.transforms.errors import PATH_ERRORS, ConfigError
from pairweave.transforms.kernels.tags.elements import Phrases
from pairweave.transforms.kernels.tags.tag_draws import Shape
from pairweave.transforms.markup.markup import (
    Element,
    Form,
    Marked,
    Syntax,
    SyntaxName,
    find_elements,
    parse_markup,
)
from pairweave.transforms.storage import files
from pairweave.transforms.storage.json_files import JsonFile, check
from pairweave.transforms.tags.named_tags import FORMS, NO_NAMES, TagNames
from pairweave.transforms.tags.tag_measures import FEATURES, Elements, Ruler, cells_of, measure

VERSION = 1

_REMEDY = "make one with: pairweave tags profile --input TAGGED --output FILE"

_FORM_NUMBERS = {Form.PAIR: 0, Form.SELF_CLOSING: 2, Form.OPEN: 3, Form.CLOSE: 4}


@dataclasses.dataclass(frozen=True, slots=True)
class TagProfile:
    """A distribution to draw tags from: counts of `transforms.tags.tag_measures.measure`.

    Attributes:
        counts: The counts, sorted by name.
        split: The number of whole pairs of the source that are in two parts on one side, and the
            number of all whole pairs.
        names: Names of the tags, for ``--representation raw``.
    """

    counts: tuple[tuple[str, int], ...]
    split: tuple[int, int] = (0, 0)
    names: TagNames = NO_NAMES

    def __post_init__(self) -> None:
        counts = dict(self.counts)
        for feature in ("tags", "form"):
            if not any(counts.get(f"{feature} {name}", 0) for name in FEATURES[feature]):
                raise ConfigError("a tag profile must count at least one tag; this one counts none")

    @property
    def split_share(self) -> float:
        """Return the share of whole pairs that are in two parts on one side."""
        return self.split[0] / self.split[1] if self.split[1] else 0.0

    def shares(self, feature: str, names: Sequence[str]) -> np.ndarray:
        """Return the counts of a feature's classes, float64 ``[class]``."""
        counts = dict(self.counts)
        return np.array([counts.get(f"{feature} {name}", 0) for name in names], np.float64)

    def to_json(self) -> dict[str, Any]:
        """Return the profile as plain data."""
        names: dict[str, dict[str, int]] = {}
        for form, name, count in self.names.counts:
            names.setdefault(form, {})[name] = count
        return {
            "counts": dict(self.counts),
            "split": list(self.split),
            "names": names,
            "syntax": self.names.syntax,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "TagProfile":
        """Read what `to_json` wrote; ignore other keys.

        Raises:
            ConfigError: It is not a profile.
        """
        known = {f"{feature} {name}" for feature, names in FEATURES.items() for name in names}
        known |= {"nested yes", "nested no"}
        try:
            counts = tuple(sorted((str(name), n) for name, n in value["counts"].items()))
            split = tuple(value["split"])
            names = tuple(
                sorted(
                    (str(form), str(name), n)
                    for form, own in value.get("names", {}).items()
                    for name, n in own.items()
                )
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ConfigError(f"this is not a tag profile: {error!r}") from error
        numbers = [*(number for *_, number in (*counts, *names)), *split]
        whole = all(type(number) is int and number >= 0 for number in numbers)
        if len(split) != 2 or not whole or not {name for name, _ in counts} <= known:
            raise ConfigError("this is not a tag profile: its counts are not counts of tag shapes")
        if not {form for form, *_ in names} <= {*FORMS}:
            raise ConfigError(
                f"this is not a tag profile: the forms of names must be {', '.join(FORMS)}"
            )
        return cls(counts, split, TagNames(names, str(value.get("syntax", "xml"))))


class _ProfileFile(JsonFile):
    """The content of a profile's file."""

    ADVICE: ClassVar[str] = (
        "make a profile with: pairweave tags profile --input TAGGED --output FILE"
    )

    tag_profile: int
    counts: dict[str, Annotated[int, Field(ge=0)]]
    split: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=2, max_length=2)]
    names: dict[str, dict[str, Annotated[int, Field(ge=0)]]] = Field(default_factory=dict)
    syntax: SyntaxName = "xml"


def read_profile(path: str) -> TagProfile:
    """Read the file of a profile.

    Raises:
        ConfigError: It cannot be read, or is not a profile.
    """
    name = f"--tag_profile {path}"
    try:
        value = orjson.loads(files.read_bytes(path))
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"{name}: expected a tag profile, found no JSON ({error})") from error
    except PATH_ERRORS as error:
        reason = error.strerror or error
        raise ConfigError(f"{name}: cannot be read: {reason}; {_REMEDY}") from error
    if not isinstance(value, dict) or value.get("tag_profile") != VERSION:
        raise ConfigError(f"{name}: not a tag profile of version {VERSION}; {_REMEDY}")
    check(value, name, _ProfileFile)
    try:
        return TagProfile.from_json(value)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from error


def shape_of(
    profile: TagProfile, phrases: Phrases, ruler: Ruler, start: np.ndarray, end: np.ndarray
) -> Shape:
    """Return the shapes of the source sides of phrase pairs in terms of a profile.

    Args:
        profile: The profile.
        phrases: The phrase pairs.
        ruler: The words of their sources.
        start: Start of each phrase in its source, in code points ``[phrase pair]``.
        end: End of each phrase.
    """
    text = np.repeat(np.arange(len(phrases.offsets) - 1), np.diff(phrases.offsets))
    later = profile.shares("nested", ("yes", "no"))
    return Shape(
        cells_of(ruler, text, start, end),
        profile.shares("tags", FEATURES["tags"]),
        profile.shares("form", FEATURES["form"]),
        np.concatenate([profile.shares(name, FEATURES[name]) for name in ("span", "point")]),
        np.float64(later[0] / later.sum() if later.sum() else 0.0),
    )


def learn_profile(
    sources: Sequence[str],
    syntax: Syntax,
    targets: Sequence[str] | None = None,
    language: str | None = None,
) -> dict[str, Any]:
    """Learn a profile from tagged text.

    Args:
        sources: Tagged texts.
        syntax: Syntax of the tags.
        targets: Their tagged translations, which show how many pairs are in two parts.
        language: BCP 47 tag of the sources.

    Returns:
        The content of a profile's file: `TagProfile.to_json`; the numbers of texts, tagged texts
        and tags; and, with targets, the numbers of source elements that they lack and of elements
        that they add. White space next to tags is not learnt: an injected tag is next to a word.

    Raises:
        ConfigError: There is no tag, or the numbers of sources and targets differ.
    """
    if targets is not None and len(targets) != len(sources):
        raise ConfigError(f"{len(sources)} lines of source, {len(targets)} of target")
    marked = [parse_markup(text, syntax) for text in sources]
    elements_of_texts = [find_elements(source.tags) for source in marked]
    texts = pa.array([source.text for source in marked], pa.string())
    elements = _elements(elements_of_texts)
    counts = measure(texts, Ruler.of(texts, "words", language), elements)
    names: dict[str, Counter[str]] = {}
    for source, own in zip(marked, elements_of_texts, strict=True):
        for element in own:
            names.setdefault(element.form.value, Counter())[source.tags[element.first].name] += 1
    pairs: Counter[str] = Counter()
    for source, own, target in zip(marked, elements_of_texts, targets or (), strict=False):
        other = parse_markup(target, syntax)
        pairs += _compare(_identities(source, own), _identities(other, find_elements(other.tags)))
    named = ((form, *item) for form, own in names.items() for item in own.items())
    profile = TagProfile(
        tuple(sorted(counts.items())),
        (pairs["split"], pairs["pairs"]),
        TagNames(tuple(sorted(named)), syntax.name),
    )
    return {
        "tag_profile": VERSION,
        "texts": len(sources),
        "tagged_texts": sum(bool(own) for own in elements_of_texts),
        "tags": len(elements.text),
        **profile.to_json(),
        "target": None if targets is None else {name: pairs[name] for name in ("lacks", "adds")},
    }


def _elements(elements_of_texts: Sequence[Sequence[Element]]) -> Elements:
    rows = [
        (text, _FORM_NUMBERS[element.form], element.start, element.end)
        for text, own in enumerate(elements_of_texts)
        for element in own
    ]
    return Elements(*np.array(rows, np.int64).reshape(-1, 4).T.copy())


def _identities(marked: Marked, elements: Iterable[Element]) -> Counter[tuple[str, str, str]]:
    tags = marked.tags
    firsts = ((element.form, tags[element.first]) for element in elements)
    return Counter((form.value, tag.name, tag.key) for form, tag in firsts)


def _compare(
    source: Counter[tuple[str, str, str]], target: Counter[tuple[str, str, str]]
) -> Counter[str]:
    counts: Counter[str] = Counter()
    for identity in source.keys() | target.keys():
        ours, theirs = source[identity], target[identity]
        counts["lacks"] += not theirs
        counts["adds"] += not ours
        if identity[0] == Form.PAIR and ours and theirs:
            counts["pairs"] += 1
            counts["split"] += min(ours, theirs) == 1 < max(ours, theirs)
    return counts


def compare(profile: TagProfile, drawn: Mapping[str, int]) -> dict[str, float]:
    """Return the distance of drawn shapes from a profile, by feature.

    This is the Jensen-Shannon distance (the root of the divergence to base 2; Endres and Schindelin
    2003): 0 for equal shares, 1 for nothing in common. Spans are compared by length and place
    together, by length alone and by place alone; names by form. A feature without counts on one
    side is left out.

    Args:
        profile: The profile.
        drawn: Counts of `transforms.tags.tag_measures.measure`.
    """
    distances = {}
    learnt = dict(profile.counts)
    for form, name, count in profile.names.counts:
        learnt[f"name {form} {name}"] = count
    for feature in (*FEATURES, "length", "place", *(f"name {form}" for form in FORMS)):
        names = [name for name in {**learnt, **drawn} if name.startswith(f"{feature} ")]
        one, two = (
            np.array([counts.get(name, 0) for name in names], np.float64)
            if feature.startswith("name ")
            else _classes(feature, counts)
            for counts in (learnt, drawn)
        )
        if one.sum() and two.sum():
            distances[feature] = round(jensen_shannon(one, two), 6)
    return distances


def _classes(feature: str, counts: Mapping[str, int]) -> np.ndarray:
    """Return the counts of a feature's classes, float64 ``[class]``."""
    if feature in FEATURES:
        names = FEATURES[feature]
        return np.array([counts.get(f"{feature} {name}", 0) for name in names], np.float64)
    part = 0 if feature == "length" else 1
    merged: Counter[str] = Counter({name.split()[part]: 0 for name in FEATURES["span"]})
    for name in FEATURES["span"]:
        merged[name.split()[part]] += counts.get(f"span {name}", 0)
    return np.array(list(merged.values()), np.float64)


def manifest_entry(profile: Mapping[str, Any], shapes: Mapping[str, int]) -> dict[str, Any]:
    """Return a profile's entry in the manifest: its counts, the drawn ones and their distance.

    Args:
        profile: The profile, as `TagProfile.to_json` writes it.
        shapes: Shapes of the drawn tags by class, summed over all receipts.
    """
    drawn = dict(sorted(shapes.items()))
    return {**profile, "drawn": drawn, "distance": compare(TagProfile.from_json(profile), drawn)}


def jensen_shannon(one: np.ndarray, other: np.ndarray) -> float:
    """Return the Jensen-Shannon distance of two distributions given as counts, in [0, 1].

    >>> jensen_shannon(np.array([1, 0]), np.array([0, 2]))
    1.0
    """
    first, second = one / one.sum(), other / other.sum()
    mean = (first + second) / 2
    divergence = 0.0
    for part in (first, second):
        some = part > 0
        divergence += float((part[some] * np.log2(part[some] / mean[some])).sum()) / 2
    return math.sqrt(min(1.0, max(0.0, divergence)))
