"""The attention of a translation model as an aligner for ``evaluate aligners``."""

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from pairweave.pipelines.aligners.aligner_name import AlignerName
from pairweave.pipelines.aligners.job_aligner import JobAligner, Make
from pairweave.pipelines.options.base import WordAlignerOptions
from pairweave.transforms.counted import counted
from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.option_places import Use
from pairweave.transforms.option_values import require_choice
from pairweave.transforms.storage import files

if TYPE_CHECKING:
    import pyarrow as pa

    from pairweave.models.aligner import Aligner, LoadableReference
    from pairweave.models.attention_aligner import AttentionSource
    from pairweave.transforms.text.tokens import TokenConfig

ALL = "all"
"""Selects every layer, head or method of attention."""


class Attention(JobAligner):
    """The aligner `models.attention_aligner`; jobs use attention by ``--aligner given``."""

    name = "attention"
    names = ("attention",)
    places: ClassVar[Mapping[str, Use]] = {"pieces": Use.FILE}
    may_be_second = False

    def each(self, name: AlignerName) -> Iterator[AlignerName]:
        """Yield the aligners that a name selects: one, or one per layer, head or method.

        Raises:
            ConfigError: The file has no layers or heads to list.
            InputError: The file of attention cannot be read.
        """
        from pairweave.transforms.links import attention

        wanted = [setting for setting, value in name.settings.items() if value == ALL]
        if not wanted:
            yield name
            return
        file = attention.Attention(files.on_disk(_path(name)))
        layers, heads = file.layers_and_heads()
        values_of: list[Sequence[object]] = []
        for setting in wanted:
            sizes = {"layer": layers, "head": heads}
            if setting in sizes and sizes[setting] is None:
                raise ConfigError(f"{name.option} {name.text}: the file has no {setting}s to list")
            several = setting in sizes
            values_of.append(range(sizes[setting] or 0) if several else tuple(attention.METHODS))
        for values in itertools.product(*values_of):
            own = name.settings | dict(zip(wanted, map(str, values), strict=True))
            parts = (f"{setting}={value}" for setting, value in own.items())
            text = ":".join([name.aligner, _path(name), *parts])
            yield dataclasses.replace(name, text=text, settings=own)

    def second(
        self, name: AlignerName, options: WordAlignerOptions, tokens: "TokenConfig"
    ) -> "LoadableReference":
        """Refuse attention, which exists for given lines only."""
        raise ConfigError(
            f"{name.option} {name.text}: attention can be used by --aligner given or evaluate "
            "aligners only"
        )

    def make(self, name: AlignerName, seconds: int) -> Make:
        """Return the aligner, if there is attention for every pair."""
        from pairweave.models.attention_aligner import AttentionAligner

        source = source_of(name)
        aligner = AttentionAligner(source)

        def fitting(gold: "pa.Table", _training: "pa.Table") -> "Aligner":
            if len(aligner) != gold.num_rows:
                raise InputError(
                    "line_count_mismatch",
                    source.path,
                    f"has attention of {counted(len(aligner), 'line')}, but the gold set has "
                    f"{counted(gold.num_rows, 'pair')}",
                )
            return aligner

        return fitting

    def facts(self, name: AlignerName) -> dict[str, object]:
        """Return how links are extracted."""
        source = source_of(name)
        return {
            "method": source.method,
            "layer": "only" if source.layer is None else source.layer,
            "head": "mean" if source.head is None else source.head,
        }


def source_of(name: AlignerName) -> "AttentionSource":
    """Return the file of attention and the settings for extracting links.

    Raises:
        ConfigError: No file is named, or a setting is unknown or has a wrong value.
    """
    from pairweave.models.attention_aligner import AttentionSource
    from pairweave.transforms.links import attention

    name.require_settings("method", "layer", "head", "pieces")
    method = name.settings.get("method", "shift")
    require_choice("method", method, attention.METHODS)
    return AttentionSource(
        _path(name),
        method,
        name.number("layer", int),
        name.number("head", int),
        name.settings.get("pieces"),
    )


def _path(name: AlignerName) -> str:
    if name.model is None:
        raise ConfigError(
            f"{name.option} attention: needs a file, as in attention:FILE.npz:layer=2"
        )
    return name.model
