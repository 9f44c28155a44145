"""One night: from the input files to one new version of each table that changes."""

import dataclasses
import functools
import itertools
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from pairweave.pipelines.process.log import utc
from pairweave.pipelines.refresh import (
    gates,
    inner_runs,
    ledger_table,
    night_metrics,
    remaking,
    table_schemas,
)
from pairweave.pipelines.refresh.assembly import (
    PROVENANCE_ROWS,
    REJECTED_ROWS,
    Assembled,
    StaleError,
    Target,
    assemble,
)
from pairweave.pipelines.refresh.chain import inner_notes, kept_models, records, tables
from pairweave.pipelines.refresh.chain.new_links import linked
from pairweave.pipelines.refresh.chain.record_parts import LedgerEntry
from pairweave.pipelines.refresh.chain.records import Json, Record
from pairweave.pipelines.refresh.chain.table_names import FILES, PROVENANCE, REJECTS
from pairweave.pipelines.refresh.file_ledger import NightInputs
from pairweave.pipelines.refresh.forgetting import tombstone_files
from pairweave.pipelines.refresh.forgetting.pair_places import Places
from pairweave.pipelines.refresh.forgetting.table_texts import HIDDEN_TARGETS
from pairweave.pipelines.refresh.forgetting.takedown import Holdings, take_down
from pairweave.pipelines.refresh.forgetting.withdrawal import Change, withdraw, withdrawn
from pairweave.pipelines.refresh.inner_runs import InnerRun, Request
from pairweave.pipelines.refresh.ledger_table import FILE_ROWS
from pairweave.pipelines.refresh.likelihood import mean_likelihood
from pairweave.pipelines.refresh.night_config import NightConfig
from pairweave.pipelines.refresh.refresh_options import RefreshOptions
from pairweave.transforms.config import pick
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.known_pairs import NO_IDS, IdSet, Tombstones
from pairweave.transforms.storage import files
from pairweave.transforms.units import ReadLimits


@dataclasses.dataclass(frozen=True)
class ReadyNight:
    """A night that is ready to be committed.

    Attributes:
        record: Its record.
        failed: The gates that it fails.
        samples: A few rejected rows for each reason, to show to the user.
        runs: The runs that its rows come from.
    """

    record: Record
    failed: list[Json]
    samples: Mapping[str, list[dict[str, object]]]
    runs: list[InnerRun]


_COLUMNS = {FILES: FILE_ROWS, PROVENANCE: PROVENANCE_ROWS, REJECTS: REJECTED_ROWS}
"""The columns of each table, except that of the job's rows."""


