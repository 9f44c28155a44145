"""Options of the screen."""

from typing import Annotated

from pydantic import Field

from pairweave.transforms.config import StepOptions

MAX_TOKENS = 32_000

MaxTokens = Annotated[int, Field(ge=1, le=MAX_TOKENS)]
MaxRatio = Annotated[float, Field(ge=1)]
MaxTokenChars = Annotated[int, Field(ge=1)]


class ScreenLimits(StepOptions):
    """Limits of the screen.

    Ryu et al. (2022, section 3.1.1) use 250 tokens and a ratio of 1.5.
    """

    max_tokens: MaxTokens = Field(
        250, description="longest side, in tokens (pieces with sentencepiece)"
    )
    max_ratio: MaxRatio = Field(
        1.5, description="largest ratio of the sides' token counts; inf for none"
    )
    max_token_chars: MaxTokenChars = Field(100, description="longest token, in characters")
    drop_identical: bool = Field(default=False, description="reject pairs whose sides are equal")
