"""The table of tasks that the models of an ablation can learn."""

from collections.abc import Mapping

from pairweave.pipelines.ablation.ablation_config import Ablation
from pairweave.pipelines.ablation.suggestion_task import SUGGESTION
from pairweave.pipelines.ablation.task_kind import Task
from pairweave.pipelines.ablation.task_names import TaskName
from pairweave.pipelines.ablation.translation_task import TRANSLATION

TASKS: Mapping[TaskName, Task] = {
    "translation": TRANSLATION,
    "suggestion": SUGGESTION,
}


def task_of(ablation: Ablation) -> Task:
    """Return the task that the models of an ablation learn."""
    return TASKS[ablation.task]
