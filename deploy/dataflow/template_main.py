"""The program that the Flex Template's launcher starts, with the template's parameters as flags.

It sends the job named by ``--job`` to Dataflow and returns; the job commits its run itself.
"""

import sys

from pairweave.pipelines.cli import main


def command(flags: list[str]) -> list[str]:
    """Return the command line of a launch.

    >>> command(["--job=align", "--output=gs://b/out", "--region=europe-west4"])[:3]
    ['align', '--engine=dataflow', '--wait=false']

    Raises:
        SystemExit: No job is named.
    """
    jobs = [flag.partition("=")[2] for flag in flags if flag.startswith("--job=")]
    if not jobs:
        sys.exit("pairweave: --job=NAME is missing; it names the job of the template")
    others = [flag for flag in flags if not flag.startswith("--job=")]
    return [jobs[0], "--engine=dataflow", "--wait=false", *others]


if __name__ == "__main__":
    sys.exit(main(command(sys.argv[1:])))
