"""The texts that an arm's models read and write: hints, white space after tags, raw tags."""

from collections.abc import Sequence

from pairweave.models.translation.suggestion_texts import with_hint
from pairweave.pipelines.ablation.ablation_config import Arm
from pairweave.pipelines.ablation.task_kind import EvaluationSet, Pair
from pairweave.transforms.symbols.raw_tags import as_raw_tags, from_raw_tags
from pairweave.transforms.symbols.whitespace import shift_whitespace, unshift_whitespace


def training_pairs(arm: Arm, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs of a pass in the form in which an arm's models are trained on them."""
    hinted = [(with_hint(text, output, arm.hint_letters), output) for text, output in pairs]
    if arm.raw_tags:
        return [(as_raw_tags(text), as_raw_tags(output)) for text, output in hinted]
    if not arm.whitespace_shift:
        return hinted
    return [(shift_whitespace(text), shift_whitespace(output)) for text, output in hinted]


def evaluated_pairs(arm: Arm, test: EvaluationSet) -> list[Pair]:
    """Return the inputs of an arm's models for a test set, and the expected outputs."""
    return training_pairs(arm, list(zip(test.sources, test.references, strict=True)))


def written_texts(arm: Arm, outputs: Sequence[str]) -> list[str]:
    """Return the outputs of an arm's models in the form of the references."""
    if arm.raw_tags:
        return [from_raw_tags(text) for text in outputs]
    return [unshift_whitespace(text) for text in outputs] if arm.whitespace_shift else list(outputs)
