"""The settings of a job in its plan: exactly those that determine an output byte."""

import math
import re

from pairweave.models.aligner import AlignerReference, LoadableReference
from pairweave.models.hmm import hmm_reference
from pairweave.models.translators.translator_reference import TranslatorReference
from pairweave.pipelines.aligners import second_aligner_choice
from pairweave.pipelines.aligners.aligner_choice import unused_options
from pairweave.pipelines.aligners.aligner_registry import aligner_of
from pairweave.pipelines.aligners.token_choice import tokens_text
from pairweave.pipelines.filtering.earlier_corpus import earlier_facts
from pairweave.pipelines.model_choice.scorer_choice import PairScorer
from pairweave.pipelines.model_choice.similarity_choice import OF_HMM, Similarity
from pairweave.pipelines.model_choice.translator_choice import unused_translator_options
from pairweave.pipelines.options.base import PlannedOptions, left_out_options
from pairweave.pipelines.options.filter_options import FilterJobOptions
from pairweave.pipelines.run import plan_facts
from pairweave.pipelines.steps.glossary_terms import glossary_settings
from pairweave.transforms.filtering import detectors
from pairweave.transforms.filtering.score import read_weights
from pairweave.transforms.known_options import KnownPairOptions
from pairweave.transforms.output.signature_line import InFull
from pairweave.transforms.tags.glossary import Glossary
from pairweave.transforms.text.segmenter import NONE
from pairweave.transforms.text.tokens import TokenConfig
from pairweave.transforms.units import Plan

_OF_SCORE = ("min_score", "score_model")
"""Keys of a block of rules that are in the plan only if pairs are scored."""


_DIGEST = re.compile(r"(?:(?P<kind>[a-z0-9_]+):)?(?P<short>[0-9a-f]{12})[0-9a-f]{52}")
"""A SHA-256, perhaps behind the kind of what it is of."""


def resolved_configuration(
    options: PlannedOptions,
    *,
    reference: AlignerReference | None,
    tokens: TokenConfig | None,
    second: LoadableReference | None = None,
    translator: TranslatorReference | None = None,
    scorer: PairScorer | None = None,
    similarity: Similarity | None = None,
    segmenter: str = NONE,
    glossary: Glossary | None = None,
    earlier: Plan | None = None,
) -> dict[str, object]:
    """Return the settings of a job for its plan, with digests of models and files.

    Args:
        options: The job's options.
        reference: The given model; None if one is fitted first.
        tokens: How text is cut; None if a SentencePiece model is trained first.
        second: The second aligner, if any.
        translator: The translator of sources, if any.
        scorer: The scorer of suggestions, if any.
        similarity: The encoder that scores pairs, if any.
        segmenter: Finds words in scripts without spaces.
        glossary: The glossary of terms to tag, if any.
        earlier: The earlier corpus, if any.
    """
    aligner = aligner_of(options)
    unused = unused_options(options) | unused_translator_options(options)
    left_out = unused | aligner.unread(reference) | left_out_options(options)
    left_out |= {"corpora", *options.corpus_kind().model_fields}
    given = isinstance(options, FilterJobOptions) and options.scores_are_given
    if similarity is not None or given:
        left_out |= OF_HMM
    settings = options.model_dump(mode="json", exclude=left_out)
    # JSON has no infinity.
    settings = _finite(settings)
    block = settings.get("filter")
    if isinstance(block, dict):
        settings["filter"] = _finite(_scored(block)) | _detector_settings(block["detector"])
    if similarity is None and not given:
        settings["model"] = reference.digest if reference else None
    settings["tokens"] = tokens_text(tokens)
    settings |= aligner.settings(options)
    settings |= second_aligner_choice.second_settings(options, second)
    if translator is not None:
        settings["translator"] = translator.digest
    if "segmenter" in settings:
        settings["segmenter"] = segmenter
    settings |= glossary_settings(glossary)
    if scorer is not None:
        settings["scorer"] = scorer.forward.digest
        settings["reverse_scorer"] = scorer.reverse.digest
    if "detector" in settings:
        settings |= _detector_settings(str(settings["detector"]))
    if earlier is not None:
        settings["earlier"] = earlier_facts(earlier)
    if similarity is not None:
        settings |= similarity.settings
    named = options.named_files()
    if isinstance(options, KnownPairOptions):
        named = {**named, **options.known_files()}
    settings |= {name: plan_facts.files_facts(patterns) for name, patterns in named.items()}
    settings |= options.plan_settings()
    return settings


def _scored(block: dict[str, object]) -> dict[str, object]:
    """Return a block of rules with the digests of its score; without it, if it has no minimum."""
    rules = {name: value for name, value in block.items() if name not in _OF_SCORE}
    if block["min_score"] is None:
        return rules
    model = hmm_reference.read(str(block["score_model"])).digest
    return {
        **rules,
        "min_score": block["min_score"],
        "score_model": model,
        "score_weights": read_weights().digest,
    }


def _detector_settings(name: str) -> dict[str, object]:
    """Return the detector, with the digest of its model instead of the path, and its version."""
    if name == "none":
        return {"detector": name}
    kind, colon, path = name.partition(":")
    digest = plan_facts.files_facts([path])[0]["sha256"] if path else ""
    return {"detector": kind + colon + digest, "detector_version": detectors.version(name)}


def _finite(settings: dict[str, object]) -> dict[str, object]:
    return {name: "inf" if value == math.inf else value for name, value in settings.items()}


def flat_configuration(settings: dict[str, object]) -> dict[str, object]:
    """Return settings for a signature, with digests shortened to 12 characters."""
    flat = dict(settings)
    for name, value in dict(flat.pop("filter", {})).items():  # type: ignore[call-overload]
        flat[f"filter.{name}"] = value
    flat["exclude"] = len(list(flat["exclude"]))  # type: ignore[call-overload]
    return {name: _shortened(value) for name, value in flat.items()}


def _shortened(value: object) -> object:
    """Return a setting with its digests in short, also behind a kind and in facts of files."""
    if isinstance(value, list):
        is_files = all(isinstance(each, dict) and "sha256" in each for each in value)
        return [each["sha256"][:12] for each in value] if is_files else value
    if isinstance(value, str) and not isinstance(value, InFull):
        found = _DIGEST.fullmatch(value)
        if found:
            return f"{found['kind']}-{found['short']}" if found["kind"] else found["short"]
    return value
