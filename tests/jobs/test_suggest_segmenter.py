"""Masks in languages without spaces cover whole words."""

import itertools
import json

import pyarrow.parquet as pq
import pytest

from pairweave.transforms.text import segmenter
from tests.makers import runs

needs_extra = pytest.mark.skipif(
    segmenter.installed_name() is None,
    reason="needs the extra segment: pip install 'pairweave[segment]'",
)
# Subjects, verbs, numbers, and objects with what a machine translation has in their place.
WORDS = {
    "zh": (["我们", "学生"], ["选择", "删除"], ["一个"], {"页面": "方面", "学校": "学院"}),
    "ja": (["東京", "学生"], ["の", "と"], ["会社"], {"学校": "学院", "電車": "電話"}),
    "th": (["เรา", "เขา"], ["จะ"], ["ไป"], {"โรงเรียน": "โรงแรม"}),
}
FILES = ("--source_input", "s", "--target_input", "t", "--translation_input", "m")


def write(directory, language):
    """Write triples; return the places between words of each reference."""
    *parts, objects = WORDS[language]
    lines = list(itertools.product(*parts, objects))
    ends = {"zh": "。", "ja": "。", "th": ""}
    texts = {
        "s": [f"w{number} has one of the things now ." for number in range(len(lines))],
        "t": ["".join(line) + ends[language] for line in lines],
        "m": ["".join((*line[:-1], objects[line[-1]])) + ends[language] for line in lines],
    }
    for name, result in texts.items():
        (directory / name).write_text("".join(f"{text}\n" for text in result))
    return {
        text: {0, len(text), *itertools.accumulate(map(len, line))}
        for text, line in zip(texts["t"], lines, strict=True)
    }


def suggest(directory, *arguments, languages=("en", "zh"), output="out"):
    common = ("--source_lang", languages[0], "--target_lang", languages[1], "--max_ratio", "inf")
    return runs.run_here(
        *("suggest", *FILES, *common, "--workers", "1", "--output", output, *arguments),
        cwd=directory,
    )


def rows_of(directory, output="out"):
    return pq.read_table(directory / output / "data").to_pylist()


@needs_extra
@pytest.mark.parametrize("language", WORDS)
def test_what_a_translation_has_otherwise_is_masked_by_whole_words(tmp_path, language):
    places = write(tmp_path, language)
    more = ("--methods", "alignment", "--max_placeholder_share", "1", "--max_masked_share", "1")
    status, _, errors = suggest(tmp_path, *more, languages=("en", language))
    assert status == 0, errors
    rows = rows_of(tmp_path)
    assert len(rows) == len(places)
    assert {row["suggestion"] for row in rows} == set(WORDS[language][-1])


@needs_extra
@pytest.mark.parametrize("language", WORDS)
def test_random_masks_part_no_word(tmp_path, language):
    places = write(tmp_path, language)
    more = ("--methods", "random", "--variants", "20", "--start_probability", "0.9")
    more = (*more, "--max_masked_share", "1")
    status, _, errors = suggest(tmp_path, *more, languages=("en", language))
    assert status == 0, errors
    rows = rows_of(tmp_path)
    assert len(rows) >= len(places)
    for row in rows:
        text = row["masked"].replace("<MASK_REP>", row["suggestion"])
        assert {row["start"], row["end"]} <= places[text], row
    more = (*more, "--segmenter", "none")
    assert suggest(tmp_path, *more, languages=("en", language), output="any")[0] == 0
    assert any(
        not {row["start"], row["end"]}
        <= places[row["masked"].replace("<MASK_REP>", row["suggestion"])]
        for row in rows_of(tmp_path, "any")
    )


@needs_extra
def test_the_plan_names_the_segmenter_and_what_makes_no_span_needs_none(tmp_path):
    write(tmp_path, "zh")
    for methods, expected in (("random", segmenter.installed_name()), ("parallel", "none")):
        status, shown, errors = suggest(tmp_path, "--methods", methods, "--plan_only")
        assert status == 0, errors
        assert f"segmenter:{expected}" in shown.replace(" ", "")
    status, _, errors = suggest(tmp_path, "--methods", "parallel", "--segmenter", "dictionary")
    assert status == 2
    assert "--segmenter: for the methods random and alignment" in errors


def test_a_run_into_chinese_asks_for_the_extra_and_one_out_of_it_does_not(tmp_path, monkeypatch):
    monkeypatch.setattr(segmenter, "installed_name", lambda: None)
    write(tmp_path, "zh")
    status, _, errors = suggest(tmp_path, "--plan_only")
    assert status == 2
    assert "the target language is zh" in errors
    assert "pip install 'pairweave[segment]'" in errors
    assert suggest(tmp_path, "--plan_only", "--segmenter", "none")[0] == 0
    assert suggest(tmp_path, "--plan_only", languages=("zh", "en"))[0] == 0


def test_a_run_on_text_with_spaces_has_no_segmenter(tmp_path):
    for name, text in (("s", "a red ball"), ("t", "ein roter Ball"), ("m", "ein blauer Ball")):
        (tmp_path / name).write_text(f"{text}\n")
    status, _, errors = suggest(tmp_path, languages=("en", "de"))
    assert status == 0, errors
    settings = json.loads((tmp_path / "out" / "_plan.json").read_text())["configuration"]
    assert settings["segmenter"] == "none"
