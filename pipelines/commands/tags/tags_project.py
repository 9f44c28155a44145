"""The command ``tags project``: the tags of a source onto its translation, line by line."""

import dataclasses
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import orjson
import pyarrow as pa

from pairweave.models import store
from pairweave.models.encoder.encoder_store import EncoderReference
from pairweave.models.encoder.loaded_encoder import HostedAligner
from pairweave.models.external import external_store
from pairweave.models.external.external_store import ExternalReference
from pairweave.models.given_links import GivenLinks
from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.ter_aligner import TerAligner
from pairweave.pipelines.aligners.aligner_choice import HOSTING, choose_aligner
from pairweave.pipelines.aligners.given_choice import ATTENTION_ONLY
from pairweave.pipelines.commands.tags.project_links import (
    Block,
    LinkBlock,
    attention_links,
    own_links,
    pharaoh_links,
)
from pairweave.pipelines.options import flags
from pairweave.pipelines.options.base import AlignerOptions
from pairweave.pipelines.options.command_options import TagsProjectOptions
from pairweave.pipelines.process import terminal
from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_lists import list_column
from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.links.soft_links import SoftLinks, harden, soften
from pairweave.transforms.markup.markup import find_syntax, parse_markup, strip_markup
from pairweave.transforms.projection.project import Tokens, cut_tokens, project_tags
from pairweave.transforms.storage.text_lines import read_in_step
from pairweave.transforms.storage.whole_files import open_whole, require_apart
from pairweave.transforms.text.tokens import TokenConfig, add_tokens, train_sentencepiece

BLOCK_LINES = 4_096

SOFT_THRESHOLD = 0.05
"""Least posterior of a link that ``best`` looks at, where hmm gives the links."""

_OF_ALIGNERS = AlignerOptions.model_fields.keys() - {"tokens", "aligner", *ATTENTION_ONLY}
"""Options of what makes links, and not of what cuts text."""

_OF_JOBS = {*HOSTING, "watch_model", "second_aligner", "combine"}
"""Options of jobs that have workers, shards and a report."""


AlignedOrNot = tuple[pa.Table, dict[int, tuple[str, str]]]
"""Links of some rows, and the rows that an aligner gave up with reason and detail."""


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
        for line in _project(options, _blocks(options, tokens), link_block, counts):
            out.write(line)
    facts = {**counts, "rules": options.rules, "output": options.output}
    terminal.say(f"{orjson.dumps(facts).decode()}")
    return 0


def _check(options: TagsProjectOptions) -> None:
    given = [name for name in own_links(options) if name != "reverse_links"]
    given += [f"aligner {options.aligner}"] if options.aligner not in ("hmm", "given") else []
    given += ["model"] if options.model is not None and options.aligner == "hmm" else []
    given += ["fit_source_input"] if options.fit_source_input else []
    if len(given) > 1:
        raise ConfigError(
            f"--{given[0]} and --{given[1]} both say where links come from; leave one out"
        )
    if (options.forward_links is None) != (options.reverse_links is None):
        raise ConfigError("--forward_links and --reverse_links belong together; --links is one set")
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
    """Refuse options that say nothing of the way that links come.

    Raises:
        ConfigError: Names them.
    """
    given = options.model_fields_set
    came = next(iter(own_links(options)), None)
    foreign = _OF_ALIGNERS if options.aligner == "given" else {*_OF_ALIGNERS, "aligner"}
    unused = sorted(given & foreign) if came is not None else []
    if unused:
        names = ", ".join(f"--{name}" for name in unused)
        raise ConfigError(
            f"{names}: applies only to an aligner, but links come from --{came}; leave it out"
        )
    read = sorted(given & set(ATTENTION_ONLY))
    if read and options.attention is None:
        raise ConfigError(f"--{read[0]}: says how --attention is read; give both")
    two_directions = came in (None, "forward_links")
    if "heuristic" in given and (not two_directions or options.rules == "best"):
        raise ConfigError("--heuristic: combines two directions for --rules paper; leave it out")


def _project(
    options: TagsProjectOptions,
    blocks: Iterable[Block],
    link_block: LinkBlock,
    counts: dict[str, int],
) -> Iterator[bytes]:
    """Yield the target's lines with the source's tags, and count them."""
    syntax = find_syntax(options.source_syntax)
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
                    f"holds what {syntax.name} calls a tag, or would form one with the inserted "
                    "tags; remove tags from the translation first",
                    block.first + number + 1,
                )
            counts["tags"] += len(source.tags)
            yield line.with_text(result)
        counts["lines"] += len(block.sources)
        counts["tagged_lines"] += len(block.tagged)


