"""Metrics of texts with XML: BLEU, XML BLEU, XML accuracy, XML match, and similarity of trees.

All but the last (`tree_similarity`) are those of Hashimoto et al. (2019, section 4.1).

With the rule ``lxm`` the figures are those of the script that comes with the XML-tagged online-help
corpus: it recognizes tags of 22 names without attributes; anything else in angle brackets counts as
words. With a syntax, all tags of that syntax are recognized.
"""

import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Sequence
from xml.parsers import expat

import numpy as np

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.markup.markup import (
    INDEXED,
    SYNTAXES,
    Kind,
    find_syntax,
    is_nested,
    parse_markup,
)
from pairweave.transforms.metrics.sacrebleu_scores import COUNTS, bleu_of, count_ngrams, metric_of
from pairweave.transforms.metrics.tags.tree_similarity import tree_similarity
from pairweave.transforms.option_values import require_choice
from pairweave.transforms.text.moses_words import MosesWords

RULES = ("lxm", *sorted(SYNTAXES))
BLEU_WORDS = ("moses", "13a", "intl", "char", "zh", "whitespace")

_LXM_NAMES = (
    *("ph", "xref", "uicontrol", "b", "codeph", "parmname", "i", "title", "menucascade"),
    *("varname", "userinput", "filepath", "term", "systemoutput", "cite", "li", "ul", "p", "note"),
    *("indexterm", "u", "fn"),
)
_LXM_TAG = re.compile(f"</?(?:{'|'.join(_LXM_NAMES)})>")
_PARSED = frozenset({"lxm", "xml", "xliff"})
_SEGMENTED_BY_SCRIPT = frozenset({"ja", "zh"})

Structure = tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class XmlConfig:
    """Settings for recognizing tags and words.

    Attributes:
        rule: ``lxm``, or the name of a syntax (`transforms.markup.markup.SYNTAXES`).
        words: The words of BLEU: ``moses``, ``whitespace``, or a tokenizer of sacreBLEU; None for
            no BLEU.
        language: ISO 639 code of the texts, for Moses.
    """

    rule: str = "xml"
    words: str | None = "13a"
    language: str | None = None

    def __post_init__(self) -> None:
        require_choice("rule", self.rule, RULES)
        if self.words is None:
            return
        require_choice("bleu_words", self.words, BLEU_WORDS)
        if self.words == "moses" and self.language is None:
            raise ConfigError("Moses words depend on the language; give --target_lang")
        if self.words == "moses" and self.language in _SEGMENTED_BY_SCRIPT:
            raise ConfigError(
                f"Moses does not split {self.language} into words (the corpus's script calls "
                "KyTea for it, which is not part of this program); give --bleu_words char or zh"
            )


@dataclasses.dataclass(frozen=True, slots=True)
class XmlLine:
    """The results for one output.

    Attributes:
        well_formed: Whether its tags nest; if the rule is XML, whether it can be parsed.
        match: Whether, in addition, its tags are those of the reference, name by name.
        tree_similarity: Similarity of its tree and the reference's, in [0, 1]; 0 if it is not well
            formed.
    """

    well_formed: bool
    match: bool
    tree_similarity: float


@dataclasses.dataclass(frozen=True, slots=True)
class XmlScores:
    """Figures of all outputs, shares in [0, 1], BLEU in [0, 100].

    Attributes:
        accuracy: Share of the outputs that are well formed.
        match: Share whose structure is the reference's.
        tree_similarity: Mean similarity of an output's tree and the reference's.
        bleu: BLEU of the texts without tags, unsmoothed; None if off.
        xml_bleu: BLEU of the stretches between tags; an output whose structure is not the
            reference's counts as empty.
        lines: Results of each output.
        bleu_counts: Contribution of each output to BLEU (`sacrebleu_scores.count_ngrams`); None if
            off.
        xml_bleu_counts: Contribution of each output to XML BLEU.
    """

    accuracy: float
    match: float
    tree_similarity: float
    bleu: float | None
    xml_bleu: float | None
    lines: tuple[XmlLine, ...]
    bleu_counts: np.ndarray | None = dataclasses.field(default=None, compare=False, repr=False)
    xml_bleu_counts: np.ndarray | None = dataclasses.field(default=None, compare=False, repr=False)


def score_xml(
    hypotheses: Sequence[str], references: Sequence[str], config: XmlConfig, name: str
) -> XmlScores:
    """Compare outputs with references ``[line]``.

    Args:
        hypotheses: Outputs, one per reference; at least one.
        references: References.
        config: Settings of tags and words.
        name: The references' file, for messages.

    Raises:
        ConfigError: The words need a package that is not installed.
        InputError: The structure of a reference is broken (``bad_reference``).
    """
    bleu, xml_bleu = Bleu(config), Bleu(config)
    lines = []
    for number, (hypothesis, reference) in enumerate(zip(hypotheses, references, strict=True), 1):
        wanted = find_structure(reference.strip(), config.rule)
        if wanted is None:
            flaw = _flaw(reference.strip(), config.rule)
            raise InputError(
                "bad_reference",
                name,
                f"reference {number} {flaw}, so nothing can be measured against it: "
                f"{reference[:80]!r}; fix it, or choose another --syntax",
            )
        structure = find_structure(hypothesis.strip(), config.rule)
        stretches = split_at_tags(hypothesis.strip(), config.rule)
        reference_stretches = split_at_tags(reference.strip(), config.rule)
        # <x/> and <x></x> have the same structure; the script fails on them.
        match = structure == wanted and len(stretches) == len(reference_stretches)
        bleu.add("".join(stretches), "".join(reference_stretches), number)
        for stretch, reference_stretch in zip(
            stretches if match else [""] * len(reference_stretches),
            reference_stretches,
            strict=True,
        ):
            xml_bleu.add(stretch, reference_stretch, number)
        similarity = 0.0 if structure is None else tree_similarity(structure, wanted)
        lines.append(XmlLine(structure is not None, structure == wanted, similarity))
    counts, xml_counts = bleu.line_counts(len(lines)), xml_bleu.line_counts(len(lines))
    return XmlScores(
        sum(line.well_formed for line in lines) / len(lines),
        sum(line.match for line in lines) / len(lines),
        sum(line.tree_similarity for line in lines) / len(lines),
        None if counts is None else float(bleu_of(counts.sum(axis=0))),
        None if xml_counts is None else float(bleu_of(xml_counts.sum(axis=0))),
        tuple(lines),
        counts,
        xml_counts,
    )


