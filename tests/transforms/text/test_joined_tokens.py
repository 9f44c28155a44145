"""Tokens that are joined to words before a tag is placed beside them."""

import itertools

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.text.joined_tokens import join_tokens, words_to_join
from pairweave.transforms.text.segmenter import installed_name
from tests.makers.cut_texts import WORDS, cut, small_pieces


def found(text, config=WORDS, language="ja", segmenter="none"):
    [words] = words_to_join(pa.array([text]), config, language, segmenter)
    return [text[start:end] for start, end in words]


def test_runs_of_katakana_are_words_with_their_marks():
    assert found("アプリケーションとファイル・メニュー") == [
        "アプリケーション",
        "ファイル",
        "メニュー",
    ]
    assert found("ｱﾌﾟﾘを押す") == ["ｱﾌﾟﾘ"]
    assert found("plain text, 漢字") == []


def test_words_of_dictionaries_are_found_with_a_segmenter():
    name = installed_name()
    if name is None:
        pytest.skip("no segmenter is installed")
    assert found("設定を選びます。USBメモリー", segmenter=name) == [
        "設定",
        "選び",
        "ます",
        "メモリー",
    ]
    assert found("点击确定", language="zh", segmenter=name) == ["点击", "确定"]


def test_pieces_of_a_model_are_joined_to_all_words():
    pieces = small_pieces()
    assert found("The houses, 42%", pieces, "en") == ["The", "houses", ",", "42", "%"]
    assert "".join(cut(["houses"], pieces)[0]) == "houses"
    assert found("The houses", WORDS, "en") == []


@given(st.data())
def test_joined_tokens_have_the_borders_that_are_in_no_word(data):
    places = sorted(data.draw(st.sets(st.integers(0, 20), max_size=12)))
    tokens = list(itertools.pairwise(places))
    kept = [token for token in tokens if data.draw(st.booleans())]
    ends = sorted(data.draw(st.sets(st.integers(0, 20), max_size=6)))
    words = list(zip(ends[::2], ends[1::2], strict=False))
    joined = join_tokens(kept, words)
    inside = {at for start, end in words for at in range(start + 1, end)}
    touching = {end for _, end in kept} & {start for start, _ in kept}
    gone = touching & inside
    assert {at for span in joined for at in span} == {at for s in kept for at in s} - gone
    assert len(joined) == len(kept) - len(gone)


@pytest.mark.parametrize(
    "parts",
    [
        "設定|ダイアログ|で|保存|ボタン|を|クリック|します。",
        "ファイルメニュー|から|印刷|を|選択|します。",
        "端末|の|ウィンドウ|を|開いてください。",
        "連絡先|は|検索|できません。",
        "パスワード|と|名前|を|入力|して、|次|へ|を|クリック|してください。",
        "Ctrl|キー|を|押しながら|Tab|キー|を|押します。",
        "画面|が|ロック|される|まで|の|時間|を|変更|できます。",
        "キーボードショートカット|も|利用|できます。",
        "利用者|だけ|が|見られます。",
        "言語|と|地域|を|開くと|一覧|が|表示|されます。",
    ],
)
def test_in_japanese_particles_are_apart_from_nouns_and_no_dictionary_word_is_split(parts):
    name = installed_name()
    if name is None:
        pytest.skip("no segmenter is installed")
    text, places, at = parts.replace("|", ""), set(), 0
    for part in parts.split("|"):
        places.add(at)
        at += len(part)
    [words] = words_to_join(pa.array([text]), WORDS, "ja", name)
    inside = {at for start, end in words for at in range(start + 1, end)}
    assert not places & inside
    nouns = "設定 保存 印刷 連絡先 名前 時間 ダイアログ ボタン パスワード"
    for noun in nouns.split():
        if noun in text:
            first = text.index(noun)
            assert set(range(first + 1, first + len(noun))) <= inside


def test_a_japanese_name_of_two_katakana_words_is_one_word():
    name = installed_name()
    if name is None:
        pytest.skip("no segmenter is installed")
    assert found("ファイルメニューを開く", segmenter=name)[0] == "ファイルメニュー"
