import importlib.util
import itertools
import math
import sys
from pathlib import Path

import polib
import pyarrow as pa
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.links.phrase_extraction import PhraseConfig
from pairweave.transforms.tags.tags import TagConfig, inject_tags
from pairweave.transforms.text.segmenter import NONE, choose_segmenter, installed_name, segment
from pairweave.transforms.text.tokens import TokenConfig, tokenize
from pairweave.transforms.text.whole_words import find_cuts, word_counts
from tests.makers import runs
from tests.makers.text_strategies import texts
from tests.transforms.tags.test_tags import table_of

needs_extra = pytest.mark.skipif(
    installed_name() is None, reason="needs the extra segment: pip install 'pairweave[segment]'"
)
INSTALLED = installed_name() or NONE
SENTENCES = {
    "ja": "東京|の|データベース|を|使う|。",
    "zh": "选择|一个|页面|。|我们|去|学校",
    "th": "แล้ว|เรา|จะ|ไป|โรงเรียน",
    "lo": "ສະບາຍດີ|ຊາວໂລກ",
    "km": "សួស្តី|ពិភពលោក",
    "my": "မင်္ဂလာ|ပါ|ကမ္ဘာ|လောက",
}


def words_between_cuts(text, language, name=INSTALLED):
    """Return the parts of a text between the places where a tag may stand."""
    column = pa.array([text])
    tokens = tokenize(column, TokenConfig(), language)
    (free,) = find_cuts(column, tokens, language, name).to_pylist()
    starts = [token["start"] for token in tokens[0].as_py()]
    places = [start for start, cut in zip(starts, free[:-1], strict=True) if cut]
    return [text[a:b] for a, b in itertools.pairwise([*places, len(text)])]


def words_of(lines, language):
    """Return the words of several characters in each text."""
    spans = segment(pa.array(lines), language, INSTALLED)
    bounds = list(zip(spans.starts.tolist(), spans.ends.tolist(), strict=True))
    rows = itertools.pairwise(spans.offsets.tolist())
    return [
        [line[a:b] for a, b in bounds[first:last]]
        for line, (first, last) in zip(lines, rows, strict=True)
    ]


@needs_extra
@pytest.mark.parametrize("language", SENTENCES)
def test_tags_stand_between_the_words_of_a_language_without_spaces(language):
    expected = SENTENCES[language].split("|")
    text = "".join(expected)
    assert words_between_cuts(text, language) == expected
    assert len(words_between_cuts(text, language, NONE)) > len(expected)
    counted = word_counts(pa.array([text]), language, INSTALLED)
    assert counted.tolist() == [len([word for word in expected if word != "。"])]


@needs_extra
def test_words_lie_in_their_own_text_whatever_the_others_are():
    lines = ["a b", "x 页面 y 𠮷野家 页面", "", "แล้วเรา", "Straße"]
    languages = pa.array(["de", "zh-Hans", "zh", "th", "und"])
    actual = segment(pa.array(lines), languages, INSTALLED)
    cut = words_of(lines, languages)
    assert cut[1][0] == cut[1][-1] == "页面"
    assert [cut[0], *cut[2:]] == [[], [], ["แล้ว", "เรา"], []]
    alone = segment(pa.array(lines[1:2]), "zh", INSTALLED)
    assert alone.starts.tolist() == actual.starts[actual.offsets[1] : actual.offsets[2]].tolist()


@needs_extra
def test_a_chinese_word_that_consists_of_words_is_cut_into_them():
    cut = words_of(["x", "选择对象升高", "选择 中央电视台", "偏移转到其来源"], "zh")
    assert cut[1] == ["选择", "对象", "升高"]
    assert cut[2] == ["选择", "中央电视台"]  # 台 alone is no word of two characters
    assert cut[3] == ["偏移转到", "来源"]  # 偏移 and 移转到 overlap


@needs_extra
@given(st.lists(texts(), max_size=4), st.sampled_from([None, "zh", "th"]))
def test_words_ascend_are_disjoint_and_of_several_characters(lines, language):
    actual = segment(pa.array(lines, pa.string()), language, INSTALLED)
    for row, line in enumerate(lines):
        last = 0
        for at in range(actual.offsets[row], actual.offsets[row + 1]):
            start, end = int(actual.starts[at]), int(actual.ends[at])
            assert last <= start < end - 1
            assert end <= len(line)
            last = end


def test_text_with_spaces_needs_no_segmenter_and_none_is_loaded(monkeypatch):
    monkeypatch.setitem(sys.modules, "icu4py.breakers", None)
    assert choose_segmenter("auto", None) == NONE
    if INSTALLED != NONE:
        assert len(segment(pa.array(["Straße", "été"]), "de", INSTALLED).starts) == 0


