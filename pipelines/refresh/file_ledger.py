"""The ledger of input files: which are new, changed, moved or gone since the last night.

Files that are read together (both sides of line-parallel text) are one entry. Its key is a digest
of their contents, their corpus, languages and licence, and how they are read. Files under new names
are therefore the same entry, but files with a new content, corpus or way of reading are another
one.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import orjson

from pairweave.pipelines.refresh.chain.hashed_reads import digest_of
from pairweave.pipelines.refresh.chain.record_parts import LedgerEntry
from pairweave.pipelines.refresh.chain.records import Json
from pairweave.pipelines.refresh.night_config import gives_more, input_keys, sha256_of
from pairweave.transforms.planning.locate import FileGroup, LocatedFile, locate
from pairweave.transforms.storage import files, object_stores
from pairweave.transforms.units import CorpusInput


@dataclasses.dataclass(frozen=True)
class NightInputs:
    """The input files of tonight, compared with the ledger.

    Attributes:
        entries: All entries by key, in the order of the configuration.
        groups: The files of each entry, by its key.
        new: Keys of entries whose content the table does not have.
        changed: The keys in ``new`` whose file names the ledger has with another content.
        moved: Keys of known entries whose files have other names now.
        touched: Keys of known entries whose files were rewritten with the same content.
        gone: Entries of the ledger whose content no longer exists.
        repeated: Names of files with the same content as another file of their corpus.
    """

    entries: Mapping[str, LedgerEntry]
    groups: Mapping[str, FileGroup]
    new: tuple[str, ...]
    changed: tuple[str, ...]
    moved: tuple[str, ...]
    touched: tuple[str, ...]
    gone: tuple[LedgerEntry, ...]
    repeated: tuple[str, ...]

    @property
    def changes_rows(self) -> bool:
        """Tell whether rows of a table may have to change."""
        return bool(self.new or self.gone)

    def without(self, keys: Collection[str]) -> "NightInputs":
        """Return the inputs without the new entries of these keys, as if not yet there."""
        return dataclasses.replace(
            self,
            entries={key: entry for key, entry in self.entries.items() if key not in keys},
            groups={key: group for key, group in self.groups.items() if key not in keys},
            new=tuple(key for key in self.new if key not in keys),
        )


def find(
    inputs: Sequence[CorpusInput],
    licences: Mapping[str, str | None],
    ledger: Sequence[LedgerEntry],
    *,
    full_check: bool,
) -> NightInputs:
    """Find the input files and compare them with the ledger.

    Args:
        inputs: The corpora, each with a name.
        licences: Licence of each corpus.
        ledger: Entries of the last night.
        full_check: Whether to read every file, even if its size and time are unchanged.

    Raises:
        InputError: A pattern matches nothing, or files cannot be read together.
    """
    by_names = {(entry.corpus, entry.names): entry for entry in ledger}
    by_key = {entry.key: entry for entry in ledger}
    entries: dict[str, LedgerEntry] = {}
    groups: dict[str, FileGroup] = {}
    repeated: list[str] = []
    touched: list[str] = []
    for group in locate(inputs):
        entry = _entry(group, licences, by_names, full_check=full_check)
        if entry.key in entries:
            repeated.extend(entry.names)
            continue
        known = by_key.get(entry.key)
        if known is not None:
            entry = entry.model_copy(update={"rows": known.rows})
            if known.names == entry.names and known.files != entry.files:  # written again
                touched.append(entry.key)
        entries[entry.key], groups[entry.key] = entry, group
    new = tuple(key for key in entries if key not in by_key)
    return NightInputs(
        entries=entries,
        groups=groups,
        new=new,
        changed=tuple(key for key in new if (entries[key].corpus, entries[key].names) in by_names),
        moved=tuple(
            key for key, e in entries.items() if key in by_key and by_key[key].names != e.names
        ),
        touched=tuple(touched),
        gone=tuple(entry for entry in ledger if entry.key not in entries),
        repeated=tuple(repeated),
    )


def _entry(
    group: FileGroup,
    licences: Mapping[str, str | None],
    by_names: Mapping[tuple[str, tuple[str, ...]], LedgerEntry],
    *,
    full_check: bool,
) -> LedgerEntry:
    """Return the entry of a group of files, which are read only if they may have changed."""
    corpus = str(group.corpus.name)
    source_lang, target_lang = group.langs()
    facts: Json = {
        "corpus": corpus,
        "source_lang": source_lang,
        "target_lang": target_lang,
        "licence": licences.get(corpus),
        "reading": reading_of(group.corpus),
    }
    more = {"gives_more": gives_more(group.corpus)}
    looks = [_look(file) for file in group.files]
    known = by_names.get((corpus, tuple(file.name for file in group.files)))
    if known is not None and not full_check and _seems_same(known, facts, looks):
        return known.model_copy(update=more)
    described = [
        {**look, "sha256": sha256_of(file.path)}
        for file, look in zip(group.files, looks, strict=True)
    ]
    content = [[file["role"], file["sha256"]] for file in described]
    key = digest_of(orjson.dumps([facts, content], option=orjson.OPT_SORT_KEYS))[:16]
    whole = {**facts, **more, "key": key, "files": described, "rows": 0}
    return LedgerEntry.model_validate(whole)


def _look(file: LocatedFile) -> Json:
    """Describe a file without reading it."""
    size, stamp = stamp_of(file.path)
    return {"role": file.role, "name": file.name, "bytes": size, "stamp": stamp}


def stamp_of(path: str) -> tuple[int, str]:
    """Return a file's size, and its modification time or its tag in a store."""
    if files.is_uri(path):
        version = object_stores.store_of(path).version(path)
        return version.size, str(version.tag)
    status = Path(path).stat()
    return status.st_size, str(status.st_mtime_ns)


def _seems_same(known: LedgerEntry, facts: Json, looks: list[Json]) -> bool:
    if any(getattr(known, name) != value for name, value in facts.items()):
        return False
    return [file.model_dump(exclude={"sha256"}) for file in known.files] == looks


def reading_of(corpus: CorpusInput) -> str:
    """Return a digest of how a corpus is read, without the places of its files."""
    left_out = {*input_keys(), "name", "run", "source_lang", "target_lang"}
    facts = {k: v for k, v in dataclasses.asdict(corpus).items() if k not in left_out}
    data = orjson.dumps(facts, option=orjson.OPT_SORT_KEYS, default=list)
    return digest_of(data)[:16]
