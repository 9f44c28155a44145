"""The quality gates: limits of a night, either fixed or relative to the nights before."""

import difflib
import statistics
from collections.abc import Iterable, Sequence
from typing import Annotated

import pydantic
from pydantic import Field

from pairweave.pipelines.refresh.chain.records import Json
from pairweave.transforms.config import Config, Share
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.findings import KINDS
from pairweave.transforms.rejects import Reject
from pairweave.transforms.screen import ScreenReject, reason_of


class Gates(Config):
    """Limits of a night; a night that breaks one commits nothing (key ``gates`` of the file)."""

    max_rejected: Share = Field(
        1.0, description="largest share of rejected pairs, of all pairs read"
    )
    max_reason: dict[str, Share] = Field(
        default_factory=dict,
        description="largest share of pairs rejected for each reason, of all pairs read",
    )
    max_findings: dict[str, Annotated[int, Field(ge=0)]] = Field(
        default_factory=dict,
        description="largest number of lines with each kind of findings of `check`, such as "
        "misaligned: 0, among those that a night looks at (`check: all` looks at all)",
    )
    max_removed: Share = Field(
        0.5, description="largest share of the table's pairs that a night may remove"
    )
    min_pairs: int = Field(0, ge=0, description="fewest pairs that the table may have afterwards")
    min_tags: float = Field(
        0.0, ge=0, description="fewest tags per tagged row, on average (augment)"
    )
    min_probability: Share = Field(0.0, description="lowest mean probability of links (align)")
    min_likelihood: float | None = Field(
        None,
        lt=0,
        description="lowest mean log-likelihood of a word by the fitted aligner, in nats, for each "
        "pair of languages, such as -6; none by default",
    )
    max_likelihood_drop: float | None = Field(
        None,
        gt=0,
        description="largest drop of this likelihood below the median of the nights before, in "
        "nats; none by default",
    )
    max_count_factor: float | None = Field(
        None,
        ge=1,
        description="largest factor by which the number of new pairs, kept or rejected, may be "
        "above or below the median of the nights before; none by default",
    )
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
        description="the same for the share of each pair of languages; 1 for no limit, because "
        "corpora may come on different days",
    )

    @property
    def ask_likelihood(self) -> bool:
        """Tell whether a night must compute the likelihood of its new pairs."""
        return self.min_likelihood is not None or self.max_likelihood_drop is not None

    @pydantic.field_validator("max_reason")
    @classmethod
    def _known_reasons(cls, value: dict[str, float]) -> dict[str, float]:
        for name in value:
            try:
                reason_of(name)
            except ValueError:
                message = _unknown("reason", name, [*ScreenReject, *Reject])
                raise ValueError(message) from None
        return value

    @pydantic.field_validator("max_findings")
    @classmethod
    def _known_kinds(cls, value: dict[str, int]) -> dict[str, int]:
        for name in value:
            if name not in KINDS:
                raise ValueError(_unknown("kind", name, KINDS, f"; known: {', '.join(KINDS)}"))
        return value


