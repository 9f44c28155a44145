"""Types that the aligners of the registry share; their libraries take long to import."""

from collections.abc import Callable
from typing import TypeAlias

import pyarrow as pa

from pairweave.models.aligner import Aligner, AlignerReference
from pairweave.transforms.text.tokens import TokenConfig

Chosen: TypeAlias = tuple[AlignerReference | None, TokenConfig | None]
"""An aligner, None if the run fits it; and the tokens, None if the run learns them first."""

Make: TypeAlias = Callable[[pa.Table, pa.Table], Aligner]
"""Makes an aligner."""

Pairs: TypeAlias = Callable[[TokenConfig | None], tuple[pa.Table, TokenConfig]]
"""Reads pairs and cuts them into tokens."""
