"""The command ``stream``: prints finished runs for a trainer, with new tags in every epoch."""

import dataclasses
import os
import sys
import time
from typing import BinaryIO

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.process import supervisor, terminal
from pairweave.pipelines.process.log import LOG
from pairweave.pipelines.streaming.lines import Lines
from pairweave.pipelines.streaming.stream_options import StreamCommandOptions
from pairweave.pipelines.streaming.streamed_runs import open_stream
from pairweave.transforms.counted import counted
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.streaming.tag_stream import Position, TagStream

_SAY_SECONDS = 30.0


@dataclasses.dataclass
class _Done:
    """The amount written so far, and the window being written."""

    rows: int = 0
    left_out: int = 0
    at: Position = dataclasses.field(default_factory=lambda: Position(0, 0))


@command()
def main(*, options: StreamCommandOptions) -> int:
    """Stream runs from the command line.

    Raises:
        ConfigError: The stream ends before the first row that it should write.
    """
    stream = open_stream(options, links=options.alignment != "none")
    lines, done = Lines(stream.tags, options), _Done()
    try:
        unused = _write(stream, lines, options, sys.stdout.buffer, done)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The trainer has stopped reading. Keep the interpreter's final flush from failing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        terminal.warn(
            f"the reader left after about {counted(done.rows, 'row')}, in window --start "
            f"{done.at.epoch}:{done.at.window}"
        )
        supervisor.leave(0)
        return 0
    if unused:
        left = counted(options.skip - unused, "row is", "rows are")
        raise ConfigError(
            f"--skip {options.skip}: only {left} left from --start {options.start} to "
            f"the end of --epochs {options.epochs}"
        )
    left_out = counted(done.left_out, "pair or row", "pairs or rows")
    out = f"; {left_out} left out" if done.left_out else ""
    terminal.note(f"{counted(done.rows, 'row')} in {counted(options.epochs, 'epoch')}{out}")
    return 0


def _write(
    stream: TagStream, lines: Lines, options: StreamCommandOptions, out: BinaryIO, done: _Done
) -> int:
    """Write the rows, and return how many of the rows to skip are missing."""
    epoch, _, window = options.start.partition(":")
    skip, last_message = options.skip, time.monotonic()
    for position in stream.positions(Position(int(epoch), int(window or 0))):
        done.at = position
        window_data = stream.window(position.epoch, position.window)
        done.left_out += window_data.left_out + window_data.rows.num_rows
        for batch in lines.fit(window_data.rows):
            done.left_out -= batch.num_rows
            part = batch.slice(min(skip, batch.num_rows))
            skip -= batch.num_rows - part.num_rows
            out.write(lines.write(part))
            done.rows += part.num_rows
        if time.monotonic() - last_message > _SAY_SECONDS:
            last_message = time.monotonic()
            place = f"--start {position.epoch}:{position.window + 1}"
            LOG.info("%s rows written; %s goes on from here", f"{done.rows:,}", place)
    return skip