def test_a_machine_with_another_version_is_an_error():
    with pytest.raises(WorkerError, match="install the same versions on every machine"):
        segment(pa.array(["页面"]), "zh", "icu4py-0+icu-1")


@pytest.fixture(name="_no_extra")
def without_extra(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: None if name in ("icu4py", "rjieba") else find(name),
    )


@pytest.mark.usefixtures("_no_extra")
def test_the_extra_is_asked_for_by_name():
    with pytest.raises(ConfigError, match=r"pairweave\[segment\].*--segmenter none"):
        choose_segmenter("auto", "f.ja: the target language is ja")
    with pytest.raises(ConfigError, match=r"^--segmenter dictionary: .*pairweave\[segment\]"):
        choose_segmenter("dictionary", None)
    assert choose_segmenter("none", "f.ja: the target language is ja") == NONE


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "s.en").write_text("Choose a page .\n" * 3 + "We go to school now .\n")
    (tmp_path / "t.zh").write_text("选择一个页面。\n" * 3 + "我们现在去学校。\n")
    (tmp_path / "t.de").write_text("Wähle eine Seite .\n" * 3 + "Wir gehen zur Schule .\n")
    return tmp_path


def plan(corpus, target, *arguments):
    return runs.run_here(
        *("augment", "--source_input", "s.en", "--target_input", target, "--output", "out"),
        *("--plan_only", *arguments),
        cwd=corpus,
    )


@pytest.mark.usefixtures("_no_extra")
@pytest.mark.parametrize("languages", [("--target_lang", "zh-Hant"), ()])
def test_a_run_on_chinese_asks_for_the_extra_before_it_starts(corpus, languages):
    status, _, errors = plan(corpus, "t.zh", *languages)
    assert status == 2
    assert "s.en: the target " in errors
    assert "pip install 'pairweave[segment]'" in errors
    assert errors.count("\n") == 1
    status, shown, _ = plan(corpus, "t.zh", *languages, "--segmenter", "none")
    assert status == 0
    assert "segmenter:none" in shown.replace(" ", "")


@pytest.mark.usefixtures("_no_extra")
def test_a_run_on_german_asks_for_nothing(corpus):
    for languages in (("--target_lang", "de"), ()):
        assert plan(corpus, "t.de", *languages)[0] == 0


@needs_extra
def test_the_signature_names_segmenter_and_versions(corpus):
    shown = plan(corpus, "t.zh", "--target_lang", "zh")[1]
    assert f"segmenter:{INSTALLED}" in shown.replace(" ", "")


KATAKANA = regex.compile(r"\p{WB=Katakana}{2,}")


@pytest.mark.parametrize(
    ("language", "name"),
    [("ja", NONE), pytest.param("ja", INSTALLED, marks=needs_extra)]
    + [pytest.param(name, INSTALLED, marks=needs_extra) for name in ("th", "zh_Hans")],
)
def test_no_tag_of_real_messages_cuts_a_word(language, name):
    """Of 4,177 tags of the Japanese catalogues 793 cut a run of katakana before."""
    django = importlib.util.find_spec("django")
    if django is None:
        pytest.skip("needs the extra demo")
    path = Path(django.origin).parent / f"conf/locale/{language}/LC_MESSAGES/django.po"
    entries = [entry for entry in polib.pofile(str(path)) if entry.msgstr][:250]
    pairs = [(entry.msgid, entry.msgstr) for entry in entries]
    table = table_of(pairs, [[]] * len(pairs), languages=("en", language.split("_")[0]))
    lengths = [min(map(len, row)) for row in zip(*sides(table, "tokens"), strict=True)]
    links = [[(place, place) for place in range(length)] for length in lengths]
    phrases = PhraseConfig(segmenter=name)
    table = table_of(pairs, links, languages=("en", language.split("_")[0]), phrases=phrases)
    config = TagConfig(mix=math.inf, variants=5, segmenter=name, phrase_pairs="all")
    rows, _ = inject_tags(table, config)
    texts_by_id = dict(zip(table["id"].to_pylist(), table["target"].to_pylist(), strict=True))
    borders = [
        (texts_by_id[row["id"]], tag[end])
        for row in rows.to_pylist()
        for tag in row["tags"]
        for end in ("target_start", "target_end")
    ]
    assert len(borders) > 300
    for text, border in borders:
        assert not any(run.start() < border < run.end() for run in KATAKANA.finditer(text))
        if name != NONE:
            words = segment(pa.array([text]), language, name)
            assert not ((words.starts < border) & (border < words.ends)).any(), text


def sides(table, what):
    return [table[f"{side}_{what}"].to_pylist() for side in ("source", "target")]
