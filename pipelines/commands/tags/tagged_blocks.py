"""Tokens and links of lines with tags, in blocks, for the commands that place tags."""

import dataclasses
import functools
import itertools
import os
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from pairweave.models.aligner import MAX_TOKENS, LoadedAligner, align_all
from pairweave.models.hmm import hmm_reference
from pairweave.models.hmm.hmm_reference import HmmReference
from pairweave.models.learned_languages import Learned, other_languages
from pairweave.pipelines.aligners.aligner_choice import choose_aligner
from pairweave.pipelines.aligners.aligner_options import AlignerOptions
from pairweave.pipelines.aligners.aligner_registry import NAMED, aligner_of, read_name
from pairweave.pipelines.aligners.given import Given
from pairweave.pipelines.job_options.projection_options import TagOptions
from pairweave.pipelines.process import terminal
from pairweave.transforms.arrow import flat_columns
from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.links.product import MIN_POSTERIOR
from pairweave.transforms.links.soft_links import (
    SOFT_THRESHOLD,
    SoftLinks,
    confirm,
    harden,
    soften,
)
from pairweave.transforms.markup.markup import Marked, find_syntax, parse_markup
from pairweave.transforms.markup.other_syntax import SyntaxCheck
from pairweave.transforms.option_marks import ONLY_IN_RUNS, marked
from pairweave.transforms.option_values import dashed
from pairweave.transforms.projection.block_links import (
    READ_TWICE,
    Block,
    LinkBlock,
    attention_links,
    pharaoh_links,
)
from pairweave.transforms.projection.cut_tables import cut_table
from pairweave.transforms.projection.joined_words import placings
from pairweave.transforms.projection.project import Tokens
from pairweave.transforms.storage import files
from pairweave.transforms.storage.text_lines import read_in_step
from pairweave.transforms.text.iso_languages import UNDETERMINED
from pairweave.transforms.text.segmenter import choose_segmenter, is_unspaced, needs_segmenter
from pairweave.transforms.text.text_tables import token_table
from pairweave.transforms.text.tokens import TokenConfig, train_sentencepiece

BLOCK_LINES = 4_096

_LOOK_LINES = 1_000
"""Number of lines to examine of a translation without a language tag."""

_OF_ALIGNERS = AlignerOptions.model_fields.keys() - {"tokens", "aligner", *Given.own}
"""Options of aligners, except options of tokens."""


def own_links(options: TagOptions) -> list[str]:
    """Return the given options that name files of links."""
    names = ("links", "forward_links", "reverse_links", "attention")
    return [name for name in names if getattr(options, name) is not None]


def check_links(options: TagOptions, command: str) -> None:
    """Refuse options of links that contradict each other, or that do not apply."""
    sources = [name for name in own_links(options) if name != "reverse_links"]
    sources += [f"aligner {options.aligner}"] if options.aligner not in ("hmm", "given") else []
    sources += ["model"] if options.model is not None and options.aligner == "hmm" else []
    sources += ["fit_source_input"] if options.fit_source_input else []
    if len(sources) > 1:
        raise ConfigError(
            f"--{sources[0]} and --{sources[1]} are both sources of links; leave one out"
        )
    if (options.forward_links is None) != (options.reverse_links is None):
        raise ConfigError(
            "--forward_links and --reverse_links must be given together; --links is one set"
        )
    if options.aligner == "given" and not sources:
        raise ConfigError(
            "--aligner given needs --links FILE, --forward_links with --reverse_links, or "
            "--attention FILE"
        )
    others = sorted(marked(type(options), ONLY_IN_RUNS) & options.model_fields_set)
    if others:
        raise ConfigError(f"{command} has one process and one aligner; leave out {dashed(others)}")
    _check_unused(options)
    if options.second_aligner is not None and options.rules == "paper":
        raise ConfigError("--second_aligner confirms links for --rules best; leave it out")
    if options.tokens == "pieces":
        raise ConfigError(
            "--tokens pieces: tags are placed between words; give words, whitespace or "
            "sentencepiece:MODEL"
        )
    if len(options.fit_source_input) != len(options.fit_target_input):
        raise ConfigError(
            f"--fit_source_input has {len(options.fit_source_input)} files, --fit_target_input "
            f"{len(options.fit_target_input)}; give the same number on each side"
        )


def _check_unused(options: TagOptions) -> None:
    """Refuse options that do not apply to the source of links."""
    set_options = options.model_fields_set
    origin = next(iter(own_links(options)), None)
    foreign = _OF_ALIGNERS if options.aligner == "given" else {*_OF_ALIGNERS, "aligner"}
    unused = sorted(set_options & foreign) if origin is not None else []
    if unused:
        raise ConfigError(
            f"{dashed(unused)}: applies only to an aligner, but links come from --{origin}; leave "
            "it out"
        )
    read = sorted(set_options & set(Given.own))
    if read and options.attention is None:
        raise ConfigError(f"--{read[0]}: applies to --attention; give both")
    two_directions = origin in (None, "forward_links")
    if "heuristic" in set_options and (not two_directions or options.rules == "best"):
        raise ConfigError("--heuristic: combines two directions for --rules paper; leave it out")


