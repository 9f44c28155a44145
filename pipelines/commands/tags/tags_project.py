"""The command ``tags project``: copies the tags of a source to its translation, line by line."""

import dataclasses
import functools
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import orjson
import pyarrow as pa

from pairweave.models.aligner import Aligned, LoadedAligner
from pairweave.pipelines.aligners.aligner_choice import choose_aligner
from pairweave.pipelines.aligners.aligner_options import AlignerOptions
from pairweave.pipelines.aligners.aligner_registry import ALIGNERS, aligner_of
from pairweave.pipelines.aligners.given import Given
from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands.command_options import TagsProjectOptions
from pairweave.pipelines.commands.tags.project_links import (
    Block,
    LinkBlock,
    attention_links,
    own_links,
    pharaoh_links,
)
from pairweave.pipelines.commands.text_tables import token_table
from pairweave.pipelines.parts.second_aligner_part import OPTIONS as OF_SECOND
from pairweave.pipelines.process import terminal
from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import list_column
from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.links.soft_links import SoftLinks, harden, soften
from pairweave.transforms.markup.markup import find_syntax, parse_markup, strip_markup
from pairweave.transforms.markup.other_syntax import SyntaxCheck
from pairweave.transforms.projection.project import Tokens, cut_tokens, project_tags
from pairweave.transforms.storage.text_lines import read_in_step
from pairweave.transforms.storage.whole_files import open_whole, require_apart
from pairweave.transforms.text.tokens import TokenConfig, train_sentencepiece

BLOCK_LINES = 4_096

SOFT_THRESHOLD = 0.05
"""Minimum posterior of links that ``best`` uses, with links of hmm."""

_OF_ALIGNERS = AlignerOptions.model_fields.keys() - {"tokens", "aligner", *Given.own}
"""Options of aligners, except those of tokens."""

_OF_JOBS = {*OF_SECOND, *(name for each in ALIGNERS for name in each.of_workers)}
"""Options of jobs that have workers, shards and a report."""


def main(_name: str, arguments: Sequence[str]) -> int:
    """Run the command from its command line."""
    options, _ = flags.parse(
        TagsProjectOptions,
        "pairweave tags project",
        "put the tags of a source onto its translation",
        arguments,
        beam=False,
    )
    _check(options)
    if own_links(options):
        options = options.model_copy(update={"aligner": "given"})
    tokens, link_block = _linker(options)
    counts = {"lines": 0, "tagged_lines": 0, "tags": 0}
    with open_whole(options.output) as out:
        check = _syntax_check(options)
        for line in _project(options, _blocks(options, tokens, check), link_block, counts):
            out.write(line)
        if (warning := check.warning()) is not None:
            terminal.warn(warning)
    facts = {**counts, "rules": options.rules, "output": options.output}
    terminal.say(f"{orjson.dumps(facts).decode()}")
    return 0


def _check(options: TagsProjectOptions) -> None:
    given = [name for name in own_links(options) if name != "reverse_links"]
    given += [f"aligner {options.aligner}"] if options.aligner not in ("hmm", "given") else []
    given += ["model"] if options.model is not None and options.aligner == "hmm" else []
    given += ["fit_source_input"] if options.fit_source_input else []
    if len(given) > 1:
        raise ConfigError(f"--{given[0]} and --{given[1]} are both sources of links; leave one out")
    if (options.forward_links is None) != (options.reverse_links is None):
        raise ConfigError(
            "--forward_links and --reverse_links must be given together; --links is one set"
        )
    if options.aligner == "given" and not given:
        raise ConfigError(
            "--aligner given needs --links FILE, --forward_links with --reverse_links, or "
            "--attention FILE"
        )
    others = sorted(_OF_JOBS & options.model_fields_set)
    if others:
        names = ", ".join(f"--{name}" for name in others)
        raise ConfigError(f"tags project has one process and one aligner; leave out {names}")
    _check_unused(options)
    if options.tokens == "pieces":
        raise ConfigError(
            "--tokens pieces: tags are placed between words; give words, whitespace or "
            "sentencepiece:MODEL"
        )
    require_apart([options.source_input, options.target_input, options.output])
    if len(options.fit_source_input) != len(options.fit_target_input):
        raise ConfigError(
            f"--fit_source_input has {len(options.fit_source_input)} files, --fit_target_input "
            f"{len(options.fit_target_input)}; give the same number on each side"
        )


