"""Names of languages that people write instead of language tags."""

_NAMES = """
af afrikaans; am amharic; ar arabic; az azerbaijani; be belarusian; bg bulgarian; bn bengali
bs bosnian; ca catalan; cs czech; cy welsh; da danish; de german deutsch; el greek; en english
eo esperanto; es spanish castellano; et estonian; eu basque; fa persian farsi; fi finnish
fr french francais; ga irish; gl galician; gu gujarati; ha hausa; he hebrew; hi hindi; hr croatian
hu hungarian; hy armenian; id indonesian; ig igbo; is icelandic; it italian italiano; ja japanese
ka georgian; kk kazakh; km khmer; kn kannada; ko korean; ky kyrgyz; lo lao; lt lithuanian
lv latvian; mg malagasy; mk macedonian; ml malayalam; mn mongolian; mr marathi; ms malay
mt maltese; my burmese; nb bokmal; ne nepali; nl dutch nederlands flemish; nn nynorsk
no norwegian; pa punjabi; pl polish polski; ps pashto; pt portuguese portugues
ro romanian moldovan; ru russian; si sinhala; sk slovak; sl slovenian slovene; so somali
sq albanian; sr serbian; sv swedish svenska; sw swahili; ta tamil; te telugu; th thai
tl tagalog filipino; tr turkish; uk ukrainian; ur urdu; uz uzbek; vi vietnamese; xh xhosa
yi yiddish; yo yoruba; zh chinese mandarin; zu zulu
"""

TAGS = {
    name: tag
    for entry in _NAMES.replace("\n", ";").split(";")
    if entry.strip()
    for tag, *names in [entry.split()]
    for name in names
}
"""The tag of each name, in lower case; French ``français`` is ``francais``."""


def tag_of(name: str) -> str | None:
    """Return the BCP 47 tag of a language's name, or of a locale written with an underscore.

    >>> tag_of("English"), tag_of("pt_BR"), tag_of("Klingonish")
    ('en', 'pt-BR', None)
    """
    plain = name.strip().lower().replace("\u00e7", "c").replace("\u00ea", "e")
    if plain in TAGS:
        return TAGS[plain]
    language, _, rest = name.partition("_")
    return f"{language}-{rest}" if rest.isalnum() and 2 <= len(language) <= 3 else None
