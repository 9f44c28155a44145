"""Where the program begins: it answers signals first, and then imports the command line.

The imports take half a second and more on a busy machine, and a signal of that time would end the
program without a word.
"""

from pairweave.pipelines.process.first_signals import answer_signals


def main() -> int:
    """Run the command; the same as `pairweave.pipelines.cli.main`, but for the first signals."""
    answer_signals()
    from pairweave.pipelines import cli

    return cli.main()
