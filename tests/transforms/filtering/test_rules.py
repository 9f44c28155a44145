"""The rules at their borders, by hand, and what they say of pairs of several scripts."""

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.filtering import languages, rules, scripts
from pairweave.transforms.filtering.rules import RuleConfig
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.rejects import Reject
from pairweave.transforms.text import codepoints
from tests.makers.rows import pair


def table(*pairs, source_lang="en", target_lang="de"):
    languages = {"source_lang": source_lang, "target_lang": target_lang}
    rows = [pair(number, *texts, **languages) for number, texts in enumerate(pairs)]
    return pa.Table.from_pylist(rows, schema=schemas.PAIRS)


def reason(source, target, *, source_lang="en", target_lang="de", **limits):
    """Return the first rule that rejects a pair, and what is said of it."""
    pairs = table((source, target), source_lang=source_lang, target_lang=target_lang)
    judged = rules.judge(pairs, RuleConfig(**limits))
    first = judged.first()[0]
    if first < 0:
        return None, None
    result = list(judged.hits)[first]
    return result, judged.details[result](0)


GOOD = ("The house has 3 doors.", "Das Haus hat 3 Türen.")


def test_a_good_pair_passes_every_rule():
    assert reason(*GOOD) == (None, None)


@pytest.mark.parametrize(
    ("source", "target", "wanted"),
    [
        ("In 1999 and 2000 it was", "Es war 1999 und 2001", None),  # two of four
        ("In 1999 it was", "Es war 1998", Reject.NUMBER_MISMATCH),
        ("It costs 1,000 euros", "Es kostet 1.000 Euro", None),
        ("It costs 1 000 euros", "Es kostet 1.000 Euro", None),
        ("It begins at 10:30", "Es beginnt um 10.30", None),
        ("The talks began on 2020-01-02", "Die Gespräche begannen am 02.01.2020", None),
        ("It costs 3.50 euros", "Es kostet 3,5 Euro", None),
        ("It weighs 0.500 kilograms", "Es wiegt 0,5 Kilogramm", None),
        ("Version 1.0 is here", "Version 1 ist da", None),
        ("It begins at 10:30", "Es beginnt um 10.45", None),  # two of four
        ("It costs 3.50 euros", "Es kostet 4,6 Euro", Reject.NUMBER_MISMATCH),
        ("Call us at 555 1234 9", "Rufen Sie uns an", Reject.NUMBER_MISMATCH),
        ("abcd ----", "Das sind vier Zeichen", None),  # half is not over half
        ("abcd -----", "Das sind vier Zeichen", Reject.SOURCE_FOREIGN),
        ("four letters it is", "abcd -----", Reject.TARGET_FOREIGN),
        ("Привет, как дела там", "Wie geht es euch denn", Reject.SCRIPT),
        ("how are you doing", "Привет, как дела", Reject.SCRIPT),
        ("the cat sat on the mat", "the cat sat on the mat", Reject.COPIED),
        ("the cat sat on", "the cat saß auf der", None),
        ("Barack Obama met Angela Merkel", "Barack Obama traf Angela Merkel", None),
        ("Barack Obama", "Barack Obama", None),
        ("buy it now", "kauf es kauf es kauf es kauf es", Reject.REPETITION),
        ("no no no no", "nein nein nein nein", None),  # as on the other side
        ("See www.a.de for more of it", "Mehr davon finden Sie hier", Reject.ADDRESS_MISMATCH),
        ("See www.a.de/en for more", "Mehr unter www.a.de/de", None),
        ("Hello {name}, how are you", "Hallo, wie geht es Ihnen", Reject.PLACEHOLDER_MISMATCH),
        ("Hello {name}, how are you", "Hallo {name}, wie geht es", None),
        ("Hello %-10s", "Hallo %s", None),
        ("Hello %10d there, you", "Hallo dort, %-5s", Reject.PLACEHOLDER_MISMATCH),
        ("Hello {0:>10} there", "Hallo {0} dort", None),
        ("Hello {0} there", "Hallo {1} dort", Reject.PLACEHOLDER_MISMATCH),
        ("Hello {{ user }}, how are you", "Hallo, wie geht es Ihnen", Reject.PLACEHOLDER_MISMATCH),
        ("Hello {{ user }}, how are you", "Hallo {{user}}, wie geht es", None),
        ("{% trans %} the word here", "das Wort hier", Reject.PLACEHOLDER_MISMATCH),
        ("from %s to %d and on", "von %2$d nach %1$s und weiter", None),
        ("about 50 % of it", "ungefähr 50 %ige Lösung", None),
        ("a fee of US$50 million", "eine Gebühr von 50 Millionen $US", None),
        ("a <b>bold</b> word here", "ein fettes Wort hier drin", Reject.TAG_MISMATCH),
        ("a <b>bold</b> word", "ein <b>fettes</b> Wort", None),
        ("coffee is good here", "CafÃ© ist gut hier", Reject.MOJIBAKE),
        ("bed &amp; breakfast", "Bett und Frühstück", Reject.ENTITIES),
        ("yes", "ja das ist aber lang", None),
        ("yes", "ja das ist aber viel zu lang", Reject.CHAR_RATIO),
        ("antidisestablishmentarianism", "Gegenstaatsentkirchlichung", Reject.WORD_CHARS),
    ],
)
def test_each_rule_on_both_sides_of_its_border(source, target, wanted):
    assert reason(source, target)[0] == wanted


