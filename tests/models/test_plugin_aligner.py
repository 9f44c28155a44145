"""Aligners of other packages: their links are checked, and known by their code."""

import pyarrow as pa
import pytest

from pairweave.models.plugin_aligner import PluginAligner
from pairweave.pipelines.aligners.aligner_options import AlignerOptions
from pairweave.pipelines.aligners.aligner_registry import ALIGNERS
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.plugins.entry_points import plan_plugin
from pairweave.transforms.plugins.word_aligner import ALIGNER
from pairweave.transforms.text.tokens import TokenConfig, add_tokens
from tests.makers import plugins
from tests.makers.plugins import write_package
from tests.makers.rows import pair

POINTS = {"pairweave.aligners": {"first": "a_module:ALIGNER"}}


@pytest.fixture(autouse=True)
def forgotten():
    yield
    plugins.forget()


def planned(tmp_path, monkeypatch, code=plugins.ALIGNER):
    plugins.use(monkeypatch, write_package(tmp_path / "site", code=code, points=POINTS))
    return PluginAligner(plan_plugin(ALIGNER, "first", "--aligner")[0])


def tokens(*pairs):
    rows = [pair(number, *texts) for number, texts in enumerate(pairs)]
    table = pa.Table.from_pylist(rows, schema=schemas.PAIRS)
    return add_tokens(table, TokenConfig("words"))


def test_no_aligner_of_this_package_can_be_taken_by_a_plugin():
    assert {each.name for each in ALIGNERS} == ALIGNER.built_in


def test_links_are_sorted_and_of_the_right_type(tmp_path, monkeypatch):
    links = "[[(1, 2, 0.5), (1, 0, 1), (0, 1, 0.25)], []], [[], [(0, 0, 0)]]"
    code = plugins.ALIGNER.replace("return links, links", f"return {links}")
    actual = planned(tmp_path, monkeypatch, code).load().align(tokens(("a b", "c d e"), ("a", "b")))
    assert actual.schema == schemas.LINKED
    assert [[tuple(link.values()) for link in each] for each in actual["forward"].to_pylist()] == [
        [(0, 1, 0.25), (1, 0, 1.0), (1, 2, 0.5)],
        [],
    ]
    assert actual["reverse"].to_pylist()[1] == [{"source": 0, "target": 0, "probability": 0.0}]


def test_it_gets_tokens_and_languages_and_perhaps_no_pair(tmp_path, monkeypatch):
    code = plugins.ALIGNER.replace(
        "links = [", "Aligner.seen = pairs.to_pylist()\n        links = ["
    )
    reference = planned(tmp_path, monkeypatch, code)
    aligner = reference.load()
    aligner.align(tokens(("Ä b.", "c")))
    (row,) = aligner._aligner.seen
    assert row["source_tokens"] == ["Ä", "b", "."]
    assert (row["target_tokens"], row["source_lang"], row["target_lang"]) == (["c"], "en", "de")
    assert aligner.align(tokens()).num_rows == 0


def test_the_digest_is_that_of_the_code(tmp_path, monkeypatch):
    first = planned(tmp_path, monkeypatch)
    assert first.digest == first.load().digest
    plugins.forget()
    second = planned(tmp_path, monkeypatch, plugins.ALIGNER + "# another\n")
    assert first.digest != second.digest


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise KeyError('two\\nlines')", "raised KeyError: 'two\\nlines'; expected links"),
        ("return links", "raised ValueError: not enough values to unpack"),
        ("return links[:-1], links", "returned links of 1 pairs for 2; expected links"),
        ("return None", "raised TypeError: "),
        ("raise SystemExit(0)", "raised SystemExit: 0; expected links"),
        ("raise BaseException('panic')", "raised BaseException: panic; expected links"),
        ("return [[(0, 0)], []], links", "returned links that are not 3 numbers each; expected"),
        ("return [[(0, 0)] * 3, []], links", "returned links that are not 3 numbers each"),
        ("return [[(0, 0), (0, 0, 1)], []], links", "returned links that are not 3 numbers each"),
        ("return [[('0', '0', '1')], []], links", "returned links of the type <U1"),
        ("return [[(0, 0, '1')], []], links", "returned links of the type <U"),
        ("return [[(0, 0, 1j)], []], links", "returned links of the type complex128"),
        ("return [[(0, 0, None)], []], links", "returned the link 0-0 nan of pair "),
        ("return [[(0, 0, object())], []], links", "returned object among links"),
        ("return [[(10**400, 0, 1)], []], links", "returned links with numbers that are too large"),
        ("return [[], [(0, 5, 1)]], links", "returned the link 0-5 1 of pair "),
        ("return [[], [(-1, 0, 1)]], links", "returned the link -1-0 1 of pair "),
        ("return [[], [(0.5, 0, 1)]], links", "returned the link 0.5-0 1 of pair "),
        ("return links, [[(0, 0, 1.5)], []]", "returned the link 0-0 1.5 of pair "),
        ("return links, [[(0, 0, float('nan'))], []]", "returned the link 0-0 nan of pair "),
        ("return [[(0, 0, 1), (0, 0, 0.5)], []], links", "of pair "),
    ],
)
def test_what_is_no_link_of_these_tokens_is_refused(tmp_path, monkeypatch, body, said):
    code = plugins.ALIGNER.replace("return links, links", body)
    if body == "return links":
        code = code.replace("return links", "return links[:1]")
    aligner = planned(tmp_path, monkeypatch, code).load()
    with pytest.raises(ConfigError) as error:
        aligner.align(tokens(("a b", "c d e"), ("a", "b")))
    message = str(error.value)
    assert message.startswith("--aligner first: align of a-package 1 (a_module:ALIGNER) ")
    assert said in message
    assert message.endswith("fix that package, or give another aligner")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("ALIGNER = Aligner", "Aligner is a class"),
        ("Aligner.about = 3", "about is 3, not a line of text"),
        ("Aligner.align = None", "it has no method align"),
    ],
)
def test_another_interface_is_refused(tmp_path, monkeypatch, more, said):
    with pytest.raises(ConfigError, match="first = a_module:ALIGNER") as error:
        planned(tmp_path, monkeypatch, plugins.ALIGNER + more)
    assert f"{said}; expected an instance with about" in str(error.value)


def test_a_name_that_no_package_has_is_refused_with_those_that_are_there(tmp_path, monkeypatch):
    plugins.use(monkeypatch, write_package(tmp_path / "site", code=plugins.ALIGNER, points=POINTS))
    with pytest.raises(ConfigError, match=r"one of an installed package \(installed: first\)"):
        AlignerOptions(aligner="frist")