def _unknown(what: str, name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return a message with the known name that is most like an unknown one, if any is."""
    near = difflib.get_close_matches(name, list(known), 1)
    return f"unknown {what} {name}{f', did you mean {near[0]}' if near else otherwise}"


def read_gates(value: object) -> Gates:
    """Return the limits in the file.

    Raises:
        ConfigError: A limit is unknown or out of range.
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
        text = problem["msg"].removeprefix("Value error, ")
        raise ConfigError(f"{place}: {text[:1].lower()}{text[1:]}{more}") from error


def judge(gates: Gates, metrics: Json, before: Sequence[Json], *, anew: bool = False) -> list[Json]:
    """Return the result of each gate.

    Args:
        gates: The limits.
        metrics: Metrics of the night (`night_metrics.measure`).
        before: Metrics of the nights before, latest first.
        anew: Whether all rows are made anew, so that their number is not that of one night.
    """
    results = [*_fixed(gates, metrics)]
    compared = [night for night in before if _judged(night) >= gates.min_compared][: gates.nights]
    if compared and _judged(metrics) >= gates.min_compared:
        results += _drifts(gates, metrics, compared)
    results += _likelihoods(gates, metrics, before)
    if compared and gates.max_count_factor and _judged(metrics) and not anew:
        usual = statistics.median(_judged(night) for night in compared)
        factor = max(_judged(metrics) / usual, usual / _judged(metrics))
        limit = gates.max_count_factor
        results.append(_at_most("max_count_factor", factor, limit))
    return results


def _judged(metrics: Json) -> int:
    """Return the number of new pairs of a night, kept and rejected."""
    return int(metrics["new"]["pairs"] + metrics["new"]["rejected"])


def failed(results: Sequence[Json]) -> list[Json]:
    """Return the gates that a night fails."""
    return [result for result in results if not result["passed"]]


def _at_most(name: str, value: float, limit: float) -> Json:
    gate = _gate(name, value, limit)
    return {**gate, "passed": gate["value"] <= gate["limit"]}


def _at_least(name: str, value: float, limit: float) -> Json:
    gate = _gate(name, value, limit)
    return {**gate, "passed": gate["value"] >= gate["limit"]}


def _gate(name: str, value: float, limit: float) -> Json:
    """Return a gate as it is shown and judged: shares have six digits, and 0.9 - 0.7 is 0.2."""
    return {"gate": name, "value": round(value, 6), "limit": round(limit, 6)}


def _fixed(gates: Gates, metrics: Json) -> list[Json]:
    new, table = metrics["new"], metrics["table"]
    lost = metrics["lost"] / table["before"] if table["before"] else 0.0
    results = [
        _at_most("max_rejected", new["share"], gates.max_rejected),
        _at_most("max_removed", lost, gates.max_removed),
        _at_least("min_pairs", table["pairs"], gates.min_pairs),
    ]
    for reason, limit in sorted(gates.max_reason.items()):
        share = new["reasons"].get(reason, 0.0)
        results.append(_at_most(f"max_reason.{reason}", share, limit))
    for kind, most in sorted(gates.max_findings.items()):
        lines = new.get("findings", {}).get(kind, 0)
        results.append(_at_most(f"max_findings.{kind}", lines, most))
    for name, limit in (("tags", gates.min_tags), ("probability", gates.min_probability)):
        if name in new or (limit and new["pairs"]):  # without a tagged row, the mean is 0
            value = new.get(name, 0.0)
            results.append(_at_least(f"min_{name}", value, limit))
    return results


def _drifts(gates: Gates, metrics: Json, before: Sequence[Json]) -> list[Json]:
    results = []
    for kind, limit in (("reasons", gates.max_drift), ("languages", gates.max_language_drift)):
        shares = _shares(metrics, kind)
        usual_shares = [_shares(night, kind) for night in before]
        for name in sorted({*shares, *(name for night in usual_shares for name in night)}):
            usual = statistics.median(night.get(name, 0.0) for night in usual_shares)
            drift = abs(shares.get(name, 0.0) - usual)
            results.append(_at_most(f"drift.{name}", drift, limit))
    new = metrics["new"]
    for name in ("tags", "probability"):
        values = [night["new"][name] for night in before if name in night["new"]]
        if new["pairs"] and values and statistics.median(values):
            usual = statistics.median(values)
            drift = abs(new.get(name, 0.0) - usual) / usual
            results.append(_at_most(f"drift.{name}", drift, gates.max_drift))
    return results


def _likelihoods(gates: Gates, metrics: Json, before: Sequence[Json]) -> list[Json]:
    """Compare the likelihood of each pair of languages with its limit and the nights before."""
    results = []
    for pair, value in sorted(metrics["new"].get("likelihood", {}).items()):
        if gates.min_likelihood is not None:
            low = gates.min_likelihood
            results.append(_at_least(f"min_likelihood.{pair}", value, low))
        values = [night["new"].get("likelihood", {}).get(pair) for night in before]
        values = [v for v in values if v is not None][: gates.nights]
        if gates.max_likelihood_drop is not None and values:
            drop, limit = statistics.median(values) - value, gates.max_likelihood_drop
            name = f"max_likelihood_drop.{pair}"
            results.append(_at_most(name, drop, limit))
    return results


def _shares(metrics: Json, kind: str) -> dict[str, float]:
    """Return a night's shares to compare: of languages, or of rejected pairs."""
    new = metrics["new"]
    shares = dict(new.get(kind, {}))
    return {"rejected": new["share"], **shares} if kind == "reasons" else shares
