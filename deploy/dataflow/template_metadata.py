"""Write the metadata of a Flex Template for each job, from the job's options.

python deploy/dataflow/template_metadata.py deploy/dataflow/templates
"""

import json
import sys
import typing
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from pairweave.pipelines.command_line.command_table import COMMANDS, options_of
from pairweave.pipelines.options.base import GraphOptions
from pairweave.transforms.option_marks import OF_COMMAND, mark_of
from pairweave.transforms.option_places import Use, is_list_of_blocks, role_of

CONFIG: dict[str, Any] = {
    "name": "config",
    "label": "Config",
    "helpText": "YAML file with options; other parameters take precedence.",
    "isOptional": True,
    "regexes": ["^gs://.+$"],
}
"""The parameter of every template that is no option."""


def jobs() -> dict[str, type[GraphOptions]]:
    """Return the jobs that can run on Dataflow, and their options."""
    options_by_job = {}
    for name, command in COMMANDS.items():
        options = options_of(name)
        if options is not None and command.beam and issubclass(options, GraphOptions):
            options_by_job[name] = options
    return options_by_job


def metadata(job: str, options: type[GraphOptions]) -> dict[str, Any]:
    """Return the metadata of a job's template."""
    parameters = [
        _parameter(name, field)
        for name, field in options.model_fields.items()
        if is_parameter(field)
    ]
    first = {"name": "job", "label": "Job", "helpText": "The job.", "regexes": [f"^{job}$"]}
    ordered = sorted(parameters, key=lambda each: each.get("isOptional", False))
    return {
        "name": f"pairweave {job}",
        "description": COMMANDS[job].about,
        "parameters": [first, *ordered, CONFIG],
    }


def is_parameter(field: FieldInfo) -> bool:
    """Tell whether an option is a parameter of a template.

    It is none if it is set by the template's program, or by the service; if it names a file that a
    command writes once it has waited for the end of the job; or if YAML alone can give it.
    """
    role = role_of(field)
    after = role is not None and role.use in (Use.BESIDE, Use.BY_LINE)
    return not after and mark_of(field, OF_COMMAND) is None and not is_list_of_blocks(field)


def _parameter(name: str, field: FieldInfo) -> dict[str, Any]:
    parameter: dict[str, Any] = {
        "name": name,
        "label": name.replace("_", " ").capitalize(),
        "helpText": field.description,
    }
    if not field.is_required():
        parameter["isOptional"] = True
    role = role_of(field)
    if role is not None and role.use is Use.OUTPUT:
        parameter["paramType"] = "GCS_WRITE_FOLDER"
        parameter["regexes"] = ["^gs://.+$"]
    regex = _regex(field)
    if regex:
        parameter["regexes"] = [regex]
    return parameter


def _regex(field: FieldInfo) -> str | None:
    """Return what a value must look like, as far as its type says."""
    for each in field.metadata:
        if getattr(each, "pattern", None):
            return str(each.pattern)
    kinds = [kind for kind in _kinds(field.annotation) if kind is not type(None)]
    if kinds == [bool]:
        return "^(true|false)$"
    if kinds == [int]:
        return "^-?[0-9]+$"
    if kinds == [float]:
        return "^-?(inf|[0-9]*[.]?[0-9]+([eE]-?[0-9]+)?)$"
    if kinds and all(isinstance(kind, str) for kind in kinds):
        return f"^({'|'.join(kinds)})$"
    return None


def _kinds(annotation: object) -> list[Any]:
    """Return the types of a union, and the words of literals."""
    if typing.get_origin(annotation) is typing.Annotated:
        return _kinds(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) is typing.Literal:
        return list(typing.get_args(annotation))
    parts = typing.get_args(annotation)
    if parts and typing.get_origin(annotation) is not tuple:
        return [kind for part in parts for kind in _kinds(part)]
    return [annotation]


def write(directory: Path) -> None:
    """Write one file for each job."""
    directory.mkdir(parents=True, exist_ok=True)
    for job, options in jobs().items():
        text = json.dumps(metadata(job, options), indent=2, ensure_ascii=False)
        (directory / f"{job}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
