"""Files of a job that Dataflow's workers open, and which of them they cannot reach."""

from collections.abc import Iterator

from pairweave.pipelines.options.base import GraphOptions
from pairweave.transforms.config import StepOptions
from pairweave.transforms.errors import ConfigError

SCHEME = "gs://"

PATHS = frozenset(
    {
        *("input", "from_run", "source_input", "target_input", "translation_input"),
        "score_input",
        *("parallel_source_input", "parallel_target_input", "earlier", "exclude"),
        *("links", "forward_links", "reverse_links", "attention"),
        *("known_pairs", "taken_down"),
        *("output", "model", "encoder", "idf", "projection", "score_model"),
    }
)
"""Options that are files, directories or patterns of files."""

KINDS = {
    "tokens": ("sentencepiece",),
    "translator": ("ctranslate2", "transformers"),
    "scorer": ("ctranslate2", "transformers"),
    "reverse_scorer": ("ctranslate2", "transformers"),
    "detector": ("fasttext",),
}
"""Options whose value is such a path behind one of these words and a colon."""

WRITTEN_AFTER = frozenset({"pharaoh", "scores", "beads"})
"""Options that are files which the launcher writes after it has waited for the end of the job."""

ELSEWHERE = WRITTEN_AFTER | {
    # Read by the launcher, which puts their content into the graph or the plan.
    *("glossary", "tag_profile", "fit_lengths", "score_weights"),
    # A program in the workers' image.
    "program_path",
}
"""Options with a path that no worker opens, or that is part of the image."""


def check(options: GraphOptions) -> None:
    """Check that workers on other machines can open every file of a job.

    Raises:
        ConfigError: They cannot; names the option and the path.
    """
    if not options.wait:
        check_written_after(options, "--wait false")
    for name, path in opened(options):
        if not path.startswith(SCHEME):
            raise ConfigError(
                f"--{name} {path}: Dataflow's workers cannot open it; copy it to a bucket and "
                f"give its URI, such as {SCHEME}BUCKET/{path.rstrip('/').rpartition('/')[2]}"
            )


def check_written_after(options: GraphOptions, without: str) -> None:
    """Check that nothing is to be written after the end of a job that nobody waits for.

    Args:
        options: The job's options.
        without: The option by which the command ends before the job.

    Raises:
        ConfigError: An option asks for such a file.
    """
    after = [name for name in sorted(WRITTEN_AFTER) if getattr(options, name, None)]
    if after:
        raise ConfigError(
            f"--{after[0]}: is written after the end of the job; leave {without} out, or give "
            "it with the same command once the job is done"
        )


def opened(options: GraphOptions) -> Iterator[tuple[str, str]]:
    """Yield the option and the path of everything that workers open or write."""
    rules = getattr(options, "filter", None)
    for part in (options, *getattr(options, "corpora", ()), *([rules] if rules else ())):
        yield from _paths(part)
    yield from _of_second_aligner(getattr(options, "second_aligner", None))


def _paths(options: StepOptions) -> Iterator[tuple[str, str]]:
    for name in type(options).model_fields:
        value = getattr(options, name)
        if name in PATHS:
            found = (value,) if isinstance(value, str) else value or ()
            yield from ((name, path) for path in found)
        elif name in KINDS and isinstance(value, str):
            kind, colon, path = value.partition(":")
            if colon and kind in KINDS[name]:
                yield name, path


def _of_second_aligner(value: str | None) -> Iterator[tuple[str, str]]:
    from pairweave.pipelines.aligners.aligner_registry import read_name

    if value is None:
        return
    model = read_name(value, "--second_aligner").model
    if model is not None:
        yield "second_aligner", model
