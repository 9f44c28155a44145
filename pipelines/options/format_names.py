"""The names of formats in options, and the options of single formats."""

import types
from typing import TYPE_CHECKING, Literal, TypeAlias

from pairweave.transforms.config import StepOptions
from pairweave.transforms.formats import registry

if TYPE_CHECKING:
    InputFormatName: TypeAlias = str
    ExportFormatName: TypeAlias = str

    class FormatOptions(StepOptions):
        """The options of single formats."""

else:
    # Files with one side each are line-parallel text unless they have another format.
    InputFormatName = Literal[
        tuple(name for name in registry.input_names() if name != registry.LINE_PARALLEL)
    ]
    ExportFormatName = Literal[registry.export_names()]
    FormatOptions = types.new_class(
        "FormatOptions", (*reversed(registry.format_options()), StepOptions)
    )
