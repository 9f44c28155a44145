"""Numbers of things, in words that agree with them."""


def counted(number: int, thing: str, things: str = "") -> str:
    """Return a number with the name of the things that it counts.

    Args:
        number: The number of things.
        thing: The word for one thing.
        things: The word for several; by default the same with an s.

    >>> counted(1, "line"), counted(2_000, "line"), counted(1, "pair has", "pairs have")
    ('1 line', '2,000 lines', '1 pair has')
    """
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"
