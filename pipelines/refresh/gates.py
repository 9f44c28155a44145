"""The quality gates: limits of a night, fixed and against the nights before."""

import statistics
from collections.abc import Sequence
from typing import Any

import pydantic
from pydantic import Field

from pairweave.transforms.config import Share, StepOptions
from pairweave.transforms.errors import ConfigError

Json = dict[str, Any]


class Gates(StepOptions):
    """Limits of a night; a night that breaks one commits nothing (key ``gates`` of the file)."""

    max_rejected: Share = Field(
        1.0, description="largest share of rejected pairs, of all pairs read"
    )
    max_reason: dict[str, Share] = Field(
        default_factory=dict, description="likewise for each reason"
    )
    max_removed: Share = Field(
        0.5, description="largest share of the table's pairs that a night may remove"
    )
    min_pairs: int = Field(0, ge=0, description="fewest pairs that the table may have afterwards")
    min_tags: float = Field(0.0, ge=0, description="fewest tags a tagged row on average, augment")
    min_probability: Share = Field(0.0, description="lowest mean probability of links, align")
    nights: int = Field(7, ge=0, description="number of nights before that a night is compared to")
    min_compared: int = Field(
        1_000, ge=1, description="fewest new pairs of a night that is compared to nights before"
    )
    max_drift: float = Field(
        0.2,
        gt=0,
        description="largest difference of a share (rejected, each reason) "
        "from the median of the nights before, and of tags and probabilities as a share of it",
    )
    max_language_drift: Share = Field(
        1.0,
        description="likewise for the share of each pair of languages; 1 for none, since corpora "
        "may come on different days",
    )


def read_gates(value: object) -> Gates:
    """Return the limits in the file.

    Raises:
        ConfigError: One is unknown or out of range.
    """
    if value is None:
        return Gates()
    if not isinstance(value, dict):
        raise ConfigError(f"gates: expected a map of limits, got {value!r}")
    try:
        return Gates.model_validate(value)
    except pydantic.ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in ("gates", *problem["loc"]))
        known = f"; known limits: {', '.join(Gates.model_fields)}"
        more = known if problem["type"] == "extra_forbidden" else f", got {problem['input']!r}"
        raise ConfigError(f"{place}: {problem['msg'].lower()}{more}") from error


def judge(gates: Gates, metrics: Json, before: Sequence[Json]) -> list[Json]:
    """Return what each gate found.

    Args:
        gates: The limits.
        metrics: Metrics of the night (`night_metrics.measure`).
        before: Metrics of the nights before, the last one first.
    """
    found = [*_fixed(gates, metrics)]
    compared = [one for one in before if one["new"]["read"] >= gates.min_compared][: gates.nights]
    if compared and metrics["new"]["read"] >= gates.min_compared:
        found += _drifts(gates, metrics, compared)
    return found


def failed(found: Sequence[Json]) -> list[Json]:
    """Return the gates that a night breaks."""
    return [one for one in found if not one["passed"]]


def _gate(name: str, value: float, limit: float, *, passed: bool) -> Json:
    return {"gate": name, "value": round(value, 6), "limit": round(limit, 6), "passed": passed}


def _fixed(gates: Gates, metrics: Json) -> list[Json]:
    new, table = metrics["new"], metrics["table"]
    lost = metrics["lost"] / table["before"] if table["before"] else 0.0
    found = [
        _gate(
            "max_rejected",
            new["share"],
            gates.max_rejected,
            passed=new["share"] <= gates.max_rejected,
        ),
        _gate("max_removed", lost, gates.max_removed, passed=lost <= gates.max_removed),
        _gate(
            "min_pairs", table["pairs"], gates.min_pairs, passed=table["pairs"] >= gates.min_pairs
        ),
    ]
    for reason, limit in sorted(gates.max_reason.items()):
        share = new["reasons"].get(reason, 0.0)
        found.append(_gate(f"max_reason.{reason}", share, limit, passed=share <= limit))
    for name, limit in (("tags", gates.min_tags), ("probability", gates.min_probability)):
        if name in new:
            found.append(_gate(f"min_{name}", new[name], limit, passed=new[name] >= limit))
    return found


def _drifts(gates: Gates, metrics: Json, before: Sequence[Json]) -> list[Json]:
    found = []
    for kind, limit in (("reasons", gates.max_drift), ("languages", gates.max_language_drift)):
        shares = _shares(metrics, kind)
        usual_shares = [_shares(one, kind) for one in before]
        for name in sorted({*shares, *(name for one in usual_shares for name in one)}):
            usual = statistics.median(one.get(name, 0.0) for one in usual_shares)
            drift = abs(shares.get(name, 0.0) - usual)
            found.append(_gate(f"drift.{name}", drift, limit, passed=drift <= limit))
    new = metrics["new"]
    for name in ("tags", "probability"):
        values = [one["new"][name] for one in before if name in one["new"]]
        if name in new and values and statistics.median(values):
            usual = statistics.median(values)
            drift = abs(new[name] - usual) / usual
            found.append(
                _gate(f"drift.{name}", drift, gates.max_drift, passed=drift <= gates.max_drift)
            )
    return found


def _shares(metrics: Json, kind: str) -> dict[str, float]:
    """Return the shares of a night that are compared: of each language, or rejected ones."""
    new = metrics["new"]
    shares = dict(new.get(kind, {}))
    return {"rejected": new["share"], **shares} if kind == "reasons" else shares
