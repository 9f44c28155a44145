"""Given links instead of an aligner: files of links, or attention."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, cast

from pydantic import Field

from pairweave.pipelines.aligners.job_aligner import Chosen, JobAligner
from pairweave.pipelines.options.base import Options, WordAlignerOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.known_options import KnownPairOptions
from pairweave.transforms.units import CorpusInput, Plan

if TYPE_CHECKING:
    import apache_beam as beam

    from pairweave.models.aligner import AlignerReference
    from pairweave.models.given_links import GivenLinks
    from pairweave.pipelines.steps.aligner_run import AlignerRun, Model
    from pairweave.transforms.shards.shard import Shards


class AttentionOptions(Options):
    """Word alignment: by the attention of a translation model."""

    attention_method: Literal["naive", "shift"] = Field(
        "shift",
        description="attention of the step that outputs a token (naive), or of the step that reads "
        "it (shift)",
    )
    attention_layer: int | None = Field(
        None, description="attention: layer from 0, -1 the last; required if there are several"
    )
    attention_head: int | None = Field(
        None, description="attention: head from 0 (default: the mean over all heads)"
    )


class Given(JobAligner):
    """The aligner `models.given_links`."""

    name = "given"
    pairs = "the links that come with the input (links, attention)"
    translations = f"by {pairs}"
    options = AttentionOptions
    own = tuple(AttentionOptions.model_fields)

    def find(self, options: WordAlignerOptions) -> Chosen:
        """Return the settings for reading links; `of_plan` adds the files."""
        from pairweave.models.given_links import GivenLinks
        from pairweave.pipelines.aligners.token_choice import known_tokens

        assert isinstance(options, AttentionOptions)
        settings = (options.attention_method, options.attention_layer, options.attention_head)
        return GivenLinks(*settings), known_tokens(options)

    def check_corpora(self, options: WordAlignerOptions, corpora: Sequence[CorpusInput]) -> None:
        """Check that every corpus has links."""
        for corpus in corpora:
            label = f"corpus {corpus.name}: " if corpus.name else ""
            if not corpus.given_links:
                raise ConfigError(
                    f"{label}--aligner given needs the links of every corpus: --links FILE, "
                    "--forward_links and --reverse_links, --attention, or --links_field for TSV, "
                    "JSONL and Parquet"
                )
        unused = sorted(set(self.own) & options.model_fields_set)
        is_part = isinstance(options, KnownPairOptions) and options.reads_part_of_table
        if unused and not is_part and not any(corpus.attention for corpus in corpora):
            raise ConfigError(f"--{unused[0]} applies to --attention, which is not given")
        if getattr(options, "translator", None) is not None:
            raise ConfigError(
                "--aligner given links translations that are in the input; leave --translator out, "
                "or give another aligner"
            )

    def of_plan(self, reference: "AlignerReference", plan: Plan) -> "AlignerReference":
        """Return the links with their files from the plan."""
        return cast("GivenLinks", reference).of_plan(plan)

    def unread(self, reference: "AlignerReference | None") -> set[str]:
        """Return the options of attention if there is none."""
        return set() if cast("GivenLinks", reference).attention else set(self.own)

    def step(
        self,
        run: "AlignerRun",
        model: "Model",
        *,
        translations: bool = False,
    ) -> "beam.PTransform[Shards, Shards]":
        """Return the step that attaches links to pairs."""
        from pairweave.pipelines.steps.aligning import link_shard
        from pairweave.pipelines.steps.steps import MapWholeShards

        settings = {"given_links": run.model, "tokens": run.tokens}
        return MapWholeShards(link_shard, **settings, translations=translations)
