import pytest

from pairweave.models.translators.language_codes import find_code, is_known, names_of, same_language
from pairweave.models.translators.translation_pieces import Languages, read_languages
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.text import iso_languages

M2M = ["en", "de", "fr", "zh", "pt", "no", "ast", "sr", "tl", "he"]
NLLB = [
    *("eng_Latn", "deu_Latn", "fra_Latn", "zho_Hans", "zho_Hant", "yue_Hant", "arb_Arab"),
    *("ary_Arab", "nob_Latn", "nno_Latn", "srp_Cyrl", "kas_Arab", "kas_Deva", "pes_Arab"),
    *("lvs_Latn", "npi_Deva", "als_Latn", "aka_Latn", "twi_Latn", "tgl_Latn", "ast_Latn"),
]


@pytest.mark.parametrize(
    ("tag", "codes", "code"),
    [
        ("de", M2M, "de"),
        ("de-AT", M2M, "de"),
        ("deu", M2M, "de"),
        ("DE", M2M, "de"),
        ("zh-Hant", M2M, "zh"),
        ("nb", [*M2M, "nb"], "nb"),
        ("ast", M2M, "ast"),
        ("pt-BR", ["pt_BR", "pt_PT"], "pt_BR"),
        ("pt-BR", ["pt", "pt_BR"], "pt_BR"),
        ("pt", ["pt", "pt_BR"], "pt"),
        ("de", NLLB, "deu_Latn"),
        ("de-CH", NLLB, "deu_Latn"),
        ("zh", NLLB, "zho_Hans"),
        ("zh-CN", NLLB, "zho_Hans"),
        ("zh-TW", NLLB, "zho_Hant"),
        ("zh-Hant", NLLB, "zho_Hant"),
        ("zh-Hans-TW", NLLB, "zho_Hans"),
        ("yue", NLLB, "yue_Hant"),
        ("ar", NLLB, "arb_Arab"),
        ("ary", NLLB, "ary_Arab"),
        ("no", NLLB, "nob_Latn"),
        ("sr", NLLB, "srp_Cyrl"),
        ("fa", NLLB, "pes_Arab"),
        ("lv", NLLB, "lvs_Latn"),
        ("ne", NLLB, "npi_Deva"),
        ("sq", NLLB, "als_Latn"),
        ("ak", NLLB, "aka_Latn"),
        ("tw", NLLB, "twi_Latn"),
        ("twi", NLLB, "twi_Latn"),
        ("iw", ["heb_Hebr", "eng_Latn"], "heb_Hebr"),
        ("he", ["iw", "en"], "iw"),
        ("fil", NLLB, "tgl_Latn"),
        ("kas-Deva", NLLB, "kas_Deva"),
        ("zh", ["cmn_Hans", "cmn_Hant", "eng"], "cmn_Hans"),
    ],
)
def test_a_tag_is_the_code_that_a_person_would_take(tag, codes, code):
    assert find_code(tag, codes, "target_lang") == code
    assert find_code(tag, codes[::-1], "target_lang") == code


@pytest.mark.parametrize(
    ("tag", "codes", "message"),
    [
        (
            "gd",
            M2M,
            "--target_lang gd: the translator does not know this language; the closest are ",
        ),
        ("dee", NLLB, "the closest are .*deu_Latn.* of its 21 codes"),
        ("sr-Latn", NLLB, "fits none of the codes of the translator: srp_Cyrl"),
        ("ks", NLLB, "fits several codes of the translator: kas_Arab, kas_Deva; give the script"),
        ("pt", ["pt_BR", "pt_PT"], "several codes of the translator: pt_BR, pt_PT"),
    ],
)
def test_a_tag_without_its_code_is_refused_with_the_codes_near(tag, codes, message):
    with pytest.raises(ConfigError, match=message):
        find_code(tag, codes, "target_lang")


def test_every_language_of_iso_639_1_is_known_by_all_its_names():
    assert names_of("sv") == ("sv", "swe")
    assert names_of("xyz") == ("xyz",)
    assert is_known("deu_Latn")
    assert not is_known("roa")
    assert same_language("zh-TW", "zho")
    assert not same_language("en", "de")


def test_names_are_those_of_langcodes_but_where_models_name_others():
    langcodes = pytest.importorskip("langcodes", reason="needs langcodes to compare with")
    others = {}
    for short, names in iso_languages.NAMES.items():
        language = langcodes.Language.make(language=short)
        of_iso = {language.to_alpha3(variant=variant) for variant in "TB"}
        assert of_iso <= set(names), short
        differing = {name for name in names if langcodes.standardize_tag(name, macro=True) != short}
        if differing:
            others[short] = differing
    assert sum(map(len, iso_languages.NAMES.values())) == 412
    assert others == {
        # NLLB's members of these macrolanguages; CLDR takes fuc, pbu and quz.
        "ff": {"fuv"},
        "ps": {"pbt"},
        "qu": {"quy"},
        # CLDR has Filipino for Tagalog and Akan for Twi; Bokmål is the usual Norwegian.
        "tl": {"tl", "tgl", "fil"},
        "tw": {"tw", "twi"},
        "no": {"nob"},
    }


@pytest.mark.parametrize(
    ("tag", "codes"), [("gd", M2M), ("nb", ["da"]), ("uk", ["ru"]), ("af", ["nl"])]
)
def test_no_other_language_is_taken_where_langcodes_takes_one(tag, codes):
    langcodes = pytest.importorskip("langcodes", reason="needs langcodes to compare with")
    assert langcodes.closest_supported_match(tag, codes) in codes
    with pytest.raises(ConfigError):
        find_code(tag, codes, "target_lang")


def test_a_vocabulary_tells_its_languages(tmp_path):
    assert read_languages(tmp_path, ["a", "__de__", "__ast__", "__x"]).tokens == {
        "de": "__de__",
        "ast": "__ast__",
    }
    opus = read_languages(tmp_path, ["</s>", ">>deu<<", ">>cmn_Hans<<"])
    assert opus.prefixes("en", "zh") == ([">>cmn_Hans<<"], [])
    nllb = read_languages(tmp_path, ["eng_Latn", "deu_Latn"])
    assert nllb.prefixes("en", "de") == (["eng_Latn"], ["deu_Latn"])
    assert nllb.special_tokens(["<s>", "a", "deu_Latn", "madeupword0", "</s>"]) == [
        *("<s>", "deu_Latn", "madeupword0")
    ]


def test_a_model_of_many_languages_needs_to_be_told_which():
    with pytest.raises(ConfigError, match="--source_lang is needed: the translator knows 2 lang"):
        Languages({"de": "__de__", "en": "__en__"}, True, (None, None)).prefixes("und", "de")


def test_a_model_of_one_pair_of_languages_refuses_another():
    pair = Languages({}, False, ("en", "deu"))
    assert pair.prefixes("en-GB", "de") == pair.prefixes("und", "und") == ([], [])
    with pytest.raises(ConfigError, match="--target_lang fr: the translator's is deu"):
        pair.prefixes("en", "fr")
    # Groups of languages and unknown names say nothing.
    assert Languages({}, False, ("en", "roa")).prefixes("en", "fr") == ([], [])
