"""Opening finished runs as sources of pairs, and choosing how their tags are drawn."""

import itertools
from typing import Annotated, ClassVar, Literal

import pydantic
from pydantic import Field

from pairweave.pipelines.job_options.drawn_tag_options import DrawnTagOptions
from pairweave.pipelines.job_options.representation import representation_of, symbols_of
from pairweave.pipelines.streaming.stream_options import StreamedTagOptions
from pairweave.transforms.config import Seed, pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.indexed_tag import RESERVED_PATTERN
from pairweave.transforms.links.phrase_extraction import PhraseConfig
from pairweave.transforms.output import run_files
from pairweave.transforms.output.documents.manifest_model import Manifest
from pairweave.transforms.output.documents.plan_model import PlanDocument, check_format, read_plan
from pairweave.transforms.output.documents.receipt_models import ShardReceipt
from pairweave.transforms.output.finished_run import ANOTHER_FORMAT, FinishedRun
from pairweave.transforms.output.run_files import Json, shard_receipt_name
from pairweave.transforms.storage import files
from pairweave.transforms.storage.json_files import JsonFile, check, first_problem, read_model
from pairweave.transforms.streaming.drawable_pairs import Drawing
from pairweave.transforms.streaming.pair_passes import StreamedRun
from pairweave.transforms.streaming.stream_options import StreamConfig
from pairweave.transforms.streaming.tag_stream import TagStream
from pairweave.transforms.symbols.mask import MASK
from pairweave.transforms.tags.injection_options import SHAPES
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tag_profile import TagProfile, read_profile
from pairweave.transforms.text.iso_languages import UNDETERMINED
from pairweave.transforms.text.segmenter import (
    NONE,
    choose_segmenter,
    installed_name,
    is_unspaced,
    needs_segmenter,
)

_NO_LINKS = (
    "has no word links, from which tags are drawn; give a run of align, or of augment with "
    "--keep_links"
)


def open_stream(options: StreamedTagOptions, *, links: bool = False) -> TagStream:
    """Open the runs of a stream.

    Args:
        options: The runs, their mix, and options of tags; those not given are each run's own.
        links: Whether rows keep their links, in the column ``word_links``.

    Raises:
        ConfigError: Tags cannot be drawn anew from a run; says what to do instead.
    """
    opened = [_finished(directory) for directory in options.runs]
    seed = options.seed
    if "seed" not in options.model_fields_set:
        seed = int(opened[0].settings["seed"])
    runs = [_open(run, options, seed, links=links) for run in opened]
    return TagStream(runs, pick(StreamConfig, options, seed=seed))


class _Settings(JsonFile):
    """The keys that are read from any run's configuration."""

    seed: Seed
    segmenter: str | None = None
    tokens: str | None = None


class _Aligned(JsonFile):
    """A run of ``align``."""

    ADVICE: ClassVar[str] = Manifest.ADVICE

    configuration: _Settings


class _TagSettings(_Settings):
    """The keys, besides tag options, that are read from the configuration of ``augment``."""

    mix: Annotated[float, Field(ge=0)] | Literal["inf"]
    variants: Annotated[int, Field(ge=1)]
    keep_links: bool = False
    method: str = "alignment"
    draw: str = "uniform"
    min_confidence: float | None = None


class _Augmented(_Aligned):
    """A run of ``augment``."""

    configuration: _TagSettings


def _finished(directory: str) -> FinishedRun:
    """Open a run whose settings can be read."""
    run = FinishedRun.open(directory, jobs=("align", "augment"), lacks=_NO_LINKS)
    path = files.join(directory, run_files.MANIFEST)
    if run.job == "augment":
        check_format(run.manifest, path, ANOTHER_FORMAT)
    check(run.manifest, path, _Augmented if run.job == "augment" else _Aligned)
    return run


def _open(run: FinishedRun, options: StreamedTagOptions, seed: int, *, links: bool) -> StreamedRun:
    directory, job, settings = run.directory, run.job, run.settings
    if job == "augment":
        _check_augment(directory, settings)
    plan = read_plan(files.join(directory, run_files.PLAN))
    if any(unit.get("inline_tags") == "index" for unit in plan["units"]):
        raise ConfigError(
            f"{directory}: it keeps the tags of its input, which are not drawn; give a run of "
            "align, with --inline_tags strip, on the same input"
        )
    drawn = _drawn_tags(directory, options, settings if job == "augment" else {})
    if job == "augment" and drawn.unaligned_words == "allow":
        raise ConfigError(
            f"{directory}: --unaligned_words allow needs all words, but a run of augment keeps the "
            "linked ones; give a run of align, or --unaligned_words forbid"
        )
    profile = _profile(directory, drawn, plan)
    segmenter = _segmenter(run, options)
    tags = pick(
        TagConfig,
        drawn,
        seed=seed,
        segmenter=segmenter,
        words="whitespace" if settings.get("tokens") == "whitespace" else "words",
        profile=profile,
        representation=representation_of(drawn),
    )
    # Of text that contains these, `augment` rejects the pair.
    symbols = symbols_of(tags.representation, profile)
    reserved = "|".join(filter(None, (RESERVED_PATTERN, MASK, symbols)))
    phrases = pick(PhraseConfig, drawn, segmenter=segmenter)
    return StreamedRun(run, _pairs(run), Drawing(phrases, tags, reserved, links=links))


