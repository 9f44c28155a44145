"""The command ``check``: reports the problems of a corpus, with their places and remedies."""

import json
from collections.abc import Sequence

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.job_options.check_options import CheckOptions
from pairweave.pipelines.process import terminal, verbosity
from pairweave.pipelines.run.input_look import look_at_input
from pairweave.transforms.counted import counted
from pairweave.transforms.findings import KINDS, Finding
from pairweave.transforms.inspection.finding_text import finding_lines


@command()
def main(*, options: CheckOptions) -> int:
    """Look at the files of a command line; return the exit status."""
    plan, findings = look_at_input(options)
    for notice in plan.notices:
        if notice.code not in KINDS:  # other notices are findings
            terminal.warn(str(notice))
    if verbosity.current().log_format == "json":
        for finding in findings:
            terminal.say(json.dumps(finding.as_json(), ensure_ascii=False))
    else:
        _show(findings, plan.rows)
    refused = {finding.kind for finding in findings} & set(options.fail_on)
    return 1 if refused else 0


def _show(findings: Sequence[Finding], rows: int) -> None:
    for line in finding_lines(findings):
        terminal.say(line)
    what = counted(len(findings), "finding") if findings else "nothing found"
    terminal.say(f"{counted(rows, 'pair')} read: {what}")