@dataclasses.dataclass(frozen=True, slots=True)
class Placing:
    """Where tags can be placed: tokens and links of a block.

    Attributes:
        tokens: How the texts are tokenized for the links.
        segmenter: Finds the words of translations that are written without spaces.
        link_block: Returns the links of a block.
    """

    tokens: TokenConfig
    segmenter: str
    link_block: LinkBlock

    def of(self, block: Block) -> Iterator[tuple[Tokens, Tokens, SoftLinks]]:
        """Yield source tokens, whole target words, and the links of each line with tags."""
        sources = (block.sources[number] for number in block.tagged)
        links = self.link_block(block)
        return placings(block.table, sources, links, self.tokens, self.segmenter)


def start_placing(options: TagOptions) -> Placing:
    """Choose the tokens and the segmenter, and load or fit the aligner.

    Raises:
        ConfigError: The options name an aligner or a segmenter that cannot be used.
        InputError: The source contains only tags of another syntax.
    """
    segmenter = _segmenter(options)
    tokens, link_block = _linker(options)
    return Placing(tokens, segmenter, link_block)


def _segmenter(options: TagOptions) -> str:
    """Return the segmenter for the translation, chosen by its language tag or its first lines.

    Raises:
        ConfigError: A segmenter is needed, but not installed.
    """
    language, path = options.target_lang, options.target_input
    reason = f"{path}: the target language is {language}" if is_unspaced(language) else None
    if language == UNDETERMINED and options.segmenter == "auto":
        files.require_regular(path, READ_TWICE)
        lines = itertools.islice(read_in_step(path), _LOOK_LINES)
        if needs_segmenter(pa.array([line.text for (line,) in lines], pa.string())):
            reason = f"{path} is in a script without spaces"
    return choose_segmenter(options.segmenter, reason)


def syntax_check(options: TagOptions) -> SyntaxCheck:
    """Return the check for tags of another syntax in the source."""
    return SyntaxCheck(options.source_input, find_syntax(options.syntax))


def read_blocks(options: TagOptions, tokens: TokenConfig, check: SyntaxCheck) -> Iterator[Block]:
    """Yield the lines with their tokens; split tokens at tags, unless links are given."""
    syntax = find_syntax(options.syntax)
    lines = read_in_step(options.source_input, options.target_input)
    first = 0
    while chunk := list(itertools.islice(lines, BLOCK_LINES)):
        sources = [parse_markup(source.text, syntax) for source, _ in chunk]
        targets = [target for _, target in chunk]
        marked_targets = [_target(options, target.text) for target in targets]
        if options.tagged_target:
            targets = [
                line._replace(text=target.text)
                for line, target in zip(targets, marked_targets, strict=True)
            ]
        for (line, _), source in zip(chunk, sources, strict=True):
            check.add(line.text, source)
        tagged = [number for number, source in enumerate(sources) if source.tags]
        texts = (
            [sources[number].text for number in tagged],
            [targets[number].text for number in tagged],
        )
        table = token_table(texts, tokens, _languages(options))
        block = Block(first, sources, targets, marked_targets, tagged, table)
        if not own_links(options):
            block = _cut(block)
            _require_countable(options, block)
        yield block
        first += len(chunk)


def _target(options: TagOptions, text: str) -> Marked:
    """Return a translation: with its tags, or as text alone if it has none."""
    return (
        parse_markup(text, find_syntax(options.syntax))
        if options.tagged_target
        else Marked(text, ())
    )


def _cut(block: Block) -> Block:
    sources = (block.sources[number] for number in block.tagged)
    targets = (block.targets[number].text for number in block.tagged)
    return dataclasses.replace(block, table=cut_table(block.table, sources, targets))


def _require_countable(options: TagOptions, block: Block) -> None:
    """Check that links can number the tokens of every line with tags.

    Raises:
        InputError: A line has too many tokens.
    """
    for side, path in (("source", options.source_input), ("target", options.target_input)):
        sizes = flat_columns.lengths_of(block.table.column(f"{side}_tokens"))
        for row in np.flatnonzero(sizes > MAX_TOKENS)[:1].tolist():
            raise InputError(
                "too_long",
                path,
                f"has {sizes[row]:,} tokens, and links can number {MAX_TOKENS:,}; divide the line, "
                "or leave it out",
                block.first + block.tagged[row] + 1,
            )


def _languages(options: TagOptions) -> tuple[str, str]:
    return options.source_lang, options.target_lang


