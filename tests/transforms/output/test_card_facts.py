"""The languages and the licence in the header of a card."""

import pytest

from pairweave.transforms.output.card_facts import languages_and_licence


def corpus(licence, target="de"):
    return {"source_lang": "en", "target_lang": target, "licence": licence}


@pytest.mark.parametrize(
    ("licences", "expected"),
    [(["mit"], "mit"), (["mit", "mit"], "mit"), (["mit", "gpl"], "other"), ([None], "unknown")],
)
def test_corpora_with_several_licences_have_another_one_together(licences, expected):
    corpora = {str(number): corpus(licence) for number, licence in enumerate(licences)}
    assert languages_and_licence({"corpora": corpora})["license"] == expected


def test_each_language_is_there_once():
    facts = languages_and_licence({"corpora": {"a": corpus("mit"), "b": corpus("mit", "cs")}})
    assert facts["language"] == ["cs", "de", "en"]
