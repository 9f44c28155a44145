"""The option of the columns in ``origin_columns.py``."""

from pydantic import Field

from pairweave.transforms.config import Config
from pairweave.transforms.option_marks import UNSAID, not_at_night


class OriginOptions(Config):
    """Where pairs come from."""

    keep_origin: bool = Field(
        default=False,
        description="columns file and line in each row: where its pair was first read",
        json_schema_extra={
            **UNSAID,
            **not_at_night("the table provenance says where each pair comes from"),
        },
    )
