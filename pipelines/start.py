"""Where the program begins: it answers signals first, and then imports the command line.

The imports take half a second or more on a busy machine, and a signal during that time would end
the program without a message.
"""

import sys

ELSEWHERE = (
    "pairweave: runs only on Linux, because it identifies its processes, locks and temporary files "
    "by what Linux says about processes; on macOS or Windows use a Linux container or WSL\n"
)


def main() -> int:
    """Run the command as `pairweave.pipelines.cli.main` does, and answer signals from the start."""
    if sys.platform != "linux":
        sys.stderr.write(ELSEWHERE)
        return 2
    from pairweave.pipelines.process.interrupt import answer_signals

    answer_signals()
    from pairweave.pipelines import cli

    return cli.main()
