"""Symbols of tags in a user-defined form, which must be unambiguous in any text."""

import dataclasses
import functools
import itertools
import re
from collections.abc import Sequence

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.indexed_tag import NUMBER
from pairweave.transforms.markup.markup import Kind

INDEX = "{index}"
"""The placeholder of the number in a form."""


@dataclasses.dataclass(frozen=True)
class Template:
    """The forms of three kinds of symbols, such as ``⟦{index}⟧``, ``⟦/{index}⟧``, ``⟦{index}/⟧``.

    They are unambiguous in any text and next to any other symbol, because each begins with a
    character that occurs nowhere else in any of them, contains no digit besides its number, does
    not end with the number, and is not the beginning of another. So no symbol can begin inside
    another, and none can begin in text and end in a symbol.

    Attributes:
        opening: Form of an opening tag, with ``{index}`` once.
        closing: Form of a closing tag.
        empty: Form of an empty tag.
    """

    opening: str
    closing: str
    empty: str

    def __post_init__(self) -> None:
        for form in self.forms:
            _check_form(form, self.forms)
        for one, other in itertools.permutations(self.forms, 2):
            if other.startswith(one):
                raise ConfigError(
                    f"template {one!r} is {other!r} or its beginning, so the tags could not be "
                    "told apart; make them differ"
                )

    @classmethod
    def of(cls, forms: Sequence[str]) -> "Template":
        """Return the template of the forms of opening, closing and empty tags.

        Raises:
            ConfigError: They are not three, or cannot be read back.
        """
        if len(forms) != 3:
            raise ConfigError(
                f"a template has three forms, of opening, closing and empty tags; got {len(forms)}"
            )
        return cls(*forms)

    @property
    def forms(self) -> tuple[str, str, str]:
        """Return the three forms."""
        return self.opening, self.closing, self.empty

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return a pattern that matches every symbol, with the groups ``close`` and ``empty``."""
        parts = [re.escape(form).replace(re.escape(INDEX), NUMBER) for form in self.forms]
        return re.compile(f"{parts[0]}|(?P<close>{parts[1]})|(?P<empty>{parts[2]})")

    def fill(self, kind: Kind, number: int) -> str:
        """Return the symbol of a tag.

        >>> Template("⟦{index}⟧", "⟦/{index}⟧", "⟦{index}/⟧").fill(Kind.CLOSE, 12)
        '⟦/12⟧'
        """
        forms = {Kind.OPEN: self.opening, Kind.CLOSE: self.closing, Kind.EMPTY: self.empty}
        return forms[kind].replace(INDEX, str(number))


def _check_form(form: str, forms: Sequence[str]) -> None:
    if form.count(INDEX) != 1:
        raise ConfigError(
            f"template {form!r} must contain {INDEX} exactly once, in the place of the number"
        )
    before, behind = form.split(INDEX)
    if not before or not behind:
        raise ConfigError(
            f"template {form!r} needs something before {INDEX} and something after it, or text "
            "with digits could be taken for a tag"
        )
    fixed = before + behind
    if re.search(r"[\s\d]", fixed):
        raise ConfigError(f"template {form!r} must contain neither white space nor digits")
    first = form[0]
    if first.isalnum() or any(first in other[1:] for other in forms):
        raise ConfigError(
            f"template {form!r} must begin with a character that is not a letter and occurs "
            f"nowhere else in any of the forms {', '.join(forms)}"
        )
