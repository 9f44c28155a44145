"""Links drawn between the words of a pair."""

import pytest

from pairweave.transforms.report.link_drawing import FAINTEST, MAX_WORDS, draw_links


def row(source, target, links, language="de"):
    tokens = []
    for text in (source, target):
        at, spans = 0, []
        for word in text.split():
            start = text.index(word, at)
            at = start + len(word)
            spans.append({"start": start, "end": at})
        tokens.append(spans)
    return {
        "source": source,
        "target": target,
        "source_tokens": tokens[0],
        "target_tokens": tokens[1],
        "source_lang": "en",
        "target_lang": language,
        "links": [{"source": s, "target": t, "probability": p} for s, t, p in links],
    }


def test_a_line_leads_from_the_middle_of_a_word_to_the_middle_of_another():
    drawing = draw_links(row("the red house", "das rote Haus", [(0, 0, 1.0), (2, 1, 0.0)]))
    words = {word["text"]: word for word in drawing["words"]}
    middle = {text: word["start"] + word["width"] // 2 for text, word in words.items()}
    first, second = drawing["lines"]
    assert (first["start"], first["end"]) == (middle["the"], middle["das"])
    assert abs(second["start"] - middle["house"]) <= 1
    assert (first["opacity"], second["opacity"]) == ("1.00", f"{FAINTEST:.2f}")
    assert drawing["width"] == max(word["end"] for word in drawing["words"])
    ordered = [words[text]["start"] for text in ("the", "red", "house")]
    assert ordered == sorted(ordered)


@pytest.mark.parametrize("language", ["ar", "ara", "AR-EG"])
def test_words_from_right_to_left_begin_at_the_right(language):
    drawing = draw_links(row("a b", "ابج د", [], language=language))
    starts = {word["text"]: word["start"] for word in drawing["words"]}
    assert starts["ابج"] > starts["د"] >= 0


def test_a_token_that_shows_nothing_is_not_written_but_can_be_linked():
    pair = row("a b", "c d", [(0, 1, 1.0)])
    pair["source_tokens"][0] = {"start": 0, "end": 0}
    drawing = draw_links(pair)
    assert [word["text"] for word in drawing["words"]] == ["b", "c", "d"]
    assert len(drawing["lines"]) == 1


def test_a_pair_with_very_many_words_is_not_drawn():
    assert draw_links(row("a " * (MAX_WORDS + 1), "b", [])) is None
