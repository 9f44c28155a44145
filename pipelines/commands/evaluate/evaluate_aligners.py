"""The command ``evaluate aligners``: compares several aligners on one gold set."""

import dataclasses
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from pairweave.pipelines.aligners.aligner_name import AlignerName
from pairweave.pipelines.aligners.aligner_registry import COMPARED_ALIGNERS, NAMED, read_name
from pairweave.pipelines.aligners.job_aligner import Make
from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.options.base import Language, Options, Patterns
from pairweave.pipelines.process import terminal
from pairweave.transforms.config import pick
from pairweave.transforms.counted import counted
from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.installed_packages import version_of
from pairweave.transforms.links.link_options import Heuristic, SymmetrizeConfig
from pairweave.transforms.links.pharaoh import format_links
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.metrics.link_metrics import (
    LinkScores,
    check_words,
    evaluate_links,
)
from pairweave.transforms.option_places import CORPUS_FILES, FILE, FILES
from pairweave.transforms.output.signature_line import signature
from pairweave.transforms.storage import files, text_lines
from pairweave.transforms.text.text_tables import token_table
from pairweave.transforms.text.tokens import TokenConfig
from pairweave.transforms.text_columns import text_columns

_COLUMNS = ("aligner", "AER", "precision", "recall", "links", "learn s", "pairs/s")
_ABOUT_SPEED = (
    "pairs/s: one run; for a program this includes its start, for eflomal and giza all learning"
)


OneBased = Annotated[
    bool,
    Field(
        description="the gold counts words from 1; without it, a gold in which no link has a word "
        "0 gets a warning"
    ),
]


class EvaluateAlignersOptions(Options):
    """Options of ``evaluate aligners``."""

    aligners: Annotated[Patterns, COMPARED_ALIGNERS] = Field(
        (),
        description="aligners to compare (default hmm), as NAME[:MODEL][:SETTING=VALUE ...]: "
        f"{', '.join(NAMED)}; such as encoder:DIRECTORY:layer=8:head=softmax, "
        "eflomal:path=/opt/eflomal/bin/eflomal-align or "
        "attention:FILE.npz:layer=all:head=all:method=shift:pieces=SPM",
    )
    gold: Annotated[str, FILE] = Field(
        min_length=1, description="gold links: i-j sure, ipj possible"
    )
    one_based: OneBased = False
    pairs: Annotated[str | None, FILE] = Field(
        None,
        description="the gold set, 'source ||| target' on each line, words separated by spaces",
    )
    source_input: Annotated[str | None, CORPUS_FILES] = Field(
        None, description="instead of --pairs: the source side, words separated by spaces"
    )
    target_input: Annotated[str | None, CORPUS_FILES] = Field(
        None, description="with --source_input: the target side"
    )
    train_source_input: Annotated[Patterns, FILES] = Field(
        (), description="more text to learn from, the source side, for aligners that learn"
    )
    train_target_input: Annotated[Patterns, FILES] = Field(
        (), description="the target side of that text"
    )
    train_tokens: Literal["words", "whitespace"] = Field("words", description="tokens of that text")
    source_lang: Language = Field("und", description="BCP 47 tag of the source language")
    target_lang: Language = Field("und", description="BCP 47 tag of the target language")
    heuristic: Heuristic = Field("grow-diag", description="how the two directions are combined")
    program_timeout: int = Field(
        3600, ge=1, description="seconds that one call of a program may take"
    )


