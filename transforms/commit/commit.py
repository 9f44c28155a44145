"""The end of a run: everything is checked and counted, and the manifest is written last."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from pairweave.transforms.commit import dataset_card
from pairweave.transforms.commit.checking import check_part
from pairweave.transforms.commit.manifest import check_conservation, make_manifest
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.file_labels import file_labels
from pairweave.transforms.merged_notices import merged
from pairweave.transforms.output import attempt_marks
from pairweave.transforms.output.document_notices import (
    BandEdge,
    ExchangedSides,
    edge_notices,
    exchanged_notices,
)
from pairweave.transforms.output.documents.plan_model import read_plan
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.output.receipt_sums import ReceiptSums
from pairweave.transforms.output.run_files import (
    CARD,
    DATA,
    MANIFEST,
    PLAN,
    RECEIPTS,
    REJECTS,
    Json,
    file_entry,
    model_directories,
    to_json,
)
from pairweave.transforms.reading.damaged_characters import character_notices
from pairweave.transforms.report import exchanged_languages, run_samples
from pairweave.transforms.report import page as report_page
from pairweave.transforms.report.rejected_files import mostly_rejected
from pairweave.transforms.report.rejected_shares import share_notices
from pairweave.transforms.storage import files, hashed_files
from pairweave.transforms.units import names_of_input


def commit_run(
    output: str,
    extra_files: Mapping[str, bytes],
    *,
    allow_empty: bool = False,
    sums: ReceiptSums | None = None,
) -> Json:
    """Check that nothing was lost, then write the card, the report and, last, the manifest.

    Args:
        output: The run's directory, whose shards are all written.
        extra_files: Further files to write, by name.
        allow_empty: Whether a run may end with no pair kept.
        sums: The sums of all parts of the run, if they were checked already.

    Returns:
        The manifest.

    Raises:
        WorkerError: A receipt or file is missing or differs, or pairs do not add up.
        ConfigError: No pair was kept and that is not allowed.
    """
    manifest, sums = summarize(output, sums)
    kept = manifest["rows"]["kept"]
    if not kept and not allow_empty:
        read = manifest["rows"]["read"]
        if not read:
            raise ConfigError(
                f"{names_of_input(entry['name'] for entry in manifest['inputs'])}: no pair was "
                "read; give files with pairs, or --allow_empty"
            )
        raise ConfigError(
            f"no pair of {read} was kept ({_reasons_text(sums)}); see the "
            f"files under {files.join(output, REJECTS)}, or give --allow_empty"
        )
    # Where no pair passed the screen, or the rules of `filter`, there was nothing to fit on.
    fitted = kept and not manifest["configuration"].get("annotate_only")
    for model in read_plan(files.join(output, PLAN)).get("models", []):
        if fitted or files.exists(files.join(output, model, hashed_files.ABOUT)):
            manifest["files"].extend(_model_files(output, model))
    run = FinishedRun(output, manifest, checked=False)  # `summarize` has just checked the files
    samples = run_samples.gather(run, sums)
    looked_at = run_samples.first_rows(run, exchanged_languages.SAMPLE)
    said = _exchanged_by_look(manifest)
    manifest["notices"].extend(exchanged_languages.exchanged_notices(looked_at, said))
    card = dataset_card.render(manifest, samples.kept[0].rows[0] if samples.kept else None)
    for name, data in sorted({**extra_files, CARD: card.encode()}.items()):
        _add_file(output, manifest, name, data)
    page = report_page.render(manifest, sums, samples)
    _add_file(output, manifest, report_page.REPORT, page.encode())
    write_manifest(output, manifest)
    return manifest


def summarize(output: str, sums: ReceiptSums | None = None) -> tuple[Json, ReceiptSums]:
    """Check that no pair and no file of a run's shards was lost.

    Args:
        output: The run's directory.
        sums: The sums of all parts of the run, if they were checked already.

    Returns:
        The part of the manifest that follows from the shards, and the sums of their receipts.

    Raises:
        WorkerError: A receipt or file is missing or differs, or pairs do not add up.
    """
    plan = read_plan(files.join(output, PLAN))
    sums = check_part(output) if sums is None else sums
    check_conservation(plan, sums)
    places = mostly_rejected(plan, sums)
    manifest = make_manifest(plan, sums, places)
    run = FinishedRun(output, manifest, checked=False)  # `check_part` has just checked the files
    manifest["notices"] = [
        *manifest["notices"],
        *share_notices(run, sums, places),
        *_unit_notices(plan, sums.read),
    ]
    return manifest, sums


def _exchanged_by_look(manifest: Json) -> set[tuple[str, str]]:
    """Return the languages of files whose sides are exchanged, according to the look."""
    findings = manifest.get("look", {}).get("findings", ())
    exchanged = {each["file"] for each in findings if each["kind"] == "exchanged_languages"}
    labels = file_labels((entry["corpus"], entry["name"]) for entry in manifest["inputs"])
    corpora = [
        manifest["corpora"].get(corpus, {})
        for (corpus, _), label in labels.items()
        if label in exchanged
    ]
    return {(each.get("source_lang", ""), each.get("target_lang", "")) for each in corpora}


def _unit_notices(plan: Json, read: Mapping[int, Json]) -> list[str]:
    """Return notices on the facts that the receipts of units record."""
    units = plan["units"]
    characters = {unit: receipt.get("characters", {}) for unit, receipt in read.items()}
    edges = {
        unit: BandEdge(*receipt["band_edge"])
        for unit, receipt in read.items()
        if "band_edge" in receipt
    }
    exchanged = {
        unit: ExchangedSides(*receipt["exchanged_sides"])
        for unit, receipt in read.items()
        if "exchanged_sides" in receipt
    }
    # The plan of a document has the lines of both sides together, its receipt the beads.
    as_read = [{**unit, "rows": read[unit["index"]]["rows"]} for unit in units]
    notices = [
        *character_notices(as_read, characters, _files_of_sides(plan["inputs"])),
        *edge_notices(units, edges),
        *exchanged_notices(units, exchanged),
    ]
    return [str(notice) for notice in merged(notices)]


def _files_of_sides(inputs: list[Json]) -> dict[tuple[str, str], str]:
    """Return the file of each other side of line-parallel text, by its source's file and side."""
    partners, first = {}, ""
    for entry in inputs:
        if entry["role"] == "source":
            first = entry["name"]
        elif entry["role"] in ("target", "translation"):
            partners[first, entry["role"]] = entry["name"]
    return partners


