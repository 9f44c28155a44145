"""Links of one's own in a job: which corpora bring them."""

from collections.abc import Sequence

from pairweave.pipelines.options.base import AlignerSettings, FitSettings, TranslatorOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.units import CorpusInput

ATTENTION_ONLY = ("attention_method", "attention_layer", "attention_head")
"""Options that say how links are read off attention."""


def check_given(options: FitSettings, corpora: Sequence[CorpusInput]) -> None:
    """Check that every corpus brings links where they are asked for, and none where they are not.

    Raises:
        ConfigError: Says which corpus lacks them, or that an aligner would not look at them.
    """
    given = isinstance(options, AlignerSettings) and options.aligner == "given"
    for corpus in corpora:
        label = f"corpus {corpus.name}: " if corpus.name else ""
        if given and not corpus.given_links:
            raise ConfigError(
                f"{label}--aligner given needs the links of every corpus: --links FILE, "
                "--forward_links and --reverse_links, --attention, or --links_field for TSV, "
                "JSONL and Parquet"
            )
        if not given and corpus.given_links:
            raise ConfigError(
                f"{label}--{corpus.given_links[0]}: only --aligner given takes links from the "
                "input; give that (align, augment and suggest have it), or leave it out"
            )
    if not given:
        return
    unused = sorted(set(ATTENTION_ONLY) & options.model_fields_set)
    if unused and not any(corpus.attention for corpus in corpora):
        raise ConfigError(f"--{unused[0]}: there is no --attention that links are read off")
    if isinstance(options, TranslatorOptions) and options.translator is not None:
        raise ConfigError(
            "--aligner given links translations that are in the input; leave --translator out, or "
            "give another aligner"
        )