class Night:
    """The work of one night."""

    def __init__(
        self,
        config: NightConfig,
        options: RefreshOptions,
        base: Record | None,
        inputs: NightInputs,
        extra: Sequence[str],
    ) -> None:
        """Compare the inputs with the current tables; the job is not run yet.

        Args:
            config: The configuration.
            options: Options of the command.
            base: The record of the last night, if there was one.
            inputs: The input files of tonight.
            extra: The user's Beam options.
        """
        self._config, self._options, self._base = config, options, base
        self._extra = extra
        self._started = time.time()
        self._table = options.output
        self._anew = base is None or options.migrate
        if self._anew:
            inputs = dataclasses.replace(inputs, new=tuple(inputs.entries), gone=())
        self._inputs = inputs
        self._night = 1 if base is None else base.night + 1
        names = (config.main, PROVENANCE, REJECTS, FILES)
        self._current = {name: tables.current(self._table, name, base) for name in names}
        self._places = Places(self._table, self._current[PROVENANCE])
        self._before = self._places.ids()
        self._remade, self._read_again = self._to_remake()
        self._models = {} if base is None or options.migrate else dict(base.models)
        self._fitted = {
            pair: base.fitted[pair] for pair in self._models if base and pair in base.fitted
        }
        self._stones, self._taken_ids = self._take_down()
        self._taken = IdSet.of(pa.array(self._taken_ids, pa.string()))

    def _to_remake(self) -> tuple[IdSet, set[str]]:
        """Return the pairs to make anew, and the keys of the files to read again for them."""
        gone = {entry.key for entry in self._inputs.gone}
        config = self._config
        if self._anew or not gone:
            return NO_IDS, set()
        if not remaking.depends_on_corpus(config.inputs, self._inputs.gone):
            return NO_IDS, set()
        limits = pick(ReadLimits, config.options)
        arriving = {
            str(corpus.name): functools.partial(remaking.pairs_in, corpus, limits)
            for corpus in inner_runs.arriving(self._inputs)
        }
        rows = config.main, self._current[config.main]
        joined = config.job == "filter"  # of equal pairs, it keeps the best score
        remade, again = remaking.to_remake(self._places, rows, gone, arriving, joined=joined)
        new = (key for key in self._inputs.entries if key in again or key in self._inputs.new)
        self._inputs = dataclasses.replace(self._inputs, new=tuple(new))
        return remade, again

    def _take_down(self) -> tuple[Tombstones, list[str]]:
        """Return all tombstones, and the ids that are taken down tonight."""
        stones = tombstone_files.read(self._table, self._base)
        other, path = self._options.tombstones_of, self._options.takedown
        if other is not None:
            stones = stones.joined(tombstone_files.read(other, records.existing(other, alone=True)))
        if path is None:
            return stones, []
        config = self._config
        hidden = config.main in HIDDEN_TARGETS
        held = Holdings(
            main=config.main,
            settings=config.settings if self._base is None else self._base.settings,
            current=self._current,
            places=self._places,
            stones=stones,
            inputs=config.inputs if hidden else inner_runs.arriving(self._inputs),
            limits=pick(ReadLimits, config.options),
        )
        return take_down(path, held, everywhere=self._options.everywhere)

    def launches(self) -> list[inner_runs.Launch]:
        """Return the unfinished jobs of the night, prepared to be started elsewhere."""
        return inner_runs.launches(self._table, self._requests())

    def late(self) -> set[str]:
        """Return the keys of new files that arrived after the night's jobs were prepared.

        Raises:
            WorkerError: They cannot be left for the next night, or a prepared job does not fit.
        """
        keys = inner_runs.late(self._table, self._requests())
        held = set() if self._base is None else {entry["key"] for entry in self._base.files}
        nothing_left = self._base is None and keys >= set(self._inputs.new)
        if keys and (nothing_left or not keys.isdisjoint({*held, *self._inputs.changed})):
            raise inner_runs.not_prepared(self._table)
        return keys

    def make(self) -> ReadyNight:
        """Run the job on the new files, write the files of the tables, and judge the result."""
        if self._base is not None and self._models:
            kept_models.require_whole(self._table, self._base)
        requests = self._requests()
        runs = [self._run(request, fresh=False) for request in requests]
        columns = self._columns(runs, requests)
        assembled: list[Assembled] = []
        with tempfile.TemporaryDirectory(prefix="spill-", dir=self._scratch()) as scratch:
            for number, request in enumerate(requests):
                target = Target(self._table, self._config.main, columns, request.known, self._night)
                below = Path(scratch, str(number))
                try:
                    assembled.append(_assembled(runs[number], request, target, below / "first"))
                except StaleError:
                    runs[number] = self._run(request, fresh=True)
                    assembled.append(_assembled(runs[number], request, target, below / "again"))
                self._keep_model(runs[number], request, assembled[-1])
        changes, removed, lost = self._changes(assembled)
        metrics = night_metrics.measure(
            self._inputs,
            assembled,
            before=len(self._before),
            removed=removed,
            lost=lost,
            seconds=time.time() - self._started,
        )
        findings = sum(map(inner_runs.findings_of, runs, requests), Counter())
        if findings:
            metrics["new"]["findings"] = dict(sorted(findings.items()))
        if self._config.gates.ask_likelihood:
            metrics["new"]["likelihood"] = self._likelihoods(runs, requests)
        record = self._record(assembled, changes, metrics, columns)
        samples = {
            reason: rows for run_result in assembled for reason, rows in run_result.samples.items()
        }
        return ReadyNight(record, gates.failed(record.gates), samples, runs)

    def _scratch(self) -> Path | None:
        """Return a local directory for temporary files; None for the command's own.

        It is inside a table on a disk, where `vacuum` finds what a killed night left.
        """
        if files.is_uri(self._table):
            return None
        place = Path(self._table, inner_notes.RUNS)
        place.mkdir(parents=True, exist_ok=True)
        return place

    def _requests(self) -> list[Request]:
        """Return the files that the job must read, by languages."""
        # Pairs taken down tonight must not come back through another corpus in the same night.
        stones = self._stones.joined(Tombstones(dict.fromkeys(self._taken_ids), {}))
        known = NO_IDS if self._anew else self._before.without(self._remade)
        by_languages: dict[tuple[str, str], list[str]] = {}
        for key in self._inputs.new:
            by_languages.setdefault(self._inputs.entries[key].languages, []).append(key)
        requests = []
        for languages, keys in by_languages.items():
            place = self._models.get("-".join(languages))
            model = None
            if place is not None:
                model = kept_models.option_of(place), files.join(self._table, place)
            requests.append(
                Request(self._config, self._inputs, languages, tuple(keys), known, stones, model)
            )
        return requests

    def _run(self, request: Request, *, fresh: bool) -> InnerRun:
        return inner_runs.find_or_run(
            self._table,
            request,
            self._extra,
            fresh=fresh,
            may_start=not self._options.prepared_only,
        )

    def _keep_model(self, run: InnerRun, request: Request, assembled: Assembled) -> None:
        """Keep the model that a run fitted if the table has none for its languages."""
        if request.model is None:
            place = kept_models.keep(self._table, run.run, request.languages)
            if place is not None:
                self._models[request.pair] = place
                self._fitted[request.pair] = tables.rows_in(assembled.added[PROVENANCE])

    def _likelihoods(
        self, runs: Sequence[InnerRun], requests: Sequence[Request]
    ) -> dict[str, float]:
        """Return the mean likelihood of the new pairs by the aligner, by languages."""
        likelihoods = {}
        for run, request in zip(runs, requests, strict=True):
            place = self._models.get(request.pair)
            configured = self._config.values.get("model")
            model = configured if place is None else files.join(self._table, place)
            source = inner_runs.source_of(run, request)
            value = None if model is None else mean_likelihood(model, source)
            if value is not None:
                likelihoods[request.pair] = round(value, 6)
        return likelihoods

    def _columns(self, runs: Sequence[InnerRun], requests: Sequence[Request]) -> pa.Schema:
        """Return the columns of the job's table: its current ones, or those of all runs if new.

        Raises:
            ConfigError: A run has a column that the table lacks.
        """
        main = self._config.main
        columns_of_runs = [table_schemas.columns_of_run(run.run) for run in runs]
        if self._anew:
            return table_schemas.united(columns_of_runs, main)
        columns = table_schemas.at_version(self._table, main)
        for each, request in zip(columns_of_runs, requests, strict=True):
            place = files.join(self._table, main)
            table_schemas.require_columns(each, columns, request.pair, place)
        return columns

    def _changes(self, assembled: Sequence[Assembled]) -> tuple[dict[str, Change], int, int]:
        """Return each table's changes, the number of pairs removed, and of those lost for good."""
        changes = {name: Change() for name in self._current}
        places = [entry for run_result in assembled for entry in run_result.added[PROVENANCE]]
        added = Places(self._table, places)
        if self._anew:
            removed, lost = len(self._before), len(self._before.without(added.ids()))
        else:
            gone = {entry.key for entry in self._inputs.gone} | self._read_again
            going = withdrawn(self._places, gone, self._taken, added)
            leaving = going.and_rows_of(self._remade)
            main = self._config.main
            changes |= withdraw(self._table, main, self._current, leaving, gone, self._taken)
            removed, lost = len(leaving.pairs), len(going.pairs)
        for run_result in assembled:
            for name, entries in run_result.added.items():
                changes[name].add.extend(entries)
        old = self._current[FILES]
        changes[FILES] = ledger_table.change_of(self._table, self._entries(assembled), old)
        return changes, removed, lost

    def _entries(self, assembled: Sequence[Assembled]) -> list[LedgerEntry]:
        rows = {key: count for run_result in assembled for key, count in run_result.read.items()}
        return [
            entry.model_copy(update={"rows": rows.get(entry.key, entry.rows)})
            for entry in self._inputs.entries.values()
        ]

    def _is_changed(self, name: str, change: Change) -> bool:
        """Tell whether a table gets a new version.

        When a table is made anew, only `FILES` can keep its file: the rows of other tables contain
        the number of the night.
        """
        if self._base is None:
            return True
        return bool(change) or (self._anew and name != FILES)

    def _record(
        self,
        assembled: Sequence[Assembled],
        changes: Mapping[str, Change],
        metrics: Json,
        columns: pa.Schema,
    ) -> Record:
        versions = {} if self._base is None else dict(self._base.versions)
        changed: dict[str, Json] = {}
        for name, change in changes.items():
            if self._is_changed(name, change):
                changed[name] = change.to_json()
                versions[name] = versions.get(name, -1) + 1
                if self._anew:
                    schema = tables.schema_of(_COLUMNS.get(name, columns), name)
                    changed[name]["schema"] = tables.schema_text(schema)
        base = self._base
        compared = [] if base is None else _metrics_before(self._table, base, self._config)
        record = Record(
            night=self._night,
            operation=self._operation(),
            when=utc(self._started),
            job=self._config.job,
            settings=self._config.settings,
            models=self._models,
            files=[entry.model_dump() for entry in self._entries(assembled)],
            tombstones=tombstone_files.write(self._table, self._stones),
            tables=changed,
            versions=versions,
            metrics=metrics,
            gates=gates.judge(self._config.gates, metrics, compared, anew=self._anew),
            accepted=self._options.accept,
            fitted=self._fitted,
        )
        return linked(self._table, record, base, self._current)

    def _operation(self) -> str:
        if self._options.migrate and self._base is not None:
            return "refit" if self._options.refit else "migrate"
        return "refresh" if self._options.takedown is None else "takedown"


