"""The formats that options name."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from pairweave.transforms.formats import registry

if TYPE_CHECKING:
    InputFormatName: TypeAlias = str
    ExportFormatName: TypeAlias = str
else:
    # Line-parallel text is what files of one side each are that have no other format.
    InputFormatName = Literal[
        tuple(name for name in registry.input_names() if name != registry.LINE_PARALLEL)
    ]
    ExportFormatName = Literal[registry.export_names()]
