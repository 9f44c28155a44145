"""Notices about languages whose sides look exchanged in the kept pairs."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import regex

from pairweave.transforms.filtering.scripts import scripts_of
from pairweave.transforms.text.iso_languages import primary_tag

SAMPLE = 1_000
"""Number of rows to look at, the first by id."""

MIN_PAIRS = 20
"""Minimum number of pairs of two languages for a notice on them."""

MIN_SHARE = 0.1
"""Minimum share of the words of a side, or of its letters, that must be in the other language."""

CLEARLY = 3
"""Minimum ratio of words or letters in the other language to those in the side's own."""

MIN_WORDS = 6
"""Minimum number of frequent words that a language must have and another must lack, to
distinguish them."""

_FREQUENT = """
az və bu bir ilə üçün də olan deyil ki çox kimi onun hər əgər sonra bütün belə lakin bunun edir
ca la que i el en les els del per amb és ha al són com més aquest aquesta però
cs a se na že je v jsem by jako ale pro tak jsou byl nebo aby když jeho
da og at er det en til på som af den for de med ikke der har et jeg
de der die und das ist nicht ein eine zu den mit von auf für sich auch dem
en the of and to in is that for it was on with as are be this not
es de la que el en y los se del las por con una para es no lo
et et see ta ka kui mis või aga siis seda oma pole ning ole peab saab nagu kes oleks
eu eta da ez bat du dira duen ere baina edo hau dute izan beste dago bere behar honek
fi ja on ei että se oli hän mutta kun niin olen ovat tämä mitä joka myös
fr de la le et les des en un une du que est pour dans qui pas il
ga an na agus ar go le tá ní ag bhí leis nach mar seo sin atá chun sa
hr je i u se da su od ili koji koja nije kao ako će što samo ima može
hu a az és hogy nem is egy van de csak meg már ez azt volt mint
id yang dan di ini itu untuk dengan tidak dari dalam akan pada adalah oleh atau juga telah harus
is og að í á sem ekki það við um hann fyrir eru með þú þetta eða ég verið
it di e che la il un a per una in sono con non le dei della si
lt ir kad yra į iš su bet kaip buvo jis tai jo arba nuo taip tik šis gali būti
lv un ir ka uz ar bet kā nav tas par lai arī vai bija pēc šis tikai var kas
nl de het een en van in is dat op te zijn met niet voor aan er ook
no og det er i på som en til av for ikke har med at de jeg den
pl nie i w na się że do to z jest jak ale co po tak za od
pt de a o que e do da em um para não uma com os no se na
ro de și a în la nu cu pe că un o din este pentru mai care sunt
sk je sa na že som ako pre sú bol alebo keď nie ktoré pri čo ktorý podľa bolo už
sl je in v se ki so pa ali kot tudi po lahko ni če iz pri biti bo še
sq të e në dhe për që një është nga nuk më por kjo janë ka si kur mund duhet
sv och att det är i en som på för av med inte den till har ett jag
sw ya wa kwa ni katika cha hii kuwa huu kama yake hiyo lakini vya sana kwamba ambayo pia
tr bir ve bu da de için ne çok ben mi gibi daha var olarak o ama
vi và của là có các cho không được một trong này với để những đã khi từ bạn phải
"""

WORDS = {
    language: frozenset(words)
    for line in _FREQUENT.strip().splitlines()
    for language, *words in [line.split()]
}
"""Very frequent words of languages in the Latin script, which few others share as a set."""

Json = Mapping[str, Any]


def exchanged_notices(rows: Sequence[Json], said: Collection[tuple[str, str]] = ()) -> list[str]:
    """Return notices on languages whose sides look exchanged in a sample of the kept rows.

    Each side must look like the other's language, by its letters if the languages have no script in
    common, else by frequent words (`WORDS`), and not like its own.

    Args:
        rows: Rows with texts and languages; tags in their texts are harmless.
        said: Source and target languages for which there already is such a notice.
    """
    by_languages: dict[tuple[str, str], list[Json]] = defaultdict(list)
    for row in rows:
        languages = row.get("source_lang", ""), row.get("target_lang", "")
        if languages[0] != languages[1] and languages not in said:
            by_languages[languages].append(row)
    notices = []
    for (source, target), some in sorted(by_languages.items()):
        texts = [" ".join(row.get(name) or "" for row in some) for name in ("source", "target")]
        if not texts[1].strip():
            texts[1] = " ".join(row.get("masked") or "" for row in some)
        if (
            len(some) >= MIN_PAIRS
            and _is(texts[0], target, source)
            and _is(texts[1], source, target)
        ):
            notices.append(
                f"{source} to {target}: in a sample of {len(some):,} pairs the sources look like "
                f"{target} and the targets like {source}; if the files are exchanged, exchange "
                "them, or source_lang and target_lang"
            )
    return notices


def _is(text: str, language: str, other: str) -> bool:
    """Tell whether a text looks like one language and not like another."""
    scripts = [set(scripts_of(each)) for each in (language, other)]
    if all(scripts) and not scripts[0] & scripts[1]:
        shares = [_letters(text, each) for each in scripts]
    else:
        known = [WORDS.get(primary_tag(each)) for each in (language, other)]
        if known[0] is None or known[1] is None or len(known[0] - known[1]) < MIN_WORDS:
            return False
        shares = [_frequent(text, each, not_of) for each, not_of in (known, known[::-1])]
    return shares[0] >= MIN_SHARE and shares[0] > CLEARLY * shares[1]


def _letters(text: str, scripts: set[str]) -> float:
    """Return the share of the letters that belong to some scripts; Latin tags are left out."""
    shown = regex.sub(r"<[^<>]*>", " ", text)
    letters = len(regex.findall(r"\p{L}", shown))
    inside = "".join(rf"\p{{Script={name}}}" for name in sorted(scripts))
    return len(regex.findall(rf"[{inside}]", shown)) / max(1, letters)


def _frequent(text: str, words: frozenset[str] | None, others: frozenset[str] | None) -> float:
    """Return the share of the words that are frequent in a language and not in the other."""
    in_lower_case = regex.findall(r"\p{L}+", regex.sub(r"<[^<>]*>", " ", text).lower())
    own = (words or frozenset()) - (others or frozenset())
    return sum(word in own for word in in_lower_case) / max(1, len(in_lower_case))