@pytest.mark.parametrize(
    ("source", "target", "mismatch", "conflict"),
    [
        ("In 1999 it was", "Es war 1999", 0, 0),
        ("In 1999 it was", "Es war damals", 1, 0),  # a number without a counterpart
        ("In 1999 it was", "Es war 1998", 1, 1),
        ("In 1999 and 2000 it was", "Es war 1999 und 2001", 0.5, 0.5),
        ("In 1999 and 2000 it was", "Es war 1998", 1, 2 / 3),
    ],
)
def test_numbers_contradict_each_other_where_each_side_has_one_that_the_other_lacks(
    source, target, mismatch, conflict
):
    values = rules.judge(table((source, target)), RuleConfig()).values
    assert values["number_mismatch"] == pytest.approx([mismatch])
    assert values["number_conflict"] == pytest.approx([conflict])


def test_a_rule_says_the_value_and_the_limit():
    assert reason("In 1999 it was", "Es war 1998")[1] == "number_mismatch 1 > 0.5"
    assert reason("how are you doing", "Привет, как дела")[1] == (
        "source_script 1, target_script 0 < 0.5"
    )


@pytest.mark.parametrize(
    ("option", "value", "texts", "wanted"),
    [
        ("max_number_mismatch", 1.0, ("In 1999 it was", "Es war 1998"), None),
        ("max_mojibake", np.inf, ("coffee is good here", "CafÃ© ist gut hier"), None),
        ("max_end_mismatch", 0.5, ("Is it so?", "Es ist so."), Reject.END_MISMATCH),
        ("max_end_mismatch", 0.4, ("It is so", "Es ist so."), Reject.END_MISMATCH),
        ("max_end_mismatch", 0.5, ("It is so", "Es ist so."), None),
        ("max_bracket_mismatch", 0.5, ("It (is) so", "Es ist so"), Reject.BRACKET_MISMATCH),
        ("max_copied", 1.0, ("the cat sat on", "the cat sat on"), None),
        ("min_script", 0.0, ("how are you doing", "Привет, как дела"), None),
    ],
)
def test_a_limit_moves_the_border(option, value, texts, wanted):
    assert reason(*texts, **{option: float(value)})[0] == wanted


@pytest.mark.parametrize(
    "text",
    [
        "ខ្ញុំទៅផ្ទះ។",
        "ខ្ញុំទៅផ្ទះ៕",
        "ငါအိမ်ပြန်တယ်။",
        "እኔ ወደ ቤት እሄዳለሁ።",
        "Ես գնում եմ տուն\u0589",
        "ང་ནང་ལ་འགྲོ།",
    ],
)
def test_a_full_stop_is_the_same_in_any_script(text):
    pair = {"source_lang": "und", "max_end_mismatch": 0.0}
    assert reason(text, "I go home now.", **pair)[0] is None
    assert reason(text, "I go home now!", **pair)[0] == Reject.END_MISMATCH


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("Ի\u055eնչ ես անում\u0589", "?"),
        ("Գնում եմ\u0589 Իսկ դու\u055e\u0589»", "?"),
        ("Ի\u055cնչ լավ է\u0589", "!"),
        ("Ի\u055eնչ\u0589 Գնում եմ\u0589", "."),
    ],
)
def test_an_armenian_question_has_its_mark_in_a_word(text, mark):
    pair = {"source_lang": "hy", "max_end_mismatch": 0.0}
    for other in ".?!":
        wanted = None if other == mark else Reject.END_MISMATCH
        assert reason(text, f"I am going home now{other}", **pair)[0] == wanted


@pytest.mark.parametrize("mark", [";", "\u037e", ";\u200e"])
def test_a_semicolon_ends_a_question_in_greek_alone(mark):
    greek = {"source_lang": "el", "max_end_mismatch": 0.0}
    assert reason(f"Είστε σίγουροι{mark}", "Are you sure?", **greek)[0] is None
    assert reason("Are you sure;", "Bist du sicher?", max_end_mismatch=0.0)[0] == (
        Reject.END_MISMATCH
    )