def _blocks(options: TagsProjectOptions, tokens: TokenConfig) -> Iterator[Block]:
    """Yield the lines with their tokens, cut at the tags inside them if they are to be linked."""
    syntax = find_syntax(options.source_syntax)
    lines = read_in_step(options.source_input, options.target_input)
    first = 0
    while chunk := list(itertools.islice(lines, BLOCK_LINES)):
        sources = [parse_markup(source.text, syntax) for source, _ in chunk]
        targets = [target for _, target in chunk]
        tagged = [number for number, source in enumerate(sources) if source.tags]
        texts = [(sources[number].text, targets[number].text) for number in tagged]
        block = Block(first, sources, targets, tagged, add_tokens(_table(texts, options), tokens))
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


def _table(texts: Sequence[tuple[str, str]], options: TagsProjectOptions) -> pa.Table:
    rows = len(texts)
    columns = {
        "id": [f"{row:032x}" for row in range(rows)],
        "corpus": [""] * rows,
        "source_lang": [options.source_lang] * rows,
        "target_lang": [options.target_lang] * rows,
        "file": [""] * rows,
        "line": list(range(1, rows + 1)),
        "source": [source for source, _ in texts],
        "target": [target for _, target in texts],
        "translation": [None] * rows,
    }
    return pa.table([columns[field.name] for field in schemas.PAIRS], schema=schemas.PAIRS)


def _linker(options: TagsProjectOptions) -> tuple[TokenConfig, LinkBlock]:
    """Return how text is cut, and what links the tokens of a block."""
    model, tokens = choose_aligner(options)
    if isinstance(model, GivenLinks):
        assert tokens is not None
        if options.attention is not None:
            return tokens, attention_links(options, tokens)
        return tokens, pharaoh_links(options, tokens)
    if options.aligner == "external" and model is None:
        raise ConfigError(
            f"--aligner external: use --model to give what {options.program} learned in an "
            "earlier run"
        )
    if isinstance(model, EncoderReference):
        assert tokens is not None
        threads = os.cpu_count() or 1
        encoder = HostedAligner(dataclasses.replace(model, threads=threads))
        return tokens, _aligned(lambda table: _or_none(encoder.align(table)[:2], table), options)
    if isinstance(model, ExternalReference):
        assert tokens is not None
        program = external_store.load(model)
        return tokens, _aligned(
            lambda table: _or_none(program.align_or_reject(table), table), options
        )
    assert not isinstance(model, TerAligner)
    if model is not None:
        fitted = store.load(model)
        hmm, tokens = fitted.model, tokens or fitted.tokens
    else:
        pairs = _fit_pairs(options)
        if tokens is None:
            texts = (text for pair in pairs for text in pair)
            tokens = TokenConfig("sentencepiece", train_sentencepiece(texts, options.vocabulary))
        table = add_tokens(_table(pairs, options), tokens)
        hmm = fit(table, HmmConfig(decode=options.decode), os.cpu_count() or 1)
    if options.rules == "best":
        hmm = hmm.with_threshold(SOFT_THRESHOLD)
    return tokens, _aligned(hmm.align, options)


def _fit_pairs(options: TagsProjectOptions) -> list[tuple[str, str]]:
    """Return the plain pairs that the aligner is fitted on, spread over all that are there."""
    syntax = find_syntax(options.source_syntax)
    pairs = [
        (strip_markup(source.text, syntax), target.text)
        for source, target in read_in_step(options.source_input, options.target_input)
    ]
    for paths in zip(options.fit_source_input, options.fit_target_input, strict=True):
        pairs += [(source.text, target.text) for source, target in read_in_step(*paths)]
    pairs = [pair for pair in pairs if pair[0].strip() and pair[1].strip()]
    if len(pairs) > options.fit_pairs:
        chosen = np.linspace(0, len(pairs) - 1, options.fit_pairs).astype(np.int64)
        pairs = [pairs[number] for number in chosen.tolist()]
    return pairs


def _aligned(align: Callable[[pa.Table], pa.Table], options: TagsProjectOptions) -> LinkBlock:
    """Return what aligns the tokens of a block."""

    def link(block: Block) -> list[SoftLinks]:
        table = align(block.table)
        return soften(table) if options.rules == "best" else harden(table, options.heuristic)

    return link


def _or_none(aligned: AlignedOrNot, table: pa.Table) -> pa.Table:
    """Return the links of every row; what the aligner gave up has none."""
    linked, given_up = aligned
    if not given_up:
        return linked
    rows = iter(linked.to_pylist())
    whole = [
        {**row, "forward": [], "reverse": []} if number in given_up else next(rows)
        for number, row in enumerate(table.to_pylist())
    ]
    return pa.Table.from_pylist(whole, schema=schemas.LINKED)
