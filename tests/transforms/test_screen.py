import gzip
import re

import pyarrow as pa
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.indexed_tag import RESERVED_PATTERN
from pairweave.transforms.screen import RULES, ScreenConfig, load_exclude, screen
from pairweave.transforms.symbols.mask import MASK
from pairweave.transforms.text.tokens import TokenConfig, train_sentencepiece
from tests.makers import text_strategies
from tests.makers.rows import batch, row
from tests.oracles import slow_tokens

TAGS_AND_MASKS = f"{RESERVED_PATTERN}|{MASK}"

texts = st.text(st.sampled_from("ab c<_0>\u00a0\u200b.長"), max_size=12)


def reasons(*pairs, **limits):
    screened = screen(
        batch(*[row(*pair, line=i) for i, pair in enumerate(pairs)]),
        ScreenConfig(reserved=TAGS_AND_MASKS, **limits),
    )
    return [(r["reason"], r["detail"]) for r in screened.to_pylist()]


@pytest.mark.parametrize(
    ("pair", "limits", "reason", "detail"),
    [
        (("a b", "c d"), {}, None, None),
        (("", "c"), {}, "empty_source", None),
        ((" \u00a0\u200b", "c"), {}, "empty_source", None),
        (("\u200e\u00ad\u3164", "c"), {}, "empty_source", None),
        (("\ue000", "\U0001fae9"), {}, None, None),
        (("a", "\t\ufeff"), {}, "empty_target", None),
        (("a <a_3> b", "c d e"), {}, "reserved_token", None),
        (("a b", "c </a_12>"), {}, "reserved_token", None),
        (("a b", "c <MASK_REP>"), {}, "reserved_token", None),
        (("a <b> c", "a <b> c"), {}, None, None),
        (("a b c", "d e f"), {"max_tokens": 2}, "too_long", "3 tokens > 2"),
        (("a b c", "d e f"), {"max_tokens": 3}, None, None),
        (("abcd", "abc"), {"max_token_chars": 3}, "long_token", "4 characters > 3"),
        (("a b c d", "e"), {}, "length_ratio", "4 : 1 words, ratio 4.00 > 3"),
        (("a b c d e f", "g h"), {}, None, None),
        (("a b c d", "e"), {"max_ratio": float("inf")}, None, None),
        (("same", "same"), {}, None, None),
        (("same", "same"), {"drop_identical": True}, "identical", None),
    ],
)
def test_each_rule_has_its_reason_and_its_limit(pair, limits, reason, detail):
    assert reasons(pair, **limits) == [(reason, detail)]


def test_words_are_counted_as_the_run_cuts_them():
    pair = ("a-b c-d", "e f g h i j k")
    assert reasons(pair, tokens=TokenConfig("whitespace"))[0][0] == "length_ratio"
    assert reasons(pair)[0][0] is None


def test_pieces_are_counted_as_their_model_counts_them():
    model = train_sentencepiece([f"word{n} another{n}" for n in range(60)] * 4, 70)
    tokens = TokenConfig("sentencepiece", model)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    pair = ("word another zoo", "an zoo")
    counts = [len(processor.encode(text)) for text in pair]
    assert counts[0] > 3
    said = f"{counts[0]} : {counts[1]} tokens, ratio {max(counts) / min(counts):.2f} > 1.1"
    assert reasons(pair, tokens=tokens, max_ratio=1.1) == [("length_ratio", said)]
    most = max(counts)
    (actual,) = reasons(pair, tokens=tokens, max_ratio=100, max_tokens=most - 1)
    assert actual == ("too_long", f"{most} tokens > {most - 1}")
    assert reasons(pair, tokens=tokens, max_ratio=100, max_tokens=most) == [(None, None)]
    # No piece is long, but a word may be.
    (actual,) = reasons(("x" * 50, "x" * 50), tokens=tokens, max_token_chars=40)
    assert actual == ("long_token", "50 characters > 40")


def test_rows_rejected_before_pass_as_they_are():
    before = batch(row(None, "x", reason="invalid_utf8"), row("", "y", line=2))
    after = screen(before, ScreenConfig()).to_pylist()
    assert after[0] == before.to_pylist()[0]
    assert (after[1]["stage"], after[1]["reason"]) == ("screen", "empty_source")


def test_dev_sentences_are_excluded_whatever_their_case_and_spacing(tmp_path):
    (tmp_path / "dev.en").write_bytes(b"\xef\xbb\xbfThe House\nA dog\n")
    (tmp_path / "dev.de.gz").write_bytes(gzip.compress("Große  Häuser\r\n\n".encode()))
    keys = load_exclude([str(tmp_path / "dev.en"), str(tmp_path / "dev.de*")])
    assert len(keys) == 3
    pairs = [
        ("the \u00a0house", "x y"),
        ("b c", "GROSSE HA\u0308USER"),
        ("a dog barks", "x y z"),
        ("x", "y"),
    ]
    actual = [reason for reason, _ in reasons(*pairs, excluded=keys)]
    assert actual == ["excluded", "excluded", None, None]


