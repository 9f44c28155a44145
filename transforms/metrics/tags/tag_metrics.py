"""Outputs with tags against references: all metrics of markup transfer, each with its signature."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.installed_packages import version_of
from pairweave.transforms.markup.markup import XML, Marked, find_syntax, parse_markup
from pairweave.transforms.metrics.sacrebleu_scores import (
    TOKENIZERS,
    SacreBleu,
    metric_of,
    score_bleu,
)
from pairweave.transforms.metrics.tags.tag_failures import Failures, count_failures
from pairweave.transforms.metrics.tags.tag_positions import PositionScores, score_positions
from pairweave.transforms.metrics.tags.tag_spans import (
    AS_THEY_STAND,
    SpanConfig,
    SpanScores,
    score_spans,
    shift_tags,
)
from pairweave.transforms.metrics.tags.tag_texts import TagTexts
from pairweave.transforms.metrics.tags.xml_metrics import XmlConfig, XmlScores, score_xml
from pairweave.transforms.output.signature_line import signature


@dataclasses.dataclass(frozen=True, slots=True)
class TagScores:
    """Scores of outputs with tags against their references.

    Attributes:
        config: Settings of tags and words.
        xml: BLEU, XML BLEU, accuracy and match.
        spans: F1 over tagged words.
        span_config: Settings of the words of a tag.
        tagged: BLEU with tags as words; None without BLEU.
        shifted: XML scores and F1 of outputs with all tags moved one word to the left; None if off.
        positions: Positions of tags in the outputs whose text is the reference's.
        failures: Flagrant failures of each line; None without sources.
    """

    config: XmlConfig
    xml: XmlScores
    spans: SpanScores
    shifted: tuple[XmlScores, SpanScores] | None
    positions: PositionScores
    failures: tuple[Failures, ...] | None
    span_config: SpanConfig = AS_THEY_STAND
    tagged: SacreBleu | None = None

    @property
    def failed(self) -> Failures | None:
        """Return the sum of the failures of all lines."""
        return None if self.failures is None else sum(self.failures, Failures())

    @property
    def signatures(self) -> dict[str, str]:
        """Return the signature of each group of figures: everything that determines them."""
        named = {name: self.signature_of(name) for name in sorted(self._groups())}
        return named if self.tagged is None else {**named, "tagged_bleu": self._tagged_signature()}

    def signature_of(self, group: str, more: Mapping[str, object] | None = None) -> str:
        """Return the line that names everything that determines a group of figures.

        Args:
            group: A group in `signatures`, except ``tagged_bleu``, which sacreBLEU signs.
            more: Further settings, such as those of significance tests.
        """
        settings = {"metric": group, "tags": self.config.rule, **self._groups()[group]}
        return signature({**settings, **(more or {})}, version_of())

    def _tagged_signature(self) -> str:
        assert self.tagged is not None
        return f"tags:content|{self.tagged.signature}"

    def _groups(self) -> dict[str, dict[str, object]]:
        tags, language = self.config.rule, self.config.language
        groups: dict[str, dict[str, object]] = {
            "f1": {"average": "tag", **self.span_config.settings},
            "positions": {"distance": "nearest", "same": "characters", "unit": "code-point"},
            "xml": {"names": "lxm-22" if tags == "lxm" else "all", "structure": "names"},
        }
        groups["f1"]["lang"] = language
        if self.failures is not None:
            groups["failures"] = {"nesting": "source", "pieces": "words"}
        if self.config.words is not None:
            words = self.config.words
            groups["bleu"] = {
                "case": "mixed",
                "effective": "no",
                "nrefs": 1,
                "smooth": "none",
                "tok": f"moses-{language}" if words == "moses" else words,
                "packages": _packages(words),
            }
        return groups

    def as_dict(self) -> dict[str, Any]:
        """Return all figures, unrounded, shares in [0, 1], BLEU in [0, 100], and the signatures."""
        figures: dict[str, Any] = {
            "lines": len(self.xml.lines),
            "bleu": self.xml.bleu,
            "xml_bleu": self.xml.xml_bleu,
            "tagged_bleu": None if self.tagged is None else self.tagged.score,
            "xml_accuracy": self.xml.accuracy,
            "xml_match": self.xml.match,
            "tree_similarity": self.xml.tree_similarity,
            "f1": self.spans.f1,
            "f1_tags": self.spans.tags,
            "position_accuracy": self.positions.accuracy,
            "mean_distance": self.positions.mean_distance,
            "position_tags": self.positions.tags,
            "incomparable_lines": self.positions.incomparable,
        }
        if self.shifted is not None:
            figures |= {
                "shifted_f1": self.shifted[1].f1,
                "shifted_xml_bleu": self.shifted[0].xml_bleu,
            }
        if self.failed is not None:
            figures["failures"] = {**dataclasses.asdict(self.failed), "total": self.failed.total}
        return {**figures, "signatures": self.signatures}

    def render(self) -> str:
        """Return the figures for a reader, their signatures, and on the last line all as JSON."""
        return "\n".join([*self.shown(), json.dumps(self.as_dict())])

    def shown(self) -> list[str]:
        """Return the figures and their signatures for a reader, as lines."""
        signatures = self.signatures
        lines = []
        if self.xml.bleu is not None and self.xml.xml_bleu is not None:
            lines += [
                f"BLEU {self.xml.bleu:.2f}  XML BLEU {self.xml.xml_bleu:.2f}",
                f"  {signatures['bleu']}",
            ]
        if self.tagged is not None:
            lines += [
                f"tagged BLEU {self.tagged.score:.2f}, tags as words",
                f"  {signatures['tagged_bleu']}",
            ]
        lines += [
            f"XML accuracy {_percent(self.xml.accuracy)}  XML match {_percent(self.xml.match)}  "
            f"tree similarity {_percent(self.xml.tree_similarity)}",
            f"  {signatures['xml']}",
            f"F1 {_percent(self.spans.f1)} over {self.spans.tags} tags",
            *self._shift_lines(),
            f"  {signatures['f1']}",
            f"position accuracy {_percent(self.positions.accuracy)}  "
            f"mean distance {_number(self.positions.mean_distance)} over {self.positions.tags} "
            f"tags; {self.positions.incomparable} lines have other text or tags than the reference",
            f"  {signatures['positions']}",
        ]
        if self.failed is not None:
            counts = dataclasses.asdict(self.failed)
            named = "  ".join(f"{name.replace('_', ' ')} {times}" for name, times in counts.items())
            lines += [f"failures {self.failed.total}: {named}", f"  {signatures['failures']}"]
        return lines

    def _shift_lines(self) -> list[str]:
        if self.shifted is None:
            return []
        xml, spans = self.shifted
        bleu = "" if xml.xml_bleu is None else f", XML BLEU {xml.xml_bleu:.2f}"
        return [f"with all tags a word further left: F1 {_percent(spans.f1)}{bleu}"]

    def render_lines(self) -> str:
        """Return one JSON object per line, with its number and the value of each metric."""
        rows = []
        for at, (xml, f1, places) in enumerate(
            zip(self.xml.lines, self.spans.lines, self.positions.lines, strict=True)
        ):
            row: dict[str, Any] = {"line": at + 1, **dataclasses.asdict(xml), "f1": f1}
            row["positions"] = dataclasses.asdict(places)
            if self.failures is not None:
                row["failures"] = dataclasses.asdict(self.failures[at])
            rows.append(f"{json.dumps(row)}\n")
        return "".join(rows)


def evaluate_tags(
    texts: TagTexts, config: XmlConfig, spans: SpanConfig = AS_THEY_STAND, *, shift: bool = False
) -> TagScores:
    """Measure outputs with tags.

    Args:
        texts: Outputs, references and perhaps sources, at least one line.
        config: Settings of tags and words.
        spans: Settings of the words of a tag, for F1.
        shift: Whether to measure the outputs once more with all tags a word further left.

    Raises:
        ConfigError: The words need a package that is not installed.
        InputError: A reference's tags are broken.
    """
    if not texts.references:
        raise ConfigError(f"{texts.name}: there is no line to measure")
    syntax = XML if config.rule == "lxm" else find_syntax(config.rule)
    outputs, wanted = _parsed(texts.hypotheses, config), _parsed(texts.references, config)
    failures = None
    if texts.sources is not None:
        failures = count_failures(outputs, _parsed(texts.sources, config), syntax)
    shifted = None
    if shift:
        moved = shift_tags(outputs, config.language)
        shifted = (
            score_xml([str(line) for line in moved], texts.references, config, texts.name),
            score_spans(moved, wanted, config.language, spans),
        )
    return TagScores(
        config,
        score_xml(texts.hypotheses, texts.references, config, texts.name),
        score_spans(outputs, wanted, config.language, spans),
        shifted,
        score_positions(outputs, wanted),
        failures,
        spans,
        _tagged_bleu(texts, config),
    )


def tagged_metric(config: XmlConfig) -> Any | None:  # noqa: ANN401 - a sacrebleu.metrics.BLEU
    """Return the metric of BLEU with tags as words (Hanneman and Dinu 2020, section 6.1).

    Words are those of a sacreBLEU tokenizer: its ``none`` for ``whitespace``, ``13a`` instead of
    tokenizers that it lacks. None if BLEU is off.
    """
    if config.words is None:
        return None
    known = {name: name for name in TOKENIZERS} | {"whitespace": "none"}
    return metric_of(tokenize=known.get(config.words, "13a"), force=True)


def _tagged_bleu(texts: TagTexts, config: XmlConfig) -> SacreBleu | None:
    metric = tagged_metric(config)
    return None if metric is None else score_bleu(metric, texts.hypotheses, [texts.references])


def _parsed(lines: Sequence[str], config: XmlConfig) -> list[Marked]:
    syntax = XML if config.rule == "lxm" else find_syntax(config.rule)
    return [parse_markup(line.strip(), syntax) for line in lines]


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.2f} %"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


def _packages(words: str) -> tuple[str, ...]:
    """Return the packages that split the words, with their versions."""
    names = {"moses": ("sacremoses", "regex"), "whitespace": ()}.get(words, ("sacrebleu",))
    return tuple(f"{name}-{version_of(name)}" for name in names)
