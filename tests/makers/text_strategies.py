"""Texts for Hypothesis: every kind of code point, and hard cases for tokenizers and tags."""

import functools

from hypothesis import strategies as st

from pairweave.transforms.text import codepoints

FRAGMENTS = [
    part
    for parts in (
        "' \u2019 %s %% 50% %(name)s %1$s {x} {} {{ y }} {% z %} ${v} $w #{u} & &amp; &#160;",
        "@ :// http https://a.b/c www. a.b me@x.org . .. ... - -- _ : , ; ! ( ) [ ] { } {{ }}",
        "< > </ /> <b> </b> <a c='d'> <a_0> </a_0> 1 234 1,234.5 10:30 / 24/7 9/ /11 foo-bar",
        "qu' l' d' n't 's \u2019ll I'm rock'n'roll aujourd'hui A z é ç T straße Οδός",
        'שלום ש"ל مرحبا नमस्ते क् ष ក្ ស ไทย กำ ำ 漢字 かな カタ ﾊﾟ 한국어',
        "½ ⅟ \u2044 2½ 10² m² H₂O 10⁻⁶ ¹⁴C ፲፱ 〡〢 ① Ⅷ ₂ ⁺",
        "🙂 👨\u200d👩\u200d👧 👍🏽 🇩🇪 🇫 ❤\ufe0f 1\ufe0f\u20e3",
    )
    for part in parts.split()
]
CHARACTERS = [
    *(" ", "  ", "\t", "\n", "\r", "\u00a0", "\u202f", "\u3000", "\u2028", "\u200b", "\u200d"),
    *("\u200e", "\u2067", "\u2069", "\u00ad", "\ufeff", "\u0301", "\u0600", "\u0d4e"),
]


@functools.cache
def code_points_by_properties():
    """Return code points that share all properties, a list for each set of properties."""
    groups = {}
    for point, properties in enumerate(codepoints.properties().tolist()):
        if not 0xD800 <= point <= 0xDFFF:
            groups.setdefault(properties, []).append(chr(point))
    return list(groups.values())


@functools.cache
def _characters():
    # Hypothesis goes through all elements of a new strategy, so it is made once.
    return st.one_of([st.sampled_from(points) for points in code_points_by_properties()])


@st.composite
def any_character(draw):
    """Draw a character, each set of properties as likely as the others."""
    return draw(_characters())


def texts(max_parts=14):
    """Return a strategy for texts without surrogates."""
    part = st.one_of(st.sampled_from(FRAGMENTS), st.sampled_from(CHARACTERS), any_character())
    return st.lists(part, max_size=max_parts).map("".join)