def write_manifest(output: str, manifest: Json) -> None:
    """Commit a run: remove files of dead writers and failed attempts, then write the manifest."""
    attempt_marks.forget(output)
    files.delete_temporary(output)
    for directory in (DATA, REJECTS, RECEIPTS, *model_directories(output)):
        files.delete_temporary(files.join(output, directory))
    manifest["files"].sort(key=lambda entry: entry["name"])
    places = {each for entry in manifest["files"] for each in PurePosixPath(entry["name"]).parents}
    for place in sorted(places):  # the names of the files reach the disk before the manifest's
        files.sync_directory(files.join(output, *place.parts))
    files.write_bytes(files.join(output, MANIFEST), to_json(manifest))


def _add_file(output: str, manifest: Json, name: str, data: bytes) -> None:
    files.write_bytes(files.join(output, name), data)
    manifest["files"].append(file_entry(name, data))
    manifest["files"].sort(key=lambda entry: entry["name"])


def _reasons_text(sums: ReceiptSums) -> str:
    reasons = sorted(sums.reasons.items())
    return ", ".join(f"{reason} {rows}" for reason, rows in reasons)


def _model_files(output: str, directory: str) -> list[Json]:
    """Describe a model's files: ``about.json`` and the files it names, and no others."""
    path = files.join(output, directory)
    files.delete_temporary(path)
    return [
        file_entry(f"{directory}/{name}", data) for name, data in hashed_files.read(path).items()
    ]
