"""What YAML permits and options do not is refused in one line that says where and what to do."""

import os

import pytest

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import yaml_files
from pairweave.transforms.storage.yaml_files import parse_yaml, read_yaml
from tests.makers import odd_yaml


@pytest.mark.parametrize(("text", "message"), odd_yaml.REFUSED)
def test_what_options_cannot_have_is_refused(text, message):
    for given in (text, text.encode()):
        with pytest.raises(ConfigError) as refused:
            parse_yaml(given)
        assert message in str(refused.value)
        assert str(refused.value).isprintable()


def test_a_long_value_is_not_shown_in_full():
    with pytest.raises(ConfigError) as refused:
        parse_yaml("a: " + "9" * 5_000)
    assert len(str(refused.value)) < 150


@pytest.mark.parametrize("name", odd_yaml.BOMBS)
def test_aliases_do_not_multiply(name):
    with pytest.raises(ConfigError, match="more than 100,000 keys and values once its aliases"):
        parse_yaml(odd_yaml.BOMBS[name])


def test_as_many_values_as_the_limit_are_read(monkeypatch):
    monkeypatch.setattr(yaml_files, "MAX_VALUES", 2_000)
    values = ", ".join(["0"] * 1_999)  # and the list itself
    assert len(parse_yaml(f"[{values}]")) == 1_999
    with pytest.raises(ConfigError, match="more than 2,000"):
        parse_yaml(f"[{values}, 0]")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# nothing\n", None),
        ("a: {b: 1}\nc: {b: 2}\n", {"a": {"b": 1}, "c": {"b": 2}}),
        ("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\n", {"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 2}}),
        # The map c is merged before it is read itself.
        (
            "a: &a {x: 1}\nb: {c: &c {<<: *a, x: 2}}\nd: {<<: *c}\n",
            {"a": {"x": 1}, "b": {"c": {"x": 2}}, "d": {"x": 2}},
        ),
        ("[&a {x: 1}, *a]", [{"x": 1}, {"x": 1}]),
        ("2001-02-03x", "2001-02-03x"),
        (
            "['010', \"1:30\", 08, 1:3a, 0, 00, -0, 0.5, 0x10, 1_000]",
            ["010", "1:30", "08", "1:3a", 0, 0, 0, 0.5, 16, 1_000],
        ),
    ],
)
def test_what_is_meant_is_read(text, value):
    assert parse_yaml(text) == parse_yaml(text.encode()) == value


def test_the_message_about_a_file_begins_with_its_path(tmp_path):
    (tmp_path / "a.yaml").write_text("a: 1\na: 2\n")
    with pytest.raises(ConfigError) as refused:
        read_yaml(str(tmp_path / "a.yaml"))
    assert str(refused.value) == (
        f"{tmp_path}/a.yaml: line 2: the key a is given twice, first in line 1; remove one of them"
    )
    with pytest.raises(ConfigError, match=r"b\.yaml: cannot be read: No such file"):
        read_yaml(str(tmp_path / "b.yaml"))


def test_a_syntax_error_has_its_line_and_no_name_of_a_buffer():
    with pytest.raises(ConfigError) as refused:
        parse_yaml(b"a: 1\nb: c: d\n")
    assert str(refused.value) == (
        "not valid YAML: mapping values are not allowed here, in line 2, column 5"
    )


def test_a_pipe_is_read_as_often_as_a_file():
    # A command looks at its file before it starts, and reads it again later.
    for workers in (1, 2):
        reader, writer = os.pipe()
        os.write(writer, f"workers: {workers}\n".encode())
        os.close(writer)
        for _ in range(2):
            assert read_yaml(f"/dev/fd/{reader}") == {"workers": workers}
        os.close(reader)
