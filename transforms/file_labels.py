"""The labels of files in notices: the name, and the corpus if other files have the same name."""

import collections
from collections.abc import Iterable


def file_labels(files: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the label of each file, by its corpus and its name.

    Names of files differ within a corpus, but several corpora may have a file of one name.

    Args:
        files: Corpus and name of each file of a run.

    >>> list(file_labels([("news", "a.tsv"), ("news", "b.tsv"), ("law", "a.tsv")]).values())
    ['news: a.tsv', 'b.tsv', 'law: a.tsv']
    """
    known = dict.fromkeys(files)
    corpora = collections.Counter(name for _, name in known)
    return {
        (corpus, name): f"{corpus}: {name}" if corpora[name] > 1 else name for corpus, name in known
    }
