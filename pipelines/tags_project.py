"""The command ``tags project``: the tags of a source onto its translation, line by line."""

import dataclasses
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa

from models import external_store, store
from models.encoder_store import EncoderReference
from models.external_store import ExternalReference
from models.hmm import HmmConfig, fit
from models.hosted import HostedAligner
from models.ter_aligner import TerAligner
from pipelines import flags
from pipelines.aligner_choice import HOSTING, choose_aligner
from pipelines.command_options import TagsProjectOptions
from transforms import schemas
from transforms.attention import Attention
from transforms.errors import ConfigError, InputError
from transforms.exact_lines import Line, read_in_step, read_lines
from transforms.flat_lists import fields_of, list_column
from transforms.markup import Marked, find_syntax, parse_markup, strip_markup
from transforms.pharaoh import read_links
from transforms.project import Tokens, cut_tokens, project_tags
from transforms.soft_links import SoftLinks, harden, soften
from transforms.tokens import TokenConfig, add_tokens, train_sentencepiece
from transforms.whole_files import open_whole, require_apart

BLOCK_LINES = 4_096

SOFT_THRESHOLD = 0.05
"""Least posterior of a link that ``best`` looks at, where hmm gives the links."""

_OF_JOBS = {*HOSTING, "watch_model", "second_aligner", "combine"}
"""Options of jobs that have workers, shards and a report."""


@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    """Some lines that follow each other.

    Attributes:
        first: Number of the first line, from 0.
        sources: Source lines with their tags.
        targets: Target lines without tags.
        tagged: Which lines of the block have tags.
        table: Texts and tokens of these, as TOKENS.
    """

    first: int
    sources: list[Marked]
    targets: list[Line]
    tagged: list[int]
    table: pa.Table

    def tokens(self, side: str) -> list[Tokens]:
        """Return the tokens of each line that has tags."""
        offsets, fields = fields_of(self.table.column(f"{side}_tokens"))
        spans = list(zip(fields["start"].tolist(), fields["end"].tolist(), strict=True))
        return [spans[start:end] for start, end in itertools.pairwise(offsets.tolist())]


LinkBlock = Callable[[Block], list[SoftLinks]]
AlignedOrNot = tuple[pa.Table, dict[int, tuple[str, str]]]
"""Links of the lines of a block that have tags."""


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
    tokens, link_block = _linker(options)
    counts = {"lines": 0, "tagged_lines": 0, "tags": 0}
    with open_whole(options.output) as out:
        for line in _project(options, _blocks(options, tokens), link_block, counts):
            out.write(line)
    facts = {**counts, "rules": options.rules, "output": options.output}
    sys.stdout.write(f"{orjson.dumps(facts).decode()}\n")
    return 0


def _check(options: TagsProjectOptions) -> None:
    given = [name for name in ("links", "attention") if getattr(options, name) is not None]
    given += [f"aligner {options.aligner}"] if options.aligner != "hmm" else []
    given += ["model"] if options.model is not None and options.aligner == "hmm" else []
    given += ["fit_source_input"] if options.fit_source_input else []
    if len(given) > 1:
        raise ConfigError(
            f"--{given[0]} and --{given[1]} both say where links come from; leave one out"
        )
    others = sorted(_OF_JOBS & options.model_fields_set)
    if others:
        names = ", ".join(f"--{name}" for name in others)
        raise ConfigError(f"tags project has one process and one aligner; leave out {names}")
    if options.tokens == "pieces":
        raise ConfigError(
            "--tokens pieces: tags are put between words; give words, whitespace or "
            "sentencepiece:MODEL"
        )
    require_apart([options.source_input, options.target_input, options.output])
    if len(options.fit_source_input) != len(options.fit_target_input):
        raise ConfigError(
            f"--fit_source_input has {len(options.fit_source_input)} files, --fit_target_input "
            f"{len(options.fit_target_input)}; give as many on each side"
        )


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
                    f"line {block.first + number + 1} holds what {syntax.name} calls a tag, or "
                    "makes one with the tags put in; take tags out of the translation first",
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
        yield block if options.links or options.attention else _cut(block)
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
    if options.links is not None or options.attention is not None:
        if tokens is None:
            raise ConfigError("--tokens sentencepiece: give the model as sentencepiece:MODEL")
        if options.links is not None:
            return tokens, _pharaoh(options)
        return tokens, _attention(options)
    if options.aligner == "external" and model is None:
        raise ConfigError(
            f"--aligner external: give what {options.program} learned in an earlier run by --model"
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


def _pharaoh(options: TagsProjectOptions) -> LinkBlock:
    path = Path(options.links or "")
    _require_lines(str(path), sum(len(links) for links in read_links(path)), options)
    stream = _link_lines(path)

    def link(block: Block) -> list[SoftLinks]:
        lines = list(itertools.islice(stream, len(block.sources)))
        links = []
        for number, one, other in zip(
            block.tagged, block.tokens("source"), block.tokens("target"), strict=True
        ):
            for source, target in lines[number]:
                if source >= len(one) or target >= len(other):
                    raise InputError(
                        "link_out_of_range",
                        str(path),
                        f"line {block.first + number + 1}: {source}-{target} is no link of "
                        f"{len(one)} source and {len(other)} target tokens; say with --tokens "
                        "what the links count",
                    )
            links.append(SoftLinks.certain(lines[number]))
        return links

    return link


def _link_lines(path: Path) -> Iterator[list[tuple[int, int]]]:
    for links in read_links(path):
        for start, end in itertools.pairwise(links.offsets.tolist()):
            sides = links.source[start:end].tolist(), links.target[start:end].tolist()
            yield list(zip(*sides, strict=True))


def _attention(options: TagsProjectOptions) -> LinkBlock:
    attention = Attention(Path(options.attention or ""))
    _require_lines(str(options.attention), len(attention), options)

    def link(block: Block) -> list[SoftLinks]:
        return [
            attention.links(block.first + number, len(one), len(other), options.attention_method)
            for number, one, other in zip(
                block.tagged, block.tokens("source"), block.tokens("target"), strict=True
            )
        ]

    return link


def _require_lines(name: str, found: int, options: TagsProjectOptions) -> None:
    lines = sum(1 for _ in read_lines(options.source_input))
    if lines != found:
        raise InputError(
            "line_count_mismatch",
            name,
            f"has links of {found} lines, but {options.source_input} has {lines} lines",
        )
