"""Options of the screen."""

from typing import Annotated

from pydantic import Field

from pairweave.transforms.config import Config
from pairweave.transforms.option_marks import rejects

MAX_TOKENS = 32_000

MaxTokens = Annotated[int, Field(ge=1, le=MAX_TOKENS, json_schema_extra=rejects("too_long"))]
MaxRatio = Annotated[float, Field(ge=1, json_schema_extra=rejects("length_ratio"))]
MaxTokenChars = Annotated[int, Field(ge=1, json_schema_extra=rejects("long_token"))]


class ScreenLimits(Config):
    """Limits of the screen.

    Ryu et al. (2022, section 3.1.1) use 250 tokens, and a ratio of 1.5: that rejects 4 % of news, 6
    to 30 % of help pages and up to 55 % of messages of programs; 3 rejects 0.1 %, 0.5 to 2 % and up
    to 5 %.
    """

    max_tokens: MaxTokens = Field(
        250, description="longest side, in tokens (pieces with sentencepiece)"
    )
    max_ratio: MaxRatio = Field(
        3.0,
        description="largest ratio of the sides' token counts, where letters of scripts without "
        "spaces count as parts of words; inf for none",
    )
    max_token_chars: MaxTokenChars = Field(100, description="longest token, in characters")
    drop_identical: bool = Field(default=False, description="reject pairs whose sides are equal")
