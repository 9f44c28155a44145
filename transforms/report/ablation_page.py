"""The report of an ablation: a table for each test set, learning curves, and translations.

One HTML file that needs nothing else, like the report of a run.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from pairweave.transforms.report.report_samples import TAG_COLOURS
from pairweave.transforms.report.shown_text import pieces
from pairweave.transforms.report.templating import render_html

Rows = list[dict[str, Any]]

CHART_WIDTH, CHART_HEIGHT = 100, 50
"""Size of a learning curve, in its own units."""

_CURVES = 8
"""Number of colours for curves."""


@dataclasses.dataclass(frozen=True)
class ResultTable:
    """The results on a test set.

    Attributes:
        name: Its name.
        columns: Names and kinds of the columns.
        rows: A row for each arm and metric.
    """

    name: str
    columns: Sequence[tuple[str, str]]
    rows: Rows


@dataclasses.dataclass(frozen=True)
class Sentence:
    """A segment with its human translation and that of each arm.

    Attributes:
        source: The source, with tags.
        reference: Its human translation.
        outputs: The translation of each arm.
    """

    source: str
    reference: str
    outputs: Mapping[str, str]


def render(
    facts: Mapping[str, str],
    tables: Sequence[ResultTable],
    curves: Mapping[str, Mapping[str, Sequence[float]]],
    curve_steps: int,
    sentences: Mapping[str, Sequence[Sentence]],
    signatures: Mapping[str, str],
    missing: Sequence[str],
) -> str:
    """Render the page.

    Args:
        facts: Facts that are the same for all units, by name.
        tables: The results.
        curves: Losses by arm and kind (``train``, ``dev``), means over the seeds ``[point]``.
        curve_steps: Updates between two points.
        sentences: Segments of each test set.
        signatures: The signature of each metric.
        missing: Units that are not finished.

    Returns:
        The page, the same for the same arguments; HTML and well-formed XML.
    """
    return render_html(
        "ablation.html.j2",
        facts=[{"what": name, "value": value} for name, value in facts.items()],
        tables=tables,
        charts=[
            _chart(kind, {arm: losses.get(kind, ()) for arm, losses in curves.items()}, curve_steps)
            for kind in ("train", "dev")
            if any(losses.get(kind) for losses in curves.values())
        ],
        sentences=[
            (name, [_shown(sentence) for sentence in examples])
            for name, examples in sentences.items()
        ],
        signatures=[{"metric": name, "signature": line} for name, line in signatures.items()],
        missing=missing,
        tag_colours=TAG_COLOURS,
    )


def _shown(sentence: Sentence) -> list[dict[str, Any]]:
    texts = {"source": sentence.source, "people": sentence.reference, **sentence.outputs}
    return [
        {"who": who, "pieces": pieces(text), "tagged": True, "missing": "" if text else "nothing"}
        for who, text in texts.items()
    ]


def _chart(kind: str, curves: Mapping[str, Sequence[float]], steps: int) -> dict[str, Any]:
    """Return the lines of a chart; the vertical axis is from the lowest to the highest loss."""
    values = [value for losses in curves.values() for value in losses]
    low, high = min(values), max(values)
    longest = max(len(losses) for losses in curves.values())
    lines = []
    for number, (arm, losses) in enumerate(curves.items()):
        points = [
            (
                CHART_WIDTH * at / max(1, longest - 1),
                CHART_HEIGHT * (high - loss) / max(high - low, 1e-9),
            )
            for at, loss in enumerate(losses)
        ]
        if losses:
            lines.append(
                {
                    "arm": arm,
                    "colour": number % _CURVES,
                    "points": " ".join(f"{x:.2f},{y:.2f}" for x, y in points),
                    "last": f"{losses[-1]:.3f}",
                }
            )
    title = "Training loss" if kind == "train" else "Loss on the dev set"
    return {
        "title": title,
        "lines": lines,
        "low": f"{low:.2f}",
        "high": f"{high:.2f}",
        "steps": f"{longest * steps:,}",
        "rows": [{"arm": line["arm"], "last": line["last"]} for line in lines],
    }
