"""The names of the tasks that the models of an ablation can learn."""

from collections.abc import Mapping
from typing import Any, Literal

from pairweave.transforms.metrics.measured import Metric
from pairweave.transforms.metrics.suggestion_sums import SUGGESTION_METRICS
from pairweave.transforms.metrics.tags.translation_metrics import METRICS

TaskName = Literal["translation", "suggestion"]

METRICS_OF: Mapping[TaskName, Mapping[str, Metric]] = {
    "translation": METRICS,
    "suggestion": SUGGESTION_METRICS,
}
"""The metrics of each task by name."""

_OF_TAGS = ("project", "whitespace_shift", "raw_tags", "stream", "kinds", "syntax", "tags")


def task_problem(task: TaskName, part: Mapping[str, Any]) -> str | None:
    """Return why a part of the configuration does not suit a task; None if it does.

    Args:
        task: The task.
        part: An arm, a part of its data, or a test set, without fields that have default values.

    >>> task_problem("translation", {"masked": "dev.mask"})
    'masked is only for the task suggestion; give task: suggestion'
    """
    if task == "translation":
        several = isinstance(part.get("target"), tuple) and len(part["target"]) > 1
        of_suggestion = {
            "masked": "masked" in part,
            "the job suggest": part.get("job") == "suggest",
            "hint_letters": "hint_letters" in part,
            "several references in target": several,
        }
        odd = next((name for name, is_given in of_suggestion.items() if is_given), None)
        return (
            None if odd is None else f"{odd} is only for the task suggestion; give task: suggestion"
        )
    odd = next((name for name in _OF_TAGS if name in part), None)
    if odd is not None:
        return f"{odd} is only for tags; suggestions have none"
    if "pairs" in part or part.get("job", "suggest") != "suggest":
        return (
            "suggestions come from the job suggest, its runs, or files with source, masked, target"
        )
    if "source" in part and "masked" not in part:
        return "masked is missing: the translations with a mask in each line"
    return None
