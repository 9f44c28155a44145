"""What the models of an arm read and write: with hints, and with white space after tags."""

from collections.abc import Sequence

from pairweave.pipelines.ablation.ablation_config import Arm
from pairweave.pipelines.ablation.suggestion_task import with_hint
from pairweave.pipelines.ablation.task_kind import EvaluationSet, Pair
from pairweave.transforms.symbols.whitespace import shift_whitespace, unshift_whitespace


def training_pairs(arm: Arm, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs of a pass as an arm's models are trained on them."""
    hinted = [(with_hint(text, output, arm.hint_letters), output) for text, output in pairs]
    if not arm.whitespace_shift:
        return hinted
    return [(shift_whitespace(text), shift_whitespace(output)) for text, output in hinted]


def evaluated_pairs(arm: Arm, test: EvaluationSet) -> list[Pair]:
    """Return what an arm's models read of a test set, and what they are to write."""
    return training_pairs(arm, list(zip(test.sources, test.references, strict=True)))


def written_texts(arm: Arm, outputs: Sequence[str]) -> list[str]:
    """Return the outputs of an arm's models in the form of the references."""
    return [unshift_whitespace(text) for text in outputs] if arm.whitespace_shift else list(outputs)
