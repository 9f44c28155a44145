"""The slow twin of `transforms.kernels.text.korean`: endings looked up one by one."""

import itertools

import regex

from pairweave.transforms.kernels.text import korean

RUN = regex.compile(r"[가-힣]+$")
PLAIN = regex.compile(r"[^\x00-\x7f]|[A-Za-z0-9'\-:_.]")
JAMO = regex.compile(r"[\u1100-\u11ff\ua960-\ua97f]")
DIGIT = regex.compile(r"\p{WB=Numeric}")
FORMS = ("을를", "이가", "은는", "과와")
LETTER = regex.compile(r"(?V1)[[\p{L}\p{N}]--\p{WB=Numeric}]")


def sound(syllable):
    """Return the flag of an ending that may follow a syllable."""
    final = (ord(syllable) - ord("가")) % 28
    if final == 0:
        return korean.AFTER_VOWEL
    if "ᆨᆩᆪᆫᆬᆭᆮᆯᆰᆱᆲᆳᆴᆵᆶᆷᆸᆹᆺᆻᆼᆽᆾᆿᇀᇁᇂ"[final - 1] in "ᆬᆭᆶᆻᇂ":
        return 0
    return korean.AFTER_RIEUL if final == 8 else korean.AFTER_CONSONANT


def cut_of(run, endings):
    """Return the number of syllables that are cut off a run, and the entry of all of it."""
    decided = 0
    for length in range(len(run), 0, -1):
        entry = endings.get(run[-length:], 0)
        if not entry or (entry & korean.WHOLE and length < len(run)):
            continue
        cut = entry >> korean.CUT_SHIFT
        if cut == len(run):
            return 0, entry
        if cut:
            stem = run[:-cut]
            fits = entry & sound(stem[-1])
            if fits and (len(stem) > 1 or not entry & korean.LONG_STEM):
                decided = cut
        return decided, 0
    return 0, 0


def parts_from_name(name, run, whole):
    """Tell whether there is a border between a name or number and the syllables behind it."""
    last = name[-1]
    if not regex.match(r"[\p{L}\p{N}]", last) or JAMO.match(last):
        return False
    if regex.match(r"\p{GCB=Prepend}", last):
        return False
    letters, digits = len(LETTER.findall(name)), len(DIGIT.findall(name))
    if not letters:
        return bool(whole & korean.AFTER_NUMBER)
    if not all(PLAIN.match(character) for character in name):
        return False
    return bool(whole) or ("." not in name and (letters + digits > 1 or run[0] == "키"))


def names_both_forms(text, end):
    """Tell whether a text before a place ends in a particle whose other form follows there."""
    behind = regex.match(r"\((.)\)|/(.)(?![가-힣])", text[end:])
    if not behind:
        return False
    one, other = text[end - 1], behind[1] or behind[2]
    return any(one in forms and other in forms and one != other for forms in FORMS)


def split(text, tokens, endings):
    """Return the tokens of a text, each split before what is attached to a noun."""
    parts = []
    for start, end in tokens:
        places = [start, end]
        match = RUN.search(text[start:end])
        if match:
            run, name = match[0], text[start : end - len(match[0])]
            cut, whole = cut_of(run, endings)
            if not cut and len(run) > 1 and names_both_forms(text, end):
                cut = 1
            if name and parts_from_name(name, run, whole):
                places.append(end - len(run))
            if cut:
                places.append(end - cut)
        places.sort()
        parts += list(itertools.pairwise(places))
    return parts
