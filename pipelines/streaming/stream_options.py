"""The options of ``stream``."""

from typing import Annotated, Literal

from pydantic import Field

from pairweave.pipelines.job_options.drawn_tag_options import DrawnTagOptions
from pairweave.pipelines.options.base import Options
from pairweave.pipelines.options.text_options import SegmenterOptions
from pairweave.transforms.option_places import FILE_OF_LAUNCHER, FINISHED_RUNS, Metavar
from pairweave.transforms.option_values import has_form
from pairweave.transforms.streaming.stream_options import StreamConfig


class StreamedTagOptions(DrawnTagOptions, SegmenterOptions, StreamConfig, Options):
    """A stream of tagged pairs; options of tags that are not given are those of each run."""

    runs: Annotated[tuple[str, ...], FINISHED_RUNS] = Field(
        min_length=1,
        description="directories or URIs of finished runs of align, or of augment with "
        "--keep_links. Options of tags that are not given have the values of each run, and the "
        "seed is that of the first",
        json_schema_extra={"at": 0},
    )
    tag_profile: Annotated[str | None, FILE_OF_LAUNCHER] = Field(
        None, description="file of tags profile, from which the shapes of tags are drawn"
    )


class StreamCommandOptions(StreamedTagOptions):
    """Options of ``stream``."""

    format: Literal["lines", "jsonl"] = Field(
        "lines",
        description="lines: source, tab, target, and with --alignment a tab and links; jsonl: all "
        "columns",
    )
    alignment: Literal["whitespace", "moses", "none"] = Field(
        "none",
        description="links between the words of a line. whitespace: text unchanged, words that "
        "touch a tag have no links; moses: text as Moses words, each tag a word of its own (needs "
        "pairweave[evaluate])",
    )
    unfit: Literal["refuse", "leave_out", "escape"] = Field(
        "refuse",
        description="lines: rows whose text contains a tab or a line break: refuse to go on, "
        "leave_out these rows, or escape every backslash, tab and line break",
    )
    start: Annotated[
        str,
        has_form("[0-9]+(:[0-9]+)?", "EPOCH or EPOCH:WINDOW, such as 0 or 2:15"),
        Metavar("POSITION"),
    ] = Field(
        "0",
        description="where to begin, EPOCH or EPOCH:WINDOW from 0, as shown on standard error",
    )
    skip: int = Field(
        0, ge=0, description="number of rows to skip from there, since they were used already"
    )
