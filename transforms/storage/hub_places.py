"""Places of data sets of the Hugging Face hub: ``hf://OWNER/NAME/CONFIG?split=train``."""

import dataclasses
import re
import urllib.parse

from pairweave.transforms.errors import InputError

SCHEME = "hf://"

EXPECTED = "expected hf://OWNER/NAME, or hf://OWNER/NAME/CONFIG?split=SPLIT&revision=REVISION"

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


@dataclasses.dataclass(frozen=True, slots=True)
class DataSetPlace:
    """A split of a data set, as a user names it.

    Attributes:
        text: The place as given.
        owner: Owner of the repository.
        name: Name of the repository.
        config: Name of the configuration; None for the only one.
        split: Name of the split; None for the only one.
        revision: A branch, tag or commit; None for the newest commit of the main branch.
    """

    text: str
    owner: str
    name: str
    config: str | None = None
    split: str | None = None
    revision: str | None = None

    @property
    def repository(self) -> str:
        """Return the name of the repository on the hub."""
        return f"{self.owner}/{self.name}"

    @property
    def corpus(self) -> str:
        """Return the name of the corpus, unless the user gives one."""
        return "/".join(filter(None, (self.owner, self.name, self.config)))


def is_data_set(place: str) -> bool:
    """Tell whether a place names a data set of the hub."""
    return place.startswith(SCHEME)


def parse_place(text: str) -> DataSetPlace:
    """Parse the place of a data set.

    >>> place = parse_place("hf://org/name/de-en?split=train&revision=main")
    >>> place.repository, place.config, place.split, place.revision
    ('org/name', 'de-en', 'train', 'main')

    Raises:
        InputError: The text is not such a place (``no_match``).
    """
    path, _, query = text.removeprefix(SCHEME).partition("?")
    words = path.removesuffix("/").split("/")
    if words[0] == "datasets":
        raise InputError("no_match", text, f"leave datasets/ out: {EXPECTED}")
    given = urllib.parse.parse_qsl(query, keep_blank_values=True)
    settings = dict(given)
    known = {"split", "revision"}
    if (
        len(words) not in (2, 3)
        or not all(map(_NAME.fullmatch, words[:2]))
        or not all(words)
        or len(settings) != len(given)
        or not settings.keys() <= known
        or not all(settings.values())
        or (query and not settings)
    ):
        raise InputError("no_match", text, f"is not the place of a data set; {EXPECTED}")
    config = words[2] if len(words) > 2 else None
    return DataSetPlace(text, words[0], words[1], config, **settings)