def _check_unused(options: TagsProjectOptions) -> None:
    """Refuse options that do not apply to the source of links.

    Raises:
        ConfigError: There are such options.
    """
    given = options.model_fields_set
    origin = next(iter(own_links(options)), None)
    foreign = _OF_ALIGNERS if options.aligner == "given" else {*_OF_ALIGNERS, "aligner"}
    unused = sorted(given & foreign) if origin is not None else []
    if unused:
        names = ", ".join(f"--{name}" for name in unused)
        raise ConfigError(
            f"{names}: applies only to an aligner, but links come from --{origin}; leave it out"
        )
    read = sorted(given & set(Given.own))
    if read and options.attention is None:
        raise ConfigError(f"--{read[0]}: applies to --attention; give both")
    two_directions = origin in (None, "forward_links")
    if "heuristic" in given and (not two_directions or options.rules == "best"):
        raise ConfigError("--heuristic: combines two directions for --rules paper; leave it out")


def _project(
    options: TagsProjectOptions,
    blocks: Iterable[Block],
    link_block: LinkBlock,
    counts: dict[str, int],
) -> Iterator[bytes]:
    """Yield the target's lines with the source's tags, and count them."""
    syntax = find_syntax(options.syntax)
    for block in blocks:
        sides = block.tokens("source"), block.tokens("target")
        made = dict(zip(block.tagged, zip(*sides, link_block(block), strict=True), strict=True))
        for number, (source, line) in enumerate(zip(block.sources, block.targets, strict=True)):
            result = line.text
            if number in made:
                result = str(project_tags(source, line.text, *made[number], options.rules))
            if strip_markup(result, syntax) != line.text:
                raise InputError(
                    "reserved_token",
                    options.target_input,
                    f"contains a tag of {syntax.name}, or would form one with the inserted tags; "
                    "remove tags from the translation first",
                    block.first + number + 1,
                )
            counts["tags"] += len(source.tags)
            yield line.with_text(result)
        counts["lines"] += len(block.sources)
        counts["tagged_lines"] += len(block.tagged)


def _syntax_check(options: TagsProjectOptions) -> SyntaxCheck:
    return SyntaxCheck(options.source_input, find_syntax(options.syntax))


def _blocks(
    options: TagsProjectOptions, tokens: TokenConfig, check: SyntaxCheck
) -> Iterator[Block]:
    """Yield the lines with their tokens; split tokens at tags, unless links are given."""
    syntax = find_syntax(options.syntax)
    lines = read_in_step(options.source_input, options.target_input)
    first = 0
    while chunk := list(itertools.islice(lines, BLOCK_LINES)):
        sources = [parse_markup(source.text, syntax) for source, _ in chunk]
        targets = [target for _, target in chunk]
        for (line, _), source in zip(chunk, sources, strict=True):
            check.add(line.text, source)
        tagged = [number for number, source in enumerate(sources) if source.tags]
        texts = (
            [sources[number].text for number in tagged],
            [targets[number].text for number in tagged],
        )
        table = token_table(texts, tokens, _languages(options))
        block = Block(first, sources, targets, tagged, table)
        yield block if own_links(options) else _cut(block)
        first += len(chunk)


