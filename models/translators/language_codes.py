"""BCP 47 tags as the language codes of a translation model."""

import difflib
import re
from collections.abc import Iterable

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.text.iso_languages import DEPRECATED, NAMES, primary_tag

# The script to assume for a tag without a script, if a model has several.
_SCRIPTS = {"zh": "Hans", "sr": "Cyrl"}
_REGION_SCRIPTS = {"TW": "Hant", "HK": "Hant", "MO": "Hant", "CN": "Hans", "SG": "Hans"}

_SHOWN = 8


def find_code(tag: str, codes: Iterable[str], option: str) -> str:
    """Return a model's code for the language of a tag.

    A code is the language in two or three letters, with or without a script or a region (``de``,
    ``deu_Latn``, ``cmn_Hans``, ``pt_BR``). If several fit, the one with the tag's script and region
    is preferred, then one with neither, then one with the usual script (for Han, simplified unless
    the region says otherwise).

    Args:
        tag: A BCP 47 tag.
        codes: The codes of the model.
        option: The option that gave the tag, for the message.

    Raises:
        ConfigError: No code fits, or several do; names the closest ones.

    >>> find_code("zh-TW", ["eng_Latn", "zho_Hans", "zho_Hant"], "target_lang")
    'zho_Hant'
    """
    known = list(codes)
    language, script, region = _parts(tag)
    names = names_of(language)
    fitting = [code for code in known if _parts(code)[0] in names]
    if not fitting:
        raise ConfigError(
            f"--{option} {tag}: the translator does not know this language; the closest are "
            f"{', '.join(_nearest(names, known)) or 'none'} of its {len(known)} codes"
        )
    # A code may lack the script or region of the tag, but must not have a different one.
    fitting = [
        code
        for code in fitting
        if all(
            not (wanted and subtag) or wanted == subtag
            for wanted, subtag in zip((script, region), _parts(code)[1:], strict=True)
        )
    ]
    if script is None:
        short = primary_tag(language)
        usual = _REGION_SCRIPTS.get(region or "") if short == "zh" else None
        script = usual or _SCRIPTS.get(short)
    ranks = {code: _rank(code, names, script, region) for code in fitting}
    best = [code for code in fitting if ranks[code] == min(ranks.values())]
    if len(best) == 1:
        return best[0]
    near = [code for code in known if _parts(code)[0] in names]
    what = "fits several codes of" if best else "fits none of the codes of"
    raise ConfigError(
        f"--{option} {tag}: {what} the translator: {', '.join(near)}; give the script or the "
        "region, as in zh-Hant or pt-BR"
    )


def names_of(language: str) -> tuple[str, ...]:
    """Return a language subtag with its other names in ISO 639, the given one first.

    >>> names_of("deu")
    ('deu', 'de', 'ger')
    """
    short = primary_tag(language)
    names = [*NAMES.get(short, ()), *(old for old, new in DEPRECATED.items() if new == short)]
    return (language, *(name for name in names if name != language))


def is_known(code: str) -> bool:
    """Tell whether a code begins with a language of ISO 639-1, in any of its spellings."""
    return primary_tag(code) in NAMES


def same_language(tag: str, code: str) -> bool:
    """Tell whether a tag and a code mean the same language, ignoring script and region."""
    return _parts(code)[0] in names_of(_parts(tag)[0])


def _parts(tag: str) -> tuple[str, str | None, str | None]:
    """Return language, script and region of a tag or a code."""
    language, *others = re.split("[-_]", tag)
    script = next((part.title() for part in others if re.fullmatch("[A-Za-z]{4}", part)), None)
    pattern = "[A-Za-z]{2}|[0-9]{3}"
    region = next((part.upper() for part in others if re.fullmatch(pattern, part)), None)
    return language.lower(), script, region


def _rank(
    code: str, names: tuple[str, ...], script: str | None, region: str | None
) -> tuple[int, ...]:
    """Return the distance of a code from the wanted language; lower is closer."""
    language, its_script, its_region = _parts(code)
    script_distance = 0 if its_script == script else 1 if its_script is None else 2
    region_distance = 0 if its_region == region else 1 if its_region is None else 2
    return script_distance, region_distance, names.index(language)


def _nearest(names: tuple[str, ...], known: list[str]) -> list[str]:
    languages = {code: _parts(code)[0] for code in known}
    near: list[str] = []
    for name in names:
        for language in difflib.get_close_matches(name, set(languages.values()), 4, 0.5):
            near += [code for code in known if languages[code] == language and code not in near]
    return sorted(near[:_SHOWN])
