"""Korean and Katakana spelled out before spellings are compared."""

import dataclasses
import itertools
import json
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.models.hmm.hmm import HmmConfig, HmmModel, fit
from pairweave.models.hmm.hmm_vocabulary import build_vocabulary
from pairweave.models.hmm.syllables import NAMED_LETTERS, has_syllables, spell_out
from tests.makers.corpora import sentence
from tests.makers.hmm_corpora import (
    error_rate,
    gold_pairs,
    in_hangul,
    in_katakana,
    link_rows,
    plain_table,
)
from tests.makers.links import symmetrize_slowly
from tests.models.hmm.test_respelling import NAMES


def spelled(words):
    """Return words as they are spelled out, with Hangul in Latin letters by their names."""
    offsets = np.cumsum([0, *map(len, words)])
    letters = np.array([ord(letter) for word in words for letter in word], np.int32)
    made = spell_out(offsets, letters)
    text = "".join(chr(NAMED_LETTERS.get(point, point)) for point in made.letters.tolist())
    ends = made.offsets.tolist()
    return [text[start:end] for start, end in itertools.pairwise(ends)]


def test_signs_become_the_letters_that_they_sound_like():
    words = [
        "커뮤니티",
        "닭",
        "강",
        "アイコン",
        "レイヤー",
        "サッカー",
        "メニュー",
        "icon",
        "名前",
        "",
    ]
    assert spelled(words) == [
        *("komuniti", "tark", "kag", "aikon", "reiya", "saka", "meniyu", "icon", "名前", ""),
    ]


@given(
    st.lists(st.text(st.sampled_from("가힣각뷁アッンーヷ・aя名\U0001f600"), max_size=6), max_size=6)
)
def test_offsets_are_those_of_the_words_one_by_one(words):
    assert spelled(words) == [spelled([word])[0] for word in words]


@given(st.integers(0xAC00, 0xD7A3))
def test_a_syllable_has_the_letters_of_its_canonical_decomposition(point):
    parts = unicodedata.normalize("NFD", chr(point))
    (made,) = spelled([chr(point)])
    assert 1 <= len(made) <= 4
    final = unicodedata.name(parts[2]).split()[-1].split("-") if len(parts) == 3 else []
    silent = parts[0] == "\u110b"
    assert len(made) == (not silent) + 1 + len(final)


@pytest.mark.parametrize(
    ("words", "counts", "expected"),
    [
        (["the", "file"], [50, 50], False),
        (["the", "파일"], [5_000, 1], False),
        (["the", "파일"], [50, 5], True),
        (["の", "ファイル"], [50, 5], True),
        (["文件", "的"], [50, 50], False),
    ],
)
def test_a_few_signs_are_none(words, counts, expected):
    assert has_syllables(build_vocabulary(pa.array(words), np.array(counts))) is expected


def corpus(write):
    """Return pairs whose targets have the names of the sources, written in another script."""
    pairs = [sentence(number) for number in range(200)]
    return plain_table(
        [
            (f"{one} {NAMES[n % 25]}", write(f"{NAMES[n % 25]} {two}"))
            for n, (one, two) in enumerate(pairs)
        ]
    )


@pytest.fixture(scope="module", params=[in_hangul, in_katakana], ids=["Hangul", "Katakana"])
def script(request):
    return request.param


@pytest.fixture(scope="module")
def model(script):
    return fit(corpus(script), HmmConfig())


def test_an_unseen_name_is_linked_by_its_sound(script, model):
    new = plain_table([("bis Kalamito", script("bis Kalamito"))])
    without = HmmModel(dataclasses.replace(model.parts, syllables=False))
    assert (1, 1) in link_rows(model.align(new), "forward")[0]
    assert link_rows(without.align(new), "forward") != link_rows(model.align(new), "forward")


def test_files_keep_that_signs_are_spelled_out(script, model):
    files = model.to_files()
    again = HmmModel.from_files(files)
    assert again.parts.syllables
    assert again.digest == model.digest
    assert again.align(corpus(script)).equals(model.align(corpus(script)))
    header = json.loads(files["model.json"])
    del header["syllables"]
    for version, spelled_out in ((4, True), (3, False), (2, False)):
        header["version"] = version
        older = {**files, "model.json": json.dumps(header).encode()}
        assert HmmModel.from_files(older).parts.syllables == spelled_out


def test_the_letters_of_hangul_are_named_until_others_are_learnt():
    few = fit(corpus(in_hangul).slice(0, 2), HmmConfig())
    letters = few.parts.respelling
    assert (
        dict(zip(letters.letters.tolist(), letters.others.tolist(), strict=True)) == NAMED_LETTERS
    )
    assert fit(corpus(in_katakana).slice(0, 2), HmmConfig()).parts.respelling is None


def test_text_without_such_signs_is_fitted_as_ever():
    model = fit(plain_table([sentence(number) for number in range(50)]), HmmConfig())
    assert not model.parts.syllables


@pytest.mark.parametrize(("write", "error"), [(in_hangul, 18.5), (in_katakana, 18.2)])
def test_links_are_better_than_by_places_alone(shared_data, write, error):
    pairs, gold = gold_pairs(shared_data, "xlwa-es")
    table = plain_table([(one, write(two)) for one, two in pairs])
    made = fit(table, HmmConfig()).align(table.slice(0, len(gold)))
    links = (link_rows(made, "forward"), link_rows(made, "reverse"))
    rows = [set(symmetrize_slowly(*both, "grow-diag")) for both in zip(*links, strict=True)]
    assert error_rate(rows, gold) < error
