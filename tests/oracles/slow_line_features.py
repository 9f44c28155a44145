"""What a line shows, and the likeliest states of lines, in plain Python."""

import unicodedata

import regex

MASK = (1 << 64) - 1
OFFSET, PRIME = 0xCBF29CE484222325, 0x100000001B3
MARKS = {"?": 1, "\uff1f": 1, "\u061f": 1, "\u037e": 1, "!": 2, "\uff01": 2, "\u1367": 1}
MARKS |= dict.fromkeys(":\uff1a\u1365;\uff1b\u061b\u1364", 4)
STOPS = ".\u3002\uff61\u0964\u0965\u06d4\u0589\u2026\uff0e\u104b\u1362\u17d4\u17d5\u0f0d"


def digest(numbers):
    value = OFFSET
    for number in numbers:
        value = ((value ^ number) * PRIME) & MASK
    return value


def bit(value):
    mixed = ((value ^ (value >> 29)) * 0xBF58476D1CE4E5B9) & MASK
    return 1 << (mixed >> 58)


def folded(letter):
    if ord(letter) >= 0x250:
        return ord(letter)
    return ord(unicodedata.normalize("NFD", letter.lower())[0])


def features(line):
    """Return points, numbers, names, words, kind of the end, and the hash of a line."""
    numbers = names = words = 0
    for group in regex.findall(r"\p{Nd}+", line):
        numbers |= bit(digest(unicodedata.digit(point) for point in group))
    for word in regex.findall(r"[\p{Alphabetic}\p{M}]+", line):
        letters = [folded(letter) for letter in word]
        if regex.match(r"[\p{Lu}\p{Lt}]", word):
            names |= bit(digest(letters[:4])) if len(word) > 1 else 0
        elif len(word) >= 5:
            words |= bit(digest(letters[:5]))
    shown = regex.sub(r"[\p{White_Space}\p{Cc}\p{Default_Ignorable_Code_Point}]", "", line)
    end = regex.sub(r"[\p{Pe}\p{Pf}\p{Pi}\"']+$", "", shown)[-1:]
    if not end or regex.match(r"[\p{Alphabetic}\p{M}\p{Nd}]", end):
        kind = 0
    else:
        kind = MARKS.get(end, 3 if end in STOPS else 5)
    return len(shown), numbers, names, words, kind, digest(map(ord, line))


def best_states(evidence, price):
    """Return the best sum that a sequence of states of lines can have."""
    states, lines = len(evidence), len(evidence[0])
    best = {state: evidence[state][0] for state in range(states)}
    for line in range(1, lines):
        best = {
            state: max(best[old] - price * (old != state) for old in best) + evidence[state][line]
            for state in range(states)
        }
    return max(best.values())
