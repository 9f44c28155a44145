"""The look at the input before the work, which finds problems, their places and remedies."""

import dataclasses

from pairweave.pipelines.parts.part import Part, Planning, Settled
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.finding_notices import (
    finding_notices,
    of_jobs,
    of_planning,
    of_start,
)
from pairweave.transforms.findings import Finding
from pairweave.transforms.inspection.look_options import LookOptions


@dataclasses.dataclass(frozen=True)
class Looked:
    """The results of the look.

    Attributes:
        findings: Its findings.
        told: The findings of which the job warns at its start; some of them are not notices of the
            run.
        rejected: First and last line of each stretch to reject, by unit.
    """

    findings: tuple[Finding, ...]
    told: tuple[Finding, ...]
    rejected: dict[int, list[tuple[int, int]]]


def _check_look(options: LookOptions) -> None:
    """Check that a job that is to reject findings also looks for them."""
    if options.misaligned == "reject" and options.check == "none":
        raise ConfigError(
            "--misaligned reject looks for the stretches of lines that it rejects, and "
            "--check none does not look: leave one of them out"
        )


def _plan_look(options: LookOptions, planning: Planning) -> Settled[Looked | None]:
    """Look at the input, or at blocks of its lines."""
    if options.check == "none":
        return Settled(None)
    # Imported here because it loads kernels.
    from pairweave.transforms.inspection.look import look_at_sample, sample_size

    # Rows of a finished run are in the order of their ids, and were looked at before.
    units = [
        unit for unit in planning.plan.units if unit.columns is None or not unit.columns.origin
    ]
    rows = sum(unit.rows for unit in units)
    everything = options.check == "all" or options.misaligned == "reject"
    sample = rows if everything else sample_size(rows)
    look = look_at_sample(units, planning.limits, sample)
    rejected = look.stretches if options.misaligned == "reject" else {}
    findings = (*of_planning(planning.plan.notices), *look.findings)
    if rejected:
        findings = tuple(each.rejected() for each in findings)
    told = (*of_jobs(findings), *of_start(findings, look.pairs))
    document = {"pairs": look.pairs, "findings": [each.as_json() for each in findings]}
    return Settled(
        Looked(findings, told, rejected),
        facts={"look": document},
        notices=tuple(finding_notices(of_jobs(findings))),
    )


LOOK = Part("look", _plan_look, check=_check_look)
"""The results of the look; without a look it is None, and its kernels are not loaded."""
