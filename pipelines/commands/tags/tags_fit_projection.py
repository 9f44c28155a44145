"""The command ``tags fit_projection``: learns from tagged translations where tags belong."""

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.commands.tags.tagged_blocks import (
    check_links,
    read_blocks,
    start_placing,
    syntax_check,
)
from pairweave.pipelines.job_options.projection_options import TagsFitProjectionOptions
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.projection.known_places import KnownSegment, known_places, learn_weights
from pairweave.transforms.storage.whole_files import (
    open_whole,
    require_apart,
    require_plain_name,
)

MIN_ELEMENTS = 200
"""Minimum number of elements to learn from; fewer cannot determine about a hundred weights."""


@command("learn from tagged translations where tags belong")
def main(*, options: TagsFitProjectionOptions) -> int:
    """Run the command from its command line."""
    check_links(options, "tags fit_projection")
    require_apart([options.source_input, options.target_input])
    require_plain_name(options.output, "a file of weights")
    segments = _segments(options)
    elements = sum(len(segment.elements) for segment in segments)
    if elements < MIN_ELEMENTS:
        raise ConfigError(
            f"{options.source_input}: {elements} elements are in both texts, at least "
            f"{MIN_ELEMENTS} are needed to learn weights; give more text with tags"
        )
    weights = learn_weights(segments, terminal.say)
    with open_whole(options.output) as out:
        out.write(weights.to_json())
    facts = {"segments": len(segments), "elements": elements, "output": options.output}
    terminal.say_json(facts)
    return 0


def _segments(options: TagsFitProjectionOptions) -> list[KnownSegment]:
    """Return each line whose texts both have tags."""
    placing = start_placing(options)
    check = syntax_check(options)
    segments = []
    for block in read_blocks(options, placing.tokens, check):
        for number, places in zip(block.tagged, placing.of(block), strict=True):
            target = block.marked_targets[number]
            if target.tags:
                segments.append(known_places(block.sources[number], target, *places))
    if (warning := check.warning()) is not None:
        terminal.warn(warning)
    return segments
