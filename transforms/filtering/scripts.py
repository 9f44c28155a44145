"""The scripts of languages."""

from pairweave.transforms.reading.language_tags import normal
from pairweave.transforms.text.codepoints import SCRIPTS
from pairweave.transforms.text.iso_languages import primary_tag

_LANGUAGES = {
    "Greek": "el",
    "Cyrillic": "ru uk be bg mk ba cv ce os ab sah tyv",
    "Armenian": "hy",
    "Hebrew": "he yi",
    "Arabic": "ar fa ps ur ckb arz pnb",
    "Thaana": "dv",
    "Devanagari": "hi mr ne sa mai bho kok brx doi",
    "Bengali": "bn as",
    "Gujarati": "gu",
    "Oriya": "or",
    "Tamil": "ta",
    "Telugu": "te",
    "Kannada": "kn",
    "Malayalam": "ml",
    "Sinhala": "si",
    "Thai": "th",
    "Lao": "lo",
    "Tibetan": "bo dz",
    "Myanmar": "my shn",
    "Georgian": "ka",
    "Hangul Han": "ko",
    "Ethiopic": "am ti",
    "Cherokee": "chr",
    "Khmer": "km",
    "Han": "zh yue wuu lzh",
    "Han Hiragana Katakana": "ja",
    "Arabic Cyrillic Latin": "az kk ky tg tk ug uz",
    "Arabic Devanagari": "ks sd",
    "Arabic Gurmukhi": "pa",
    "Arabic Latin": "ha ku ms",
    "Bengali Meetei_Mayek": "mni",
    "Canadian_Aboriginal Latin": "iu",
    "Cyrillic Latin": "sr bs sh tt",
    "Cyrillic Mongolian": "mn",
    "Devanagari Ol_Chiki": "sat",
    "Latin": "en de fr es it pt nl sv da no nb nn is fo fi et lv lt pl cs sk sl hr hu ro sq mt"
    " ga gd cy br eu ca gl oc af fy lb tr vi id jv su tl fil ceb mg sw so yo ig zu xh st tn"
    " rw ny sn eo la ht mi sm haw",
}
"""Languages (ISO 639) by the scripts in common use today (CLDR)."""

_OF_LANGUAGE = {
    language: tuple(scripts.split())
    for scripts, languages in _LANGUAGES.items()
    for language in languages.split()
}

_SUBTAGS = {
    code: tuple(scripts.split())
    for scripts, codes in {
        "Latin": "latn latf latg",
        "Greek": "grek",
        "Cyrillic": "cyrl",
        "Armenian": "armn",
        "Hebrew": "hebr",
        "Arabic": "arab aran",
        "Syriac": "syrc",
        "Thaana": "thaa",
        "Devanagari": "deva",
        "Bengali": "beng",
        "Gurmukhi": "guru",
        "Gujarati": "gujr",
        "Oriya": "orya",
        "Tamil": "taml",
        "Telugu": "telu",
        "Kannada": "knda",
        "Malayalam": "mlym",
        "Sinhala": "sinh",
        "Thai": "thai",
        "Lao": "laoo",
        "Tibetan": "tibt",
        "Myanmar": "mymr",
        "Georgian": "geor",
        "Hangul": "hang",
        "Hangul Han": "kore",
        "Ethiopic": "ethi",
        "Cherokee": "cher",
        "Canadian_Aboriginal": "cans",
        "Khmer": "khmr",
        "Mongolian": "mong",
        "Hiragana": "hira",
        "Katakana": "kana",
        "Han": "hani hans hant",
        "Han Hiragana Katakana": "jpan hrkt",
        "Yi": "yiii",
        "Tifinagh": "tfng",
        "Nko": "nkoo",
        "Ol_Chiki": "olck",
        "Meetei_Mayek": "mtei",
    }.items()
    for code in codes.split()
}
"""Scripts by the subtag of BCP 47 that names them (ISO 15924)."""


def scripts_of(language: str) -> tuple[str, ...]:
    """Return the scripts that a language is written in; none if they are not known.

    >>> scripts_of("ja")
    ('Han', 'Hiragana', 'Katakana')
    >>> scripts_of("khm"), scripts_of("sr-Latn-RS"), scripts_of("sr_Latn")
    (('Khmer',), ('Latin',), ('Latin',))
    """
    first, *others = normal(language).split("-")
    for subtag in others:
        if subtag in _SUBTAGS:
            return _SUBTAGS[subtag]
    return _OF_LANGUAGE.get(first) or _OF_LANGUAGE.get(primary_tag(first), ())


def script_bits(scripts: tuple[str, ...]) -> int:
    """Return a set of scripts as bits; the number of a script is its bit."""
    return sum(1 << (SCRIPTS.index(script) + 1) for script in scripts)