def find_structure(text: str, rule: str) -> Structure | None:
    """Return the names of all elements and their ends, in order; None if they do not nest.

    Attributes are ignored except for the number of an indexed tag; comments and processing
    instructions are elements. XML is parsed by Expat with namespaces, which does not accept the
    letters that the fifth edition of XML 1.0 added to names.

    >>> find_structure("a <b>c<i/></b>", "xml")
    ('b', 'i', '/', '/')
    >>> find_structure("a & <b>", "html") is None
    True
    """
    return _parse(text) if rule in _PARSED else _nested_names(text, rule)


def _flaw(text: str, rule: str) -> str:
    """Say what is wrong with a text that has no structure."""
    if rule not in _PARSED:
        return "has tags that do not nest"
    try:
        _events(text)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        return f"is not well-formed XML ({reason} at character {error.offset - len('<ROOT>') + 1})"
    except UnicodeEncodeError:
        pass
    return "is not well-formed XML"


def _parse(text: str) -> Structure | None:
    try:
        return _events(text)
    except (expat.ExpatError, UnicodeEncodeError):
        return None


def _events(text: str) -> Structure:
    events: list[str] = []
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = lambda name, _attributes: events.append(name)
    parser.EndElementHandler = lambda _name: events.append("/")
    parser.CommentHandler = lambda _text: events.extend(("!--", "/"))
    parser.ProcessingInstructionHandler = lambda _target, _data: events.extend(("?", "/"))
    parser.Parse(f"<ROOT>{text}</ROOT>", True)  # noqa: FBT003 - takes no keyword
    return tuple(events[1:-1])


def _nested_names(text: str, rule: str) -> Structure | None:
    syntax = find_syntax(rule)
    tags = parse_markup(text, syntax).tags
    if not is_nested(tags):
        return None
    events = []
    for tag in tags:
        if tag.kind is not Kind.CLOSE:
            events.append(f"{tag.name}_{tag.key}" if syntax is INDEXED else tag.name)
        if tag.kind is not Kind.OPEN:
            events.append("/")
    return tuple(events)


def split_at_tags(text: str, rule: str) -> list[str]:
    """Return the stretches of text between tags, one more than there are tags.

    The escapes ``&amp;``, ``&lt;`` and ``&gt;`` are resolved, in this order as the script does,
    but not in indexed text, which has none.

    >>> split_at_tags("a <b>c &amp;lt; d</b>", "xml")
    ['a ', 'c < d', '']
    """
    if rule == "lxm":
        stretches = _LXM_TAG.split(text)
    else:
        marked = parse_markup(text, find_syntax(rule))
        places = [0, *(tag.offset for tag in marked.tags), len(marked.text)]
        stretches = [marked.text[start:end] for start, end in itertools.pairwise(places)]
    if "&" not in text or rule == INDEXED.name:
        return stretches
    return [
        stretch.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
        for stretch in stretches
    ]


class Bleu:
    """BLEU of lines added one by one (Papineni et al. 2002): four orders, no smoothing."""

    def __init__(self, config: XmlConfig) -> None:
        """Start with no lines."""
        self._cut = None if config.words is None else _cutter(config)
        self._outputs: list[str] = []
        self._references: list[str] = []
        self._numbers: list[int] = []

    def add(self, output: str, reference: str, number: int = 1) -> None:
        """Add a line, or a stretch of one, with its reference; line breaks inside count as blanks.

        Args:
            output: The output line.
            reference: Its reference.
            number: The number of the line, from 1.
        """
        if self._cut is not None:
            self._numbers.append(number)
            self._outputs.append(self._cut(output))
            self._references.append(self._cut(reference))

    def line_counts(self, lines: int) -> np.ndarray | None:
        """Return the contribution of each line, int64 ``[line, number]``; None if BLEU is off."""
        if self._cut is None:
            return None
        counts = np.zeros((lines, COUNTS), np.int64)
        np.add.at(
            counts, np.array(self._numbers) - 1, count_ngrams(self._outputs, self._references)
        )
        return counts


def _cutter(config: XmlConfig) -> Callable[[str], str]:
    if config.words == "moses":
        assert config.language is not None
        return functools.lru_cache(maxsize=1 << 16)(MosesWords(config.language))
    if config.words == "whitespace":
        return str
    tokenizer: Callable[[str], str] = metric_of(tokenize=config.words, force=True).tokenizer
    return lambda text: tokenizer(text.rstrip())
