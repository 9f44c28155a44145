"""Tokens of other packages are ranges of a text, and are known by their code."""

import numpy as np
import pyarrow as pa
import pytest

from pairweave.models.hmm import hmm_reference
from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.pipelines.aligners.token_choice import read_tokens, screen_tokens, tokens_text
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.plugins.entry_points import Plugin
from pairweave.transforms.plugins.tokenizer import TOKENIZER
from pairweave.transforms.text import tokens
from pairweave.transforms.text.tokens import TokenConfig, add_tokens, token_counts, tokenize
from tests.makers import plugins
from tests.makers.cut_texts import pairs
from tests.makers.plugins import write_package

CODE = """
class Tokenizer:
    about = "characters"

    def cut(self, texts, languages):
        Tokenizer.seen = languages.to_pylist()
        return [
            [(n, n + 1) for n, one in enumerate(text) if not one.isspace()]
            for text in texts.to_pylist()
        ]

TOKENIZER = Tokenizer()
"""


@pytest.fixture(autouse=True)
def forgotten():
    yield
    plugins.forget()


def planned(tmp_path, monkeypatch, code=CODE):
    points = {"pairweave.tokenizers": {"letters": "a_module:TOKENIZER"}}
    plugins.use(monkeypatch, write_package(tmp_path / "site", code=code, points=points))
    return read_tokens("letters")


def test_no_tokens_of_pairweave_can_be_taken_by_a_plugin():
    assert {*tokens.KINDS} == TOKENIZER.built_in


def test_texts_are_cut_at_code_points_with_their_languages(tmp_path, monkeypatch):
    config = planned(tmp_path, monkeypatch)
    texts = pa.chunked_array([["ä 六"], ["", "\U0001f600"]])
    spans = [[(0, 1), (2, 3)], [], [(0, 1)]]
    actual = tokenize(texts, config)
    assert [[tuple(span.values()) for span in each] for each in actual.to_pylist()] == spans
    assert [count.tolist() for count in token_counts(texts, config, "de")] == [[2, 0, 1], [1, 0, 1]]
    table = add_tokens(pairs(("en-GB", "a b", "fr", "c")), config)
    assert [len(each) for each in table["source_tokens"].to_pylist()] == [2]
    assert tokenize(pa.array([], pa.string()), config).to_pylist() == []


def test_the_plan_has_the_name_and_the_code(tmp_path, monkeypatch):
    config = planned(tmp_path, monkeypatch)
    assert config.plugin is not None
    assert tokens_text(config) == f"letters:{config.plugin.sha256}"
    assert config.shown == "letters of a-package 1"
    assert screen_tokens(config) == config
    assert TokenConfig.of_plugin(config.plugin) == config


def test_a_fitted_model_is_saved_with_the_plugin_that_cut_its_text(tmp_path, monkeypatch):
    config = planned(tmp_path, monkeypatch)
    texts = [("en", "a b c", "de", "d e f"), ("en", "b c", "de", "e f")]
    model = fit(add_tokens(pairs(*texts), config), HmmConfig(), threads=1)
    reference = hmm_reference.save(str(tmp_path / "model"), hmm_reference.pack(model, config, {}))
    assert hmm_reference.load(reference).tokens == config


@pytest.mark.parametrize("text", ["", "1", "{", "[]", '{"name": "a"}', '{"more": "a"}'])
def test_what_is_no_line_of_a_plugin_is_refused(text):
    with pytest.raises(ConfigError, match="is not the line of a plugin"):
        Plugin.from_text(text)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise KeyError('two\\nlines')", "raised KeyError: 'two\\nlines'; expected"),
        ("return [[]]", "returned tokens of 1 texts for 2; expected"),
        ("return None", "raised TypeError: "),
        ("return [[(0, 1)], [(0, 1, 2)]]", "returned tokens that are not 2 numbers each"),
        ("return [[(0, 1, 2)], [(0, 1, 2)]]", "returned tokens that are not 2 numbers each"),
        ("return [[('0', '1')], []]", "returned tokens of the type <U1"),
        ("return [[(0, None)], []]", "returned the token (0, nan) of the text 'a b'"),
        ("return ((1 / 0 for _ in text) for text in texts)", "raised TypeError: "),
        ("return ((1 / 0 for _ in '1') for text in texts)", "raised ZeroDivisionError: "),
        ("raise SystemExit(0)", "raised SystemExit: 0; expected"),
        ("raise BaseException('panic')", "raised BaseException: panic; expected"),
        ("return [[(0, 0)], []]", "returned the token (0, 0) of the text 'a b'"),
        ("return [[(0, 4)], []]", "returned the token (0, 4) of the text 'a b'"),
        ("return [[(-1, 1)], []]", "returned the token (-1, 1) of the text 'a b'"),
        ("return [[(0, 0.5)], []]", "returned the token (0, 0.5) of the text 'a b'"),
        ("return [[(0, 2)], []]", "returned the token (0, 2) of the text 'a b'"),
        ("return [[(1, 3)], []]", "returned the token (1, 3) of the text 'a b'"),
        ("return [[(2, 3), (0, 1)], []]", "returned the token (0, 1) of the text 'a b'"),
        ("return [[], [(0, 2), (1, 3)]]", "returned the token (1, 3) of the text 'cde'"),
    ],
)
def test_what_is_no_token_of_its_text_is_refused(tmp_path, monkeypatch, body, said):
    code = CODE.replace("return [\n", f"{body}\n        return [\n")
    config = planned(tmp_path, monkeypatch, code)
    with pytest.raises(ConfigError) as error:
        tokenize(pa.array(["a b", "cde"]), config)
    message = str(error.value)
    start = "--tokens letters: cut of a-package 1 (a_module:TOKENIZER) "
    assert message.startswith(start + said)
    assert message.endswith("fix that package, or give other --tokens")


def test_tokens_may_be_generated(tmp_path, monkeypatch):
    body = (
        "return ([] if not len(text.as_py()) else ((n, n + 1) for n in (0, 2)) for text in texts)"
    )
    config = planned(
        tmp_path, monkeypatch, CODE.replace("return [\n", f"{body}\n        return [\n")
    )
    actual = tokenize(pa.array(["a b", ""]), config)
    assert [len(each) for each in actual.to_pylist()] == [2, 0]


def test_the_largest_texts_have_the_offsets_of_all_tokens(tmp_path, monkeypatch):
    config = planned(tmp_path, monkeypatch)
    actual = tokenize(pa.array(["abc" * 1000] * 3), config)
    assert actual.offsets.to_numpy().tolist() == np.arange(0, 12_000, 3_000).tolist()
