"""Nullable columns of a table; readers of the files rely on these."""

import pytest

from pairweave.transforms import schemas

MAY_BE_NULL = {
    "PAIRS": ["translation"],
    "TOKENS": ["translation"],
    "LINKED": ["translation"],
    "SYMMETRIZED": ["translation"],
    "COMPARED": ["translation"],
    "PHRASES": ["translation"],
    "ALIGNED": [],
    "TAGGED": [],
    "TAGGED_MARKUP": ["markup"],
    "SUGGESTIONS": ["hint", "confidence", "score"],
    "REJECTS": ["detail", "id", "source", "target", "translation", "raw"],
}


@pytest.mark.parametrize("name", MAY_BE_NULL)
def test_a_column_is_null_only_where_there_may_be_nothing(name):
    schema = getattr(schemas, name)
    assert [field.name for field in schema if field.nullable] == MAY_BE_NULL[name]
    for field in schema:
        if hasattr(field.type, "value_field"):
            assert not field.type.value_field.nullable, field
