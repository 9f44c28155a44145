"""The metrics of a test set, by the task of the models."""

from collections.abc import Sequence

from pairweave.pipelines.ablation.ablation_config import Ablation
from pairweave.pipelines.ablation.evaluation_sets import EvaluationSet
from pairweave.transforms.metrics.measured import Measured
from pairweave.transforms.metrics.suggestion_sums import measure_suggestions
from pairweave.transforms.metrics.tags.translation_metrics import measure


def measure_test(
    ablation: Ablation, test: EvaluationSet, outputs: Sequence[str]
) -> dict[str, Measured]:
    """Measure what a model says for a test set.

    Args:
        ablation: The task, the metrics and the languages.
        test: The test set.
        outputs: What the model says ``[segment]``.
    """
    if ablation.task == "suggestion":
        golds = [test.references, *test.others]
        return measure_suggestions(outputs, golds, ablation.used_metrics, ablation.target_lang)
    return measure(outputs, test.references, test.sources, ablation.used_metrics, test.name)
