"""The aligners that put tags of sources onto the translations of an arm."""

import os
from collections.abc import Iterable, Mapping

from pairweave.models.encoder.hosting import encoder_reference
from pairweave.models.encoder.hosting.encoder_reference import EncoderReference
from pairweave.models.hmm.hmm import HmmConfig, HmmModel, fit
from pairweave.pipelines.ablation.ablation_config import Ablation, ProjectedTags
from pairweave.pipelines.ablation.task_kind import Pair, plain, refuse_seen
from pairweave.pipelines.aligners.aligner_registry import read_name
from pairweave.pipelines.aligners.encoder import config_of
from pairweave.transforms.storage.text_lines import read_in_step
from pairweave.transforms.text.text_tables import token_table
from pairweave.transforms.text.tokens import TokenConfig

_WORDS = TokenConfig("words")


def fit_arm(
    field: str,
    given: ProjectedTags,
    ablation: Ablation,
    pairs: Iterable[Pair],
    known: Mapping[str, str],
) -> HmmModel:
    """Fit the aligner with which an arm puts tags back.

    Args:
        field: The arm's field in the configuration.
        given: Text to fit the aligner on; None for the arm's own text.
        ablation: The languages.
        pairs: The arm's own pairs.
        known: The test set of each source (`task_kind.known_sources`).

    Raises:
        ConfigError: Segments of a test set are in the text.
    """
    if given.fit_source is not None and given.fit_target is not None:
        lines = read_in_step(given.fit_source, given.fit_target)
        pairs = [(one.text, other.text) for one, other in lines]
        refuse_seen(
            (plain(source) for source, _ in pairs),
            known,
            f"the fit of the aligner of {field} ({given.fit_source})",
            "leave them out of the file",
        )
    texts = dict.fromkeys((plain(source), plain(target)) for source, target in pairs)
    filled = [pair for pair in texts if all(pair)]
    sides = [source for source, _ in filled], [target for _, target in filled]
    table = token_table(sides, _WORDS, (ablation.source_lang, ablation.target_lang))
    return fit(table, HmmConfig(), os.cpu_count() or 1)


def find_encoder(name: str, field: str) -> EncoderReference:
    """Find the encoder that puts the tags of an arm back; hash its weights without loading them.

    Args:
        name: The encoder's one-line name, such as ``encoder:DIRECTORY:layer=5``.
        field: The field of the configuration that has it.

    Raises:
        ConfigError: The name is wrong, there is no such encoder, or it cannot be used here.
    """
    return encoder_reference.find(config_of(read_name(name, field)))