def _check_augment(directory: str, settings: Json) -> None:
    """Refuse a run of ``augment`` from which its tags cannot be drawn again."""
    remedy = "give a run of align on the same input"
    if not settings.get("keep_links"):
        raise ConfigError(
            f"{directory}: this run of augment did not keep the word links from which tags are "
            f"drawn; run it with --keep_links, or {remedy}"
        )
    method = settings.get("method", "alignment")
    if method != "alignment":
        raise ConfigError(
            f"{directory}: --method {method} finds what to tag in another way than by word links; "
            + remedy
        )
    if settings.get("draw", "uniform") != "uniform" or settings.get("min_confidence"):
        raise ConfigError(
            f"{directory}: --draw confident and --min_confidence need probabilities that a run "
            f"does not keep; {remedy}, from which tags are drawn uniformly"
        )
    if float(settings["mix"]) > settings["variants"]:
        raise ConfigError(
            f"{directory}: with --mix {settings['mix']}, some pairs have no row without tags; run "
            f"it with --mix {settings['variants']} or less, or {remedy}. The mix of the stream can "
            "be larger"
        )


def _drawn_tags(directory: str, options: StreamedTagOptions, settings: Json) -> DrawnTagOptions:
    """Return the tag options: as given, otherwise as in the run, otherwise the defaults."""
    names = DrawnTagOptions.model_fields.keys()
    own = {name: settings[name] for name in names & settings.keys() if name != "tag_profile"}
    set_options = {name: getattr(options, name) for name in names & options.model_fields_set}
    if set_options.get("representation", "template") != "template":
        own.pop("template", None)
    if {"tag_profile", *SHAPES} & set_options.keys():
        settings = {}
    try:
        drawn = DrawnTagOptions.model_validate({**own, **set_options})
    except pydantic.ValidationError as error:
        path = files.join(directory, run_files.MANIFEST)
        raise ConfigError(
            f"{path}: configuration.{first_problem(error)}; {Manifest.ADVICE}"
        ) from error
    if "tag_profile" in settings and drawn.tag_profile is None:
        drawn = drawn.model_copy(update={"tag_profile": _OF_RUN})
    return drawn


_OF_RUN = "profile of the run"


def _profile(directory: str, drawn: DrawnTagOptions, plan: Json) -> TagProfile | None:
    if drawn.tag_profile is None:
        return None
    if drawn.tag_profile == _OF_RUN:
        try:
            return TagProfile.from_json(plan.get("tag_profile", {}))
        except ConfigError as error:
            path = files.join(directory, run_files.PLAN)
            raise ConfigError(f"{path}: tag_profile: {error}; {PlanDocument.ADVICE}") from error
    return read_profile(drawn.tag_profile)


def _segmenter(run: FinishedRun, options: StreamedTagOptions) -> str:
    """Return the segmenter of a run of ``augment``, or the one that another run's text needs."""
    planned = run.settings.get("segmenter")
    if planned is not None and "segmenter" not in options.model_fields_set:
        if planned not in (NONE, installed_name()):
            raise ConfigError(
                f"{run.directory}: its words were found with {planned}, but this machine has "
                f"{installed_name() or 'none'}; install the same versions, or give --segmenter"
            )
        return str(planned)
    return choose_segmenter(options.segmenter, _unspaced(run))


def _unspaced(run: FinishedRun) -> str | None:
    """Return why a run needs a segmenter; None if it does not."""
    languages = {
        corpus[f"{side}_lang"]
        for corpus in run.manifest["corpora"].values()
        for side in ("source", "target")
    }
    for language in sorted(languages):
        if is_unspaced(language):
            return f"{run.directory}: one language is {language}"
    if UNDETERMINED in languages:
        for batch in itertools.islice(run.batches(["source", "target"]), 1):
            for side in ("source", "target"):
                if needs_segmenter(batch.column(side)):
                    return f"{run.directory}: the {side} side is in a script without spaces"
    return None


def _pairs(run: FinishedRun) -> tuple[int, ...]:
    """Return the number of pairs in each shard."""
    if run.job == "align":
        return tuple(int(run.entry(name)["rows"]) for name in run.names)
    pairs = []
    for shard in range(len(run.names)):
        path = files.join(run.directory, shard_receipt_name(shard, len(run.names)))
        receipt = read_model(path, ShardReceipt)
        if receipt.plan != run.manifest["plan_sha256"] or "plain_rows" not in receipt.counts:
            raise ConfigError(
                f"{path}: counts.plain_rows: is missing, or the receipt belongs to another plan; "
                "repeat the command of the run to write it again"
            )
        pairs.append(receipt.counts["plain_rows"])
    return tuple(pairs)
