"""The settings of a SentencePiece model that let words next to tags keep their pieces."""

PIECE_SETTINGS: dict[str, bool] = {
    "add_dummy_prefix": True,
    "remove_extra_whitespaces": True,
    "treat_whitespace_as_suffix": False,
    "split_by_whitespace": True,
    "split_by_unicode_script": True,
    "split_digits": True,
}
"""Named as in SentencePiece's trainer; `models.subwords.symbol_training` explains each."""

_NO_DEFAULTS = ("split_digits",)


def piece_advice(symbols: str, *, shifted: bool | None) -> str:
    """Return advice on the settings that a user's own SentencePiece model needs.

    Args:
        symbols: The file that lists the symbols.
        shifted: Whether the text has the white-space shift; None if unknown.

    >>> print(piece_advice("symbols.txt", shifted=True).partition(",")[0])
    To train your own SentencePiece model
    """
    given = " ".join(
        f"`--{name}={str(value).lower()}`"
        for name, value in PIECE_SETTINGS.items()
        if name in _NO_DEFAULTS
    )
    kept = {
        value: _listed([f"`{name}`" for name in PIECE_SETTINGS if _kept(name) is value])
        for value in (True, False)
    }
    whether = {
        True: "Every tag is then one piece, and words have the pieces that they have without tags.",
        False: "Every tag is then one piece, but a word after a tag has other pieces than without "
        "it, unless the data are made with `--whitespace_shift true`.",
        None: "Every symbol is then one piece and, in text with `--whitespace_shift`, words have "
        "the pieces that they have without tags.",
    }
    return (
        f"To train your own SentencePiece model, give its trainer "
        f"`--user_defined_symbols_file={symbols}` and {given}, and leave {kept[True]} true and "
        f"{kept[False]} false, which are their defaults. {whether[shifted]}"
    )


def _kept(name: str) -> bool | None:
    return None if name in _NO_DEFAULTS else PIECE_SETTINGS[name]


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