def test_a_source_in_the_target_s_script_is_foreign_only_if_the_scripts_differ():
    khmer = {"source_lang": "km", "target_lang": "en"}
    assert reason("this is English text", "this is a target", **khmer)[0] == Reject.SOURCE_FOREIGN
    assert reason("this is English text", "das ist ein Ziel")[0] is None


def test_names_count_as_copied_where_no_script_is_common():
    khmer = {"source_lang": "km", "target_lang": "en", "max_source_foreign": 1.0, "min_script": 0.0}
    assert reason("Barack Obama ជា", "Barack Obama", **khmer)[0] == Reject.COPIED


def test_the_first_rule_gives_the_reason_and_all_are_known():
    judged = rules.judge(table(("abcd ----- 5 6", "eins &amp; zwei drei")), RuleConfig())
    assert [str(reason) for reason, mask in judged.hits.items() if mask[0]] == [
        *("entities", "source_foreign", "number_mismatch")
    ]
    assert list(judged.hits)[judged.first()[0]] == Reject.ENTITIES


def test_the_reasons_of_a_detector_come_last():
    without, with_detector = (
        rules.reasons(RuleConfig(detector=detector)) for detector in ("none", "langid")
    )
    assert without == tuple(rule.reason for rule in rules.RULES)
    assert with_detector == (*without, *languages.REASONS.values())


def test_every_column_of_the_rules_is_measured_and_a_share_where_it_should_be():
    judged = rules.judge(table(GOOD, ("", ""), ("...", "( 5")), RuleConfig())
    assert set(judged.values) == set(rules.COLUMNS)
    for name, values in judged.values.items():
        assert values.dtype == np.float32, name
        assert len(values) == 3
        if name not in ("mojibake", "entities", "char_ratio", "word_chars"):
            assert (values >= 0).all(), name
            assert (values <= 1).all(), name


@pytest.mark.parametrize(
    ("tag", "wanted"),
    [
        ("en-GB", ("Latin",)),
        ("zh-Hant-TW", ("Han",)),
        ("sr_Latn_RS", ("Latin",)),
        ("sr", ("Cyrillic", "Latin")),
        ("und", ()),
        ("ps", ("Arabic",)),
        ("ku", ("Arabic", "Latin")),
        ("iu", ("Canadian_Aboriginal", "Latin")),
        ("kk", ("Arabic", "Cyrillic", "Latin")),
        ("pa-Guru", ("Gurmukhi",)),
        ("mni", ("Bengali", "Meetei_Mayek")),
    ],
)
def test_scripts_of_languages(tag, wanted):
    assert scripts.scripts_of(tag) == wanted


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ku", "ئەم پیاوە کوردە"),
        ("ku", "Ev mirov kurd e"),
        ("iu", "inuit nunangat"),
        ("iu", "ᐃᓄᐃᑦ"),
    ],
)
def test_a_language_may_be_written_in_any_of_its_scripts(language, text):
    target = "This is a sentence."
    assert reason(text, target, source_lang=language, target_lang="en") == (None, None)
    assert reason("это предложение", target, source_lang=language, target_lang="en")[0] == (
        Reject.SCRIPT
    )


def test_a_class_holds_the_number_of_every_script():
    assert len(scripts.SCRIPTS) < 64
    khmer = codepoints.all_properties()[ord("ក")] & utf8.SCRIPT
    assert khmer >> utf8.SCRIPT_SHIFT == scripts.SCRIPTS.index("Khmer") + 1


def test_the_table_of_tokens_is_the_lower_half_of_the_table_of_rules():
    rules_table = codepoints.all_properties()
    assert (codepoints.properties() == rules_table & 0xFFFF).all()
    assert rules_table[ord("ក")] & utf8.UNSPACED


@pytest.mark.parametrize(
    ("tag", "found"),
    [
        ("khm", ("Khmer",)),
        ("deu", ("Latin",)),
        ("ger", ("Latin",)),
        ("srp", ("Cyrillic", "Latin")),
        ("srp-Latn", ("Latin",)),
        ("sr-Cyrl", ("Cyrillic",)),
        ("cmn-Hant-TW", ("Han",)),
        ("jpn", ("Han", "Hiragana", "Katakana")),
        ("ja-Jpan", ("Han", "Hiragana", "Katakana")),
        ("ko-Kore", ("Hangul", "Han")),
        ("pes", ("Arabic",)),
        ("uz-Arab", ("Arabic",)),
        ("gsw", ()),
        ("gsw-Latn", ("Latin",)),
        ("und", ()),
    ],
)
def test_scripts_are_known_by_every_code_of_a_language_and_by_the_subtag(tag, found):
    assert scripts.scripts_of(tag) == found


def test_every_subtag_of_a_script_names_scripts_that_have_a_number():
    named = {script for each in scripts._SUBTAGS.values() for script in each}
    assert named == set(scripts.SCRIPTS)
