"""The option ``filter`` of other jobs: apply the rules of the job ``filter`` in the same pass."""

import difflib
from typing import Annotated

import pydantic
from pydantic import Field

from pairweave.transforms.config import Config
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering.rule_options import (
    DuplicateConfig,
    RuleOptions,
    SelectionOptions,
)
from pairweave.transforms.option_marks import UNSAID, in_short
from pairweave.transforms.option_places import MODEL, Metavar
from pairweave.transforms.storage.yaml_files import parse_yaml

_OF_SHUFFLE = frozenset(DuplicateConfig.model_fields)
_OF_SCORE = frozenset(SelectionOptions.model_fields) | {"score_weights", "scores"}


class RuleBlock(RuleOptions):
    """The rules and their limits; the defaults are those of the job ``filter``."""

    min_score: float | None = Field(
        None,
        ge=0,
        le=1,
        description="minimum default score of a pair, by score_model and the weights that ship",
    )
    score_model: Annotated[str | None, MODEL] = Field(
        None,
        min_length=1,
        description="directory of the fitted hmm that min_score needs: pairs are scored before a "
        "run fits one",
    )

    @pydantic.model_validator(mode="after")
    def _score_needs_a_model(self) -> "RuleBlock":
        """Refuse min_score without score_model, and score_model without min_score."""
        if (self.min_score is None) != (self.score_model is None):
            raise ValueError(
                "min_score and score_model go together: pairs are scored by a fitted aligner, "
                "which pairweave fit makes"
            )
        return self

    @pydantic.model_validator(mode="before")
    @classmethod
    def _rules_only(cls, values: object) -> object:
        """Refuse keys that are not rules; the message names the job that has them."""
        for name in values if isinstance(values, dict) else ():
            if name in cls.model_fields:
                continue
            if name in _OF_SHUFFLE:
                why = "copies are found by a shuffle of masked pairs, which only the job filter has"
            elif name in _OF_SCORE:
                why = "all pairs are compared by the job filter alone (min_score is a rule)"
            else:
                near = difflib.get_close_matches(str(name), cls.model_fields, 1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise ValueError(f"{name} is not a rule{hint}")
            raise ValueError(f"{name}: {why}; run it first, and read on from it with from_run")
        return values


def _block(value: object) -> object:
    """Read a block that a flag gives as text."""
    if isinstance(value, str):
        try:
            value = parse_yaml(value)
        except ConfigError as error:
            raise ValueError(
                f"{error}; expected a map of rules and limits, such as {{max_copied: 0.3}}"
            ) from error
    if not isinstance(value, dict | RuleBlock):
        raise ValueError("must be a map of rules and limits, or {} for those of the job filter")
    return value


class RuleBlockOptions(Config):
    """Rules that pairs are filtered by."""

    filter: Annotated[
        RuleBlock | None, pydantic.BeforeValidator(_block), Metavar("{RULE: LIMIT, ...}")
    ] = Field(
        None,
        description="reject pairs by the rules of the job filter, after the screen: a YAML map of "
        "limits, such as '{max_copied: 0.3, detector: cld2}'; {} has that job's limits (default: "
        "no rules)",
        json_schema_extra={
            **UNSAID,
            **in_short("rules to reject pairs by, such as '{max_copied: 0.3}'"),
        },
    )