@dataclasses.dataclass(frozen=True)
class Texts:
    """The texts to align and to learn from.

    Attributes:
        gold: The pairs of the gold set (`transforms.schemas.TOKENS`), with the tokens of the gold.
        training: Those pairs, then the training text.
    """

    gold: pa.Table
    training: pa.Table


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of one aligner on the gold set.

    Attributes:
        name: The aligner's name as given.
        digest: Digest of everything that determines its links.
        scores: The scores of its links against the gold.
        learn_seconds: Training time; 0 for a trained aligner or one that learns while it aligns.
        pairs_per_second: Speed of alignment, including the start of a program; a program that
            needs a whole corpus is timed on the gold set and the training text together.
        signature: The line with all settings that determine the scores.
    """

    name: str
    digest: str
    scores: LinkScores
    learn_seconds: float
    pairs_per_second: float
    signature: str


@command()
def main(*, options: EvaluateAlignersOptions) -> int:
    """Run the command from its command line."""
    aligner_names = [read_name(text) for text in options.aligners or ("hmm",)]
    names = [each for name in aligner_names for each in NAMED[name.aligner].each(name)]
    # Make all aligners first, so that a missing one is reported before the others work for hours.
    makers = [NAMED[name.aligner].make(name, options.program_timeout) for name in names]
    texts = read_texts(options)
    check_gold(options, texts.gold)
    outcomes: list[Outcome] = []
    try:
        for name, make in zip(names, makers, strict=True):
            outcomes.append(evaluate(name, make, texts, options))
            terminal.warn(f"{name.text}: done")
    finally:
        # Print the scores of the other aligners even if one fails.
        if outcomes:
            terminal.say(render(outcomes, texts).removesuffix("\n"))
    return 0


def check_gold(options: EvaluateAlignersOptions, texts: pa.Table) -> None:
    """Refuse an unusable gold file before anything is aligned.

    Warn if words seem to be counted from 1 without ``--one_based``.

    Raises:
        InputError: The numbers of lines and pairs differ, or a link names a word that its pair
            does not have (``link_out_of_range``); or see `evaluate_links`.
    """
    gold, pairs = files.on_disk(options.gold), texts.num_rows
    lines = text_lines.count_lines(str(gold))
    if lines != pairs:
        raise InputError(
            "line_count_mismatch",
            str(gold),
            f"has {counted(lines, 'line')}, but the gold set has {counted(pairs, 'pair')}; give "
            "one line of links per pair",
        )
    warning = _compare("\n" * pairs, options).warning
    check_words(gold, texts, one_based=options.one_based)
    if warning is not None:
        terminal.warn(f"warning: {gold}: {warning}")


def _compare(links: str, options: EvaluateAlignersOptions) -> LinkScores:
    """Compare lines of links with the gold."""
    with tempfile.TemporaryDirectory(prefix="pairweave-") as directory:
        path = Path(directory) / "links"
        path.write_text(links)
        return evaluate_links(path, files.on_disk(options.gold), options.one_based)


def read_texts(options: EvaluateAlignersOptions) -> Texts:
    """Read the gold set's pairs and the training text.

    Raises:
        ConfigError: The pairs are given in both ways or in neither, or a side is missing.
        InputError: A file cannot be read, or the sides differ in their number of lines.
    """
    if (options.pairs is None) == (options.source_input is None):
        raise ConfigError(
            "give the pairs of the gold set with --pairs FILE, one 'source ||| target' per "
            "line, or with --source_input FILE and --target_input FILE"
        )
    if options.pairs is not None:
        sides = _read_joined(files.on_disk(options.pairs))
    elif options.target_input is None:
        raise ConfigError("--source_input needs --target_input")
    else:
        sides = _read_sides([str(options.source_input)], [options.target_input])
    languages = options.source_lang, options.target_lang
    gold = token_table(sides, TokenConfig("whitespace"), languages, first_id=1)
    training = _read_sides(options.train_source_input, options.train_target_input)
    more = token_table(training, TokenConfig(options.train_tokens), languages, first_id=1)
    full = pc.and_(
        *(pc.greater(pc.list_value_length(more[f"{side}_tokens"]), 0)
          for side in ("source", "target"))
    )  # fmt: skip
    return Texts(gold, pa.concat_tables([gold, more.filter(full)]).combine_chunks())


def evaluate(
    name: AlignerName, make: Make, texts: Texts, options: EvaluateAlignersOptions
) -> Outcome:
    """Train an aligner if it learns, align, and compare its links with the gold."""
    kind = NAMED[name.aligner]
    started = time.perf_counter()
    aligner = make(texts.gold, texts.training)
    learn_seconds = time.perf_counter() - started
    whole = kind.needs_whole_corpus(name)
    if kind.warms_up:
        # The first pairs in a process compile functions and allocate buffers.
        aligner.align(texts.gold.slice(0, 2))
    table = texts.training if whole else texts.gold
    started = time.perf_counter()
    linked = aligner.align(table)
    seconds = time.perf_counter() - started
    linked = linked.slice(0, texts.gold.num_rows).combine_chunks()
    links = symmetrize(linked, pick(SymmetrizeConfig, options)).column("links")
    scores = _compare("".join(f"{line}\n" for line in format_links(links).to_pylist()), options)
    learns = kind.learns(name)
    settings = {
        # The location of a program or model has no effect; the digest identifies it.
        "aligner": name.aligner,
        "model": aligner.digest[:12],
        **kind.facts(name),
        "heuristic": options.heuristic,
        "tokens": "whitespace",
        "training_pairs": texts.training.num_rows if learns else 0,
        "gold": "one-based" if options.one_based else "zero-based",
    }
    return Outcome(
        name=name.text,
        digest=aligner.digest,
        scores=scores,
        learn_seconds=learn_seconds if learns and not whole else 0.0,
        pairs_per_second=table.num_rows / seconds,
        signature=signature(settings, version_of()),
    )


def render(outcomes: Sequence[Outcome], texts: Texts) -> str:
    """Return the table, a signature per aligner, and everything as JSON on the last line."""
    rows = [_COLUMNS, *map(_cells, outcomes)]
    lines = [line.rstrip() for line in text_columns(rows)]
    more = texts.training.num_rows - texts.gold.num_rows
    lines.append(f"{counted(texts.gold.num_rows, 'pair')} aligned, {more:,} more to learn from")
    lines.append(_ABOUT_SPEED)
    lines += [outcome.signature for outcome in outcomes]
    figures = [
        {
            "aligner": outcome.name,
            **{key: value for key, value in outcome.scores.as_dict().items() if key != "signature"},
            "learn_seconds": round(outcome.learn_seconds, 3),
            "pairs_per_second": round(outcome.pairs_per_second, 1),
            "digest": outcome.digest,
            "signature": outcome.signature,
        }
        for outcome in outcomes
    ]
    lines.append(json.dumps({"training_pairs": texts.training.num_rows, "aligners": figures}))
    return "".join(f"{line}\n" for line in lines)


def _cells(outcome: Outcome) -> tuple[str, ...]:
    scores = outcome.scores
    return (
        outcome.name,
        *(f"{100 * share:.2f} %" for share in (scores.aer, scores.precision, scores.recall)),
        f"{scores.links:,}",
        f"{outcome.learn_seconds:.1f}" if outcome.learn_seconds else "-",
        f"{outcome.pairs_per_second:,.0f}"
        if outcome.pairs_per_second >= 10
        else f"{outcome.pairs_per_second:.2g}",
    )


def _read_joined(path: Path) -> tuple[list[str], list[str]]:
    source, target = [], []
    for number, line in enumerate(text_lines.read_text_lines(str(path)), 1):
        parts = line.split(" ||| ")
        if len(parts) != 2:
            raise InputError(
                "field_count",
                str(path),
                f"expected 'source ||| target', found {len(parts)} parts",
                number,
            )
        source.append(parts[0])
        target.append(parts[1])
    return source, target


def _read_sides(sources: Sequence[str], targets: Sequence[str]) -> tuple[list[str], list[str]]:
    if len(sources) != len(targets):
        raise ConfigError(f"{len(sources)} source files, but {len(targets)} target files")
    sides: tuple[list[str], list[str]] = ([], [])
    for pair in zip(sources, targets, strict=True):
        lines_of_sides = [text_lines.read_text_lines(str(files.on_disk(name))) for name in pair]
        text_lines.require_equal_lines(pair, [len(lines) for lines in lines_of_sides])
        sides[0].extend(lines_of_sides[0])
        sides[1].extend(lines_of_sides[1])
    return sides
