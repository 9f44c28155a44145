import pytest

from pairweave.transforms.errors import InputError
from pairweave.transforms.suggestions.masked_lines import read_masked


def written(directory, **lines):
    for name, texts in lines.items():
        (directory / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return [str(directory / name) for name in lines]


def test_each_line_has_a_source_a_masked_translation_and_the_suggestions(tmp_path):
    source, masked, *golds = written(
        tmp_path,
        src=["a", "b"],
        mask=["<MASK_REP> x", "y<MASK_REP>"],
        one=["1", ""],
        two=["2", "3"],
    )
    assert list(read_masked(source, masked, golds)) == [
        ("a", "<MASK_REP> x", ("1", "2")),
        ("b", "y<MASK_REP>", ("", "3")),
    ]


@pytest.mark.parametrize("line", ["no mask", "<MASK_REP> and <MASK_REP>"])
def test_a_translation_without_exactly_one_mask_is_refused_by_its_line(tmp_path, line):
    source, masked = written(tmp_path, src=["a", "b"], mask=["<MASK_REP>", line])
    with pytest.raises(InputError, match=r"mask.*2.*expected one <MASK_REP>, found [02]"):
        list(read_masked(source, masked, []))
