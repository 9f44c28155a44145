"""The command ``tags project``: copies the tags of a source to its translation, line by line."""

import contextlib
from collections.abc import Iterable, Iterator

import orjson

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.commands.tags.tagged_blocks import (
    Placing,
    check_links,
    read_blocks,
    start_placing,
    syntax_check,
)
from pairweave.pipelines.job_options.projection_options import TagsProjectOptions
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.markup.markup import find_syntax, strip_markup
from pairweave.transforms.projection.block_links import Block
from pairweave.transforms.projection.project import Placed, place_tags
from pairweave.transforms.projection.projection_weights import ProjectionWeights, read_weights
from pairweave.transforms.storage import files
from pairweave.transforms.storage.whole_files import (
    open_whole,
    require_apart,
)


@command("put the tags of a source onto its translation")
def main(*, options: TagsProjectOptions) -> int:
    """Run the command from its command line."""
    _check(options)
    weights = _weights(options)
    placing = start_placing(options)
    counts = {"lines": 0, "tagged_lines": 0, "tags": 0}
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(open_whole(options.output))
        sure = None
        if options.confidence is not None:
            sure = stack.enter_context(open_whole(options.confidence))
        check = syntax_check(options)
        blocks = read_blocks(options, placing.tokens, check)
        for line, confidences in _project(options, blocks, placing, weights, counts):
            out.write(line)
            if sure is not None:
                sure.write(confidences)
        if (warning := check.warning()) is not None:
            terminal.warn(warning)
    facts = {**counts, "rules": options.rules, "output": options.output}
    terminal.say_json(facts)
    return 0


def _check(options: TagsProjectOptions) -> None:
    check_links(options, "tags project")
    if options.rules == "paper":
        for name in ("projection_weights", "confidence"):
            if getattr(options, name) is not None:
                raise ConfigError(f"--{name}: applies to --rules best; leave it out")
    require_apart([options.source_input, options.target_input])


def _weights(options: TagsProjectOptions) -> ProjectionWeights | None:
    if options.projection_weights is None:
        return None
    path = files.on_disk(options.projection_weights)
    return read_weights(path.read_bytes(), options.projection_weights)


def _project(
    options: TagsProjectOptions,
    blocks: Iterable[Block],
    placing: Placing,
    weights: ProjectionWeights | None,
    counts: dict[str, int],
) -> Iterator[tuple[bytes, bytes]]:
    """Yield the target's lines with the source's tags and with confidences, and count them."""
    syntax = find_syntax(options.syntax)
    for block in blocks:
        line_parts = dict(zip(block.tagged, placing.of(block), strict=True))
        for number, (source, line) in enumerate(zip(block.sources, block.targets, strict=True)):
            result, confidences = line.text, b"[]\n"
            if number in line_parts:
                placed = place_tags(source, line.text, *line_parts[number], options.rules, weights)
                result = str(placed.marked)
                if placed.confidences:
                    confidences = _confidence_line(placed)
            if strip_markup(result, syntax) != line.text:
                raise InputError(
                    "reserved_token",
                    options.target_input,
                    f"contains a tag of {syntax.name}, or would form one with the inserted tags; "
                    "remove tags from the translation first",
                    block.first + number + 1,
                )
            counts["tags"] += len(source.tags)
            yield line.with_text(result), confidences
        counts["lines"] += len(block.sources)
        counts["tagged_lines"] += len(block.tagged)


def _confidence_line(placed: Placed) -> bytes:
    """Return the tags of a line in the order of the source, with their places and confidences."""
    rows = [
        {"tag": number, "raw": placed.marked.tags[at].raw, "offset": placed.marked.tags[at].offset}
        | {"confidence": confidence}
        for number, (at, confidence) in enumerate(
            zip(placed.order, placed.confidences, strict=True)
        )
    ]
    return orjson.dumps(rows) + b"\n"
