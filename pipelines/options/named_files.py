"""The files that a job's options name, besides its corpora. Without Beam, for a night's start."""

from collections.abc import Iterator
from pathlib import Path

from pairweave.pipelines.options.base import GraphOptions
from pairweave.transforms.option_places import Use, places_of
from pairweave.transforms.storage import files
from pairweave.transforms.storage.hub_places import is_data_set


def files_read(options: GraphOptions) -> Iterator[str]:
    """Yield the absolute paths of the files that a job's options name, besides its corpora.

    Those of a directory, such as that of a model, are yielded one by one.
    """
    own = options.corpus_kind().model_fields
    for place in places_of(options):
        path = files.absolute(place.path)
        if place.option in own or is_data_set(place.path):
            continue
        if place.use is Use.FILES:
            yield from map(files.absolute, files.match(place.path))
        elif place.use in (Use.FILE, Use.MODEL):
            is_directory = Path(path).is_dir()
            if not is_directory:
                yield path
            if is_directory or files.is_uri(path):
                yield from (files.join(path, name) for name in files.list_names(path))