def _cut(block: Block) -> Block:
    sides: list[list[Tokens]] = [[], []]
    for number, *tokens in zip(
        block.tagged, block.tokens("source"), block.tokens("target"), strict=True
    ):
        cut = cut_tokens(block.sources[number], block.targets[number].text, *tokens)
        for side, parts in zip(sides, cut, strict=True):
            side.append(parts)
    table = block.table
    for name, side in zip(("source_tokens", "target_tokens"), sides, strict=True):
        offsets = np.cumsum([0, *map(len, side)])
        flat = np.array([span for parts in side for span in parts], np.int32).reshape(-1, 2)
        fields = {"start": flat[:, 0].copy(), "end": flat[:, 1].copy()}
        field = schemas.TOKENS.field(name)
        column = list_column(offsets, fields, field.type)
        table = table.set_column(table.schema.get_field_index(name), field, column)
    return dataclasses.replace(block, table=table)


def _languages(options: TagsProjectOptions) -> tuple[str, str]:
    return options.source_lang, options.target_lang


def _linker(options: TagsProjectOptions) -> tuple[TokenConfig, LinkBlock]:
    """Return the tokens, and a function that links the tokens of a block."""
    model, tokens = choose_aligner(options)
    if own_links(options):
        assert tokens is not None
        links = pharaoh_links if options.attention is None else attention_links
        return tokens, links(options, tokens)
    aligner = aligner_of(options)
    if model is None:
        loaded, tokens = aligner.learn_here(options, tokens, functools.partial(_training, options))
    else:
        loaded = aligner.load_here(model, os.cpu_count() or 1)
    assert tokens is not None
    if options.rules == "best":
        loaded = loaded.with_soft_links(SOFT_THRESHOLD)
    return tokens, _aligned(loaded, options)


def _training(
    options: TagsProjectOptions, tokens: TokenConfig | None
) -> tuple[pa.Table, TokenConfig]:
    """Return the tokenized pairs that an aligner is fitted on, and their tokens."""
    pairs = _fit_pairs(options)
    if tokens is None:
        texts = (text for pair in pairs for text in pair)
        tokens = TokenConfig("sentencepiece", train_sentencepiece(texts, options.vocabulary))
    sides = [source for source, _ in pairs], [target for _, target in pairs]
    return token_table(sides, tokens, _languages(options)), tokens


def _fit_pairs(options: TagsProjectOptions) -> list[tuple[str, str]]:
    """Return the plain pairs that the aligner is fitted on, evenly spaced over the input.

    Raises:
        InputError: The source has tags in another syntax alone.
    """
    syntax = find_syntax(options.syntax)
    check, pairs = _syntax_check(options), []
    for source, target in read_in_step(options.source_input, options.target_input):
        marked = parse_markup(source.text, syntax)
        check.add(source.text, marked)
        pairs.append((marked.text, target.text))
    check.warning()  # refuses before minutes of fitting; the command warns later
    for paths in zip(options.fit_source_input, options.fit_target_input, strict=True):
        pairs += [(source.text, target.text) for source, target in read_in_step(*paths)]
    pairs = [pair for pair in pairs if pair[0].strip() and pair[1].strip()]
    if len(pairs) > options.fit_pairs:
        chosen = np.linspace(0, len(pairs) - 1, options.fit_pairs).astype(np.int64)
        pairs = [pairs[number] for number in chosen.tolist()]
    return pairs


def _aligned(aligner: LoadedAligner, options: TagsProjectOptions) -> LinkBlock:
    """Return a function that aligns the tokens of a block."""

    def link(block: Block) -> list[SoftLinks]:
        table = _or_none(aligner.align_or_reject(block.table), block.table)
        return soften(table) if options.rules == "best" else harden(table, options.heuristic)

    return link


def _or_none(aligned: Aligned, table: pa.Table) -> pa.Table:
    """Return the links of every row; rows that the aligner gave up have none."""
    linked, given_up = aligned
    if not given_up:
        return linked
    rows = iter(linked.to_pylist())
    whole = [
        {**row, "forward": [], "reverse": []} if number in given_up else next(rows)
        for number, row in enumerate(table.to_pylist())
    ]
    return pa.Table.from_pylist(whole, schema=schemas.LINKED)
