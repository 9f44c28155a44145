"""The settings of a job in its plan: exactly those that determine an output byte."""

import hashlib
import math

from pairweave.models.aligner import AlignerReference, LoadableReference
from pairweave.models.similarity.similarity_options import SimilarityOptions
from pairweave.models.translators.translator_store import TranslatorReference
from pairweave.pipelines.aligners import aligner_choice, second_aligner_choice
from pairweave.pipelines.aligners.aligner_choice import unused_options
from pairweave.pipelines.aligners.registry import aligner_of
from pairweave.pipelines.aligners.token_choice import tokens_text
from pairweave.pipelines.options.base import PlannedOptions, unsaid_options
from pairweave.pipelines.options.bitext_options import BitextOptions
from pairweave.pipelines.options.filter_options import FilterJobOptions
from pairweave.pipelines.options.suggest_options import SuggestOptions
from pairweave.pipelines.run import plan_facts
from pairweave.pipelines.run.earlier_corpus import earlier_facts
from pairweave.pipelines.run.scorer_choice import PairScorer
from pairweave.pipelines.run.similarity_choice import OF_HMM, Similarity
from pairweave.pipelines.run.translator_choice import unused_translator_options
from pairweave.pipelines.steps.glossary_terms import glossary_settings
from pairweave.transforms.filtering.score import read_weights
from pairweave.transforms.output.run_files import to_json
from pairweave.transforms.sentences.splitting import splitting_of
from pairweave.transforms.tags.glossary import Glossary
from pairweave.transforms.text.segmenter import NONE
from pairweave.transforms.text.tokens import TokenConfig
from pairweave.transforms.units import Plan

# Options for where a job runs and where its files are; none may change an output byte.
_PLACE = {
    *("output", "engine", "workers", "attempts", "plan_only", "pharaoh", "exclude"),
    *("earlier", "preview"),
    *("beads", "parallel_source_input", "parallel_target_input"),
    *("model", "translator_revision", "allow_empty", "fit_lengths"),
    *("scores", "score_weights"),
    *SimilarityOptions.model_fields,
    "corpora",
    *aligner_choice.PLACE,
    *second_aligner_choice.OPTIONS,
}


def resolved_configuration(
    options: PlannedOptions,
    *,
    reference: AlignerReference | None,
    tokens: TokenConfig | None,
    second: LoadableReference | None = None,
    translator: TranslatorReference | None = None,
    scorer: PairScorer | None = None,
    similarity: Similarity | None = None,
    profile: dict[str, object] | None = None,
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
        profile: The tag profile, if any.
        segmenter: Finds words in scripts without spaces.
        glossary: The glossary of terms to tag, if any.
        earlier: The earlier corpus, if any.
    """
    aligner = aligner_of(options)
    unused = unused_options(options) | unused_translator_options(options)
    left_out = _PLACE | unused | aligner.unread(reference) | unsaid_options(options)
    left_out |= options.corpus_kind().model_fields.keys()
    if similarity is not None:
        left_out |= OF_HMM
    settings = options.model_dump(mode="json", exclude=left_out) | options.plan_settings()
    # JSON has no infinity.
    settings = _finite(settings)
    block = settings.get("filter")
    if isinstance(block, dict):
        settings["filter"] = _finite(block) | {"detector": _detector(block["detector"])}
    if similarity is None:
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
    if isinstance(options, BitextOptions):
        names = (*options.parallel_source_input, *options.parallel_target_input)
        settings["parallel"] = plan_facts.files_facts(names)
        if options.split != "none":
            settings["splitter"] = splitting_of(options.split).splitter
    settings["exclude"] = plan_facts.files_facts(options.exclude)
    if isinstance(options, SuggestOptions):
        settings["fit_lengths"] = plan_facts.files_facts(options.fit_lengths)
    if isinstance(options, FilterJobOptions) and similarity is None:
        settings["score_weights"] = read_weights(options.score_weights).digest
    if isinstance(options, FilterJobOptions):
        settings["detector"] = _detector(options.detector)
    if earlier is not None:
        settings["earlier"] = earlier_facts(earlier)
    if similarity is not None:
        settings |= similarity.settings
    if profile is not None:
        settings["tag_profile"] = hashlib.sha256(to_json(profile)).hexdigest()
    return settings


def _detector(name: str) -> str:
    """Return the detector, with the digest of its model instead of the path."""
    kind, colon, path = name.partition(":")
    return kind + colon + (plan_facts.files_facts([path])[0]["sha256"] if path else "")


def _finite(settings: dict[str, object]) -> dict[str, object]:
    return {name: "inf" if value == math.inf else value for name, value in settings.items()}


def flat_configuration(settings: dict[str, object]) -> dict[str, object]:
    """Return settings for a signature, with digests shortened to 12 characters."""
    flat = dict(settings)
    for name, value in dict(flat.pop("filter", {})).items():  # type: ignore[call-overload]
        flat[f"filter.{name}"] = value
    digests = (
        "model",
        "second_model",
        "translator",
        "scorer",
        "reverse_scorer",
        "tag_profile",
        "glossary",
        "score_weights",
        "encoder",
        "projection",
        "idf",
    )
    for name in digests:
        if flat.get(name) is not None:
            flat[name] = str(flat[name])[:12]
    flat["exclude"] = len(list(flat["exclude"]))  # type: ignore[call-overload]
    if "fit_lengths" in flat:
        golden = [file["sha256"][:12] for file in flat["fit_lengths"]]  # type: ignore[attr-defined]
        flat["fit_lengths"] = golden
    for name in ("parallel", "earlier"):
        if name in flat:
            given = [file["sha256"][:12] for file in flat[name]]  # type: ignore[attr-defined]
            flat[name] = given
    for name in {"tokens", "detector", "filter.detector"} & flat.keys():
        kind, colon, digest = str(flat[name]).partition(":")
        flat[name] = kind + colon.replace(":", "-") + digest[:12]
    return flat