def _linker(options: TagOptions) -> tuple[TokenConfig, LinkBlock]:
    """Return the tokens, and a function that links the tokens of a block."""
    if own_links(options):
        _, tokens = choose_aligner(options.model_copy(update={"aligner": "given"}))
        assert tokens is not None
        return tokens, _given(options, tokens)
    model, tokens = choose_aligner(options)
    aligner = aligner_of(options)
    if model is None:
        loaded, tokens = aligner.learn_here(options, tokens, functools.partial(_training, options))
    else:
        _tell_languages(options, aligner.fitted(model))
        loaded = aligner.load_here(model, os.cpu_count() or 1)
    assert tokens is not None
    aligners = [loaded]
    if options.second_aligner is not None:
        name = read_name(options.second_aligner, "--second_aligner")
        aligner = NAMED[name.aligner]
        reference = aligner.second(name, options, tokens)
        second = aligner.fitted(reference)
        _tell_languages(options, second and (name.option, second[1]))
        aligners.append(aligner.load_here(reference, os.cpu_count() or 1))
    if options.rules == "best":
        least = SOFT_THRESHOLD if options.second_aligner is None else MIN_POSTERIOR
        aligners = [each.with_soft_links(least) for each in aligners]
    return tokens, _aligned(aligners, options)


def _given(options: TagOptions, tokens: TokenConfig) -> LinkBlock:
    """Return a function that reads the links of a block from the files that the options name."""
    source = options.source_input
    if options.attention is not None:
        place = (options.attention, options.attention_layer, options.attention_head)
        return attention_links(*place, options.attention_method, source, tokens)
    heuristic = None if options.rules == "best" else options.heuristic
    names = [getattr(options, name) for name in own_links(options)]
    return pharaoh_links(names, source, tokens, heuristic)


def _tell_languages(options: TagOptions, fitted: tuple[str, HmmReference] | None) -> None:
    """Warn of an hmm that was fitted with other languages than those given.

    Args:
        options: The options.
        fitted: The option that gives the hmm, and its reference; None if there is none.
    """
    if fitted is None:
        return
    option, reference = fitted
    learned = Learned(option, reference.directory, "a model", hmm_reference.load(reference).about)
    languages = {"source_lang": options.source_lang, "target_lang": options.target_lang}
    if (message := other_languages(learned, languages)) is not None:
        terminal.warn(message)


def _training(options: TagOptions, tokens: TokenConfig | None) -> tuple[pa.Table, TokenConfig]:
    """Return the tokenized pairs that an aligner is fitted on, and their tokens."""
    pairs = _fit_pairs(options)
    if tokens is None:
        texts = (text for pair in pairs for text in pair)
        tokens = TokenConfig("sentencepiece", train_sentencepiece(texts, options.vocabulary))
    sides = [source for source, _ in pairs], [target for _, target in pairs]
    return token_table(sides, tokens, _languages(options)), tokens


def _fit_pairs(options: TagOptions) -> list[tuple[str, str]]:
    """Return the plain pairs that the aligner is fitted on, evenly spaced over the input.

    Raises:
        ConfigError: There are none.
        InputError: The source contains only tags of another syntax.
    """
    syntax = find_syntax(options.syntax)
    check, pairs = syntax_check(options), []
    for path in (options.source_input, options.target_input):
        files.require_regular(path, READ_TWICE)
    for source, target in read_in_step(options.source_input, options.target_input):
        marked = parse_markup(source.text, syntax)
        check.add(source.text, marked)
        pairs.append((marked.text, _target(options, target.text).text))
    check.warning()  # raises now, before minutes of fitting; the command prints warnings later
    for paths in zip(options.fit_source_input, options.fit_target_input, strict=True):
        pairs += [(source.text, target.text) for source, target in read_in_step(*paths)]
    pairs = [pair for pair in pairs if pair[0].strip() and pair[1].strip()]
    if not pairs:
        raise ConfigError(
            f"{options.source_input}: no line has text besides its tags both here and in "
            f"{options.target_input}, so there is nothing to fit an aligner on; give "
            "--fit_source_input and --fit_target_input, or a fitted aligner by --model DIRECTORY"
        )
    if len(pairs) > options.fit_pairs:
        chosen = np.linspace(0, len(pairs) - 1, options.fit_pairs).astype(np.int64)
        pairs = [pairs[number] for number in chosen.tolist()]
    return pairs


def _aligned(aligners: Sequence[LoadedAligner], options: TagOptions) -> LinkBlock:
    """Return a function that aligns the tokens of a block, and lets a second one confirm them."""

    def link(block: Block) -> list[SoftLinks]:
        tables = [align_all(each, block.table) for each in aligners]
        if options.rules == "paper":
            return harden(tables[0], options.heuristic)
        first, *others = (soften(table) for table in tables)
        for second in others:
            pairs = zip(first, second, strict=True)
            first = [confirm(*both, SOFT_THRESHOLD) for both in pairs]
        return first

    return link