def test_exclude_files_that_cannot_be_used_are_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere.*no_match"):
        load_exclude([str(tmp_path / "nowhere")])
    (tmp_path / "bad").write_bytes(b"good\nbad \xff\n")
    with pytest.raises(InputError, match=r":2: expected UTF-8, found 0xFF as byte 5"):
        load_exclude([str(tmp_path / "bad")])


def test_limits_below_one_are_refused():
    with pytest.raises(ConfigError, match=r"max_ratio must be 1 or more, got 0\.5"):
        ScreenConfig(max_ratio=0.5)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=8), st.integers(1, 7))
def test_a_pair_is_judged_alone(pairs, size):
    rows = [row(*pair, line=i) for i, pair in enumerate(pairs)]
    config = ScreenConfig(max_tokens=3, drop_identical=True)
    together = screen(batch(*rows), config).to_pylist()
    apart = [
        judged
        for start in range(0, len(rows), size)
        for judged in screen(batch(*rows[start : start + size]), config).to_pylist()
    ]
    assert together == apart
    kept = [r for r in together if r["reason"] is None]
    assert all(r["source"].strip() and r["target"].strip() for r in kept)
    assert {r["reason"] for r in together if r["reason"]} <= {str(rule.reason) for rule in RULES}


def expected_reason(source, target, config):
    """Judge a pair by the rules in plain Python; the slow twin cuts the words."""
    spans = [slow_tokens.tokens(source, "en"), slow_tokens.tokens(target, "de")]
    counts = sorted(len(side) for side in spans)
    for text, reason in ((source, "empty_source"), (target, "empty_target")):
        if slow_tokens.INKLESS.fullmatch(text):
            return reason
    if re.search(r"</?a_[0-9]+>|<MASK_REP>", source + "\n" + target):
        return "reserved_token"
    if counts[1] > config.max_tokens:
        return "too_long"
    if any(end - start > config.max_token_chars for side in spans for start, end in side):
        return "long_token"
    sides = zip((source, target), spans, strict=True)
    words = sorted(slow_tokens.words(text, len(tokens)) for text, tokens in sides)
    if words[1] / max(1, words[0]) > config.max_ratio:
        return "length_ratio"
    return "identical" if source == target and config.drop_identical else None


@given(
    st.lists(st.tuples(text_strategies.texts(6), text_strategies.texts(6)), max_size=3),
    st.integers(1, 12),
    st.sampled_from([1, 1.5, 3]),
    st.integers(1, 9),
    st.booleans(),
)
def test_the_rules_equal_their_plain_reading(pairs, tokens, ratio, chars, drop):
    config = ScreenConfig(
        reserved=TAGS_AND_MASKS,
        max_tokens=tokens,
        max_ratio=ratio,
        max_token_chars=chars,
        drop_identical=drop,
    )
    pairs += [(source, source) for source, _ in pairs[:1]]
    screened = screen(batch(*[row(*pair, line=i) for i, pair in enumerate(pairs)]), config)
    expected = [expected_reason(*pair, config) for pair in pairs]
    assert screened.column("reason").to_pylist() == expected


def test_an_empty_batch_stays_empty():
    assert screen(batch(), ScreenConfig()).num_rows == 0
    assert isinstance(screen(batch(), ScreenConfig()), pa.RecordBatch)


@pytest.mark.parametrize(
    ("translation", "limits", "reason", "detail"),
    [
        ("x y", {}, None, None),
        (None, {}, None, None),
        (" \u200b", {}, "empty_translation", None),
        ("x <MASK_REP>", {}, "reserved_token", None),
        ("x <a_0>", {}, None, None),
        ("x y z", {"max_tokens": 2}, "too_long", "3 tokens > 2"),
        ("x" * 11, {"max_token_chars": 10}, "long_token", "11 characters > 10"),
        ("x", {"max_ratio": 1.5}, "length_ratio", "2 : 2 : 1 words, ratio 2.00 > 1.5"),
        ("x y z u", {"max_ratio": 1.5}, "length_ratio", "2 : 2 : 4 words, ratio 2.00 > 1.5"),
    ],
)
def test_a_translation_is_screened_where_a_job_uses_it(translation, limits, reason, detail):
    rows = batch(row("a b", "c d", translation=translation))
    config = ScreenConfig(translations=True, reserved=MASK, **limits)
    actual = screen(rows, config).to_pylist()[0]
    assert (actual["reason"], actual["detail"]) == (reason, detail)
    others = ScreenConfig(**limits)
    assert screen(rows, others).to_pylist()[0]["reason"] is None


def test_an_excluded_sentence_is_found_as_a_translation(tmp_path):
    (tmp_path / "dev").write_text("x y\n")
    config = ScreenConfig(translations=True, excluded=load_exclude([str(tmp_path / "dev")]))
    actual = screen(batch(row("a b", "c d", translation="X  y")), config)
    assert actual["reason"].to_pylist() == ["excluded"]
