"""YAML that options cannot have."""

REFUSED = [
    ("{a: {b: 1, b: 2}}", "line 1: the key b is given twice, first in line 1; remove one of them"),
    ("a: 1\nb: 2\na: 3\n", "line 3: the key a is given twice, first in line 1"),
    ("{no: 1, off: 2}", "the key off is given twice, first as no in line 1"),
    ("{1: a, 1.0: b}", "the key 1.0 is given twice, first as 1 in line 1"),
    ('{a: "\\ud800"}', "line 1: '\\ud800' is not valid Unicode"),
    ('{"\\udfff": 1}', "line 1: '\\udfff' is not valid Unicode"),
    ('{a: "b\\0"}', "line 1: 'b\\x00' has the character NUL"),
    ('{"\\0": 1}', "line 1: '\\x00' has the character NUL"),
    ("{a: 2001-99-99}", "line 1: '2001-99-99' is not a valid timestamp; put it in quotes"),
    ("a:\n- 0x_", "line 2: '0x_' is not a valid int"),
    ("{a: 010}", "line 1: YAML reads '010' as 8; write the number without leading zeros"),
    ("a:\n- -0_17", "line 2: YAML reads '-0_17' as -15"),
    ("{a: {b: 3:1}}", "line 1: YAML reads '3:1' as 181; write the number without leading zeros"),
    ("{a: 1:30.5}", "line 1: YAML reads '1:30.5' as 90.5"),
    ("{010: a}", "line 1: YAML reads '010' as 8"),
    ("!!bool x", "line 1: 'x' is not a valid bool"),
    ("!!int ''", "line 1: '' is not a valid int"),
    ("!!float x", "line 1: 'x' is not a valid float"),
    ("!!timestamp x", "line 1: 'x' is not a valid timestamp"),
    ("!!python/object:os.system x", "not valid YAML: could not determine a constructor"),
    ("{<<: 1}", "not valid YAML: while constructing a mapping"),
    ("{? [a] : 1}", "found unhashable key"),
    ("{a", "not valid YAML: while parsing a flow mapping"),
    ("{}\n---\n{}", "expected a single document"),
    ("\x07", "unacceptable character #x0007: special characters are not allowed, at position 0"),
    ("&a [*a]", "nested too deeply"),
    ("{a: &a [*a]}", "nested too deeply"),
    ("[" * 500 + "]" * 500, "nested too deeply; options need two levels"),
]
"""Documents, each with a part of the message about it."""


def _bomb(first, following):
    lines = [f"a0: &a0 {first}"]
    for number in range(1, 12):
        aliases = ", ".join([f"*a{number - 1}"] * 10)
        lines.append(f"a{number}: &a{number} {following.format(aliases)}")
    return "\n".join(lines)


BOMBS = {
    "texts": _bomb("[x, x]", "[{}]"),
    "numbers": _bomb("[1, 1]", "[{}]"),
    "empty lists": _bomb("[]", "[{}]"),
    "keys": _bomb("{x: 1}", "{{x: [{}]}}"),
    "merged maps": _bomb("{x: 1}", "{{<<: [{}]}}"),
}
"""Lines of which each stands for ten times as much as the one before."""