def _assembled(run: InnerRun, request: Request, target: Target, scratch: Path) -> Assembled:
    return assemble(inner_runs.source_of(run, request), target, scratch)


def _metrics_before(table: str, base: Record, config: NightConfig) -> list[Json]:
    """Return the metrics of earlier nights that used the same settings as tonight."""
    nights = itertools.islice(records.back_from(table, base), 3 * config.gates.nights)
    same = itertools.takewhile(lambda record: record.settings == config.settings, nights)
    return [record.metrics for record in same]


def overtaken(table: str) -> WorkerError:
    """Return the error for a night during which another one was committed."""
    return WorkerError(
        f"{table}: another night was committed by another refresh while this one ran, so this one "
        "committed nothing; run the same command again: what it has made is kept and used"
    )


def commit(table: str, ready: ReadyNight) -> None:
    """Commit a night: create its record, then apply it to the tables.

    Raises:
        WorkerError: Another night was committed in the meantime, or the record could not be
            applied, so it is not created.
    """
    try:
        tables.check(table, ready.record)
    except WorkerError as error:
        if ready.record.night in records.numbers(table):
            raise overtaken(table) from error
        raise
    if not records.create(table, ready.record):
        raise overtaken(table)
    tables.apply(table, ready.record)
    for run in ready.runs:
        inner_runs.delete(run)
