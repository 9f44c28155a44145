"""The names of formats in options."""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pairweave.transforms.formats import registry
from pairweave.transforms.plugins.corpus_format import FORMAT
from pairweave.transforms.plugins.name_option import own_or_plugin

if TYPE_CHECKING:
    InputFormatName: TypeAlias = str | None
    ExportFormatName: TypeAlias = str
else:
    # Files with one side each are line-parallel text unless another format is given.
    _OWN = tuple(name for name in registry.input_names() if name != registry.LINE_PARALLEL)
    InputFormatName = Annotated[str | None, *own_or_plugin(FORMAT, _OWN)]
    ExportFormatName = Literal[registry.export_names()]
