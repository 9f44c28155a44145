"""The command ``evaluate``: results against gold data, by the field's metrics."""

import sys
from collections.abc import Sequence
from pathlib import Path

from pipelines import evaluate_tags, flags
from pipelines.options import EvaluateLinksOptions
from transforms.errors import ConfigError
from transforms.link_metrics import evaluate_links


def main(_name: str, arguments: Sequence[str]) -> int:
    """Run the command from its command line."""
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(
            "usage: pairweave evaluate links HYPOTHESIS GOLD [--one_based]\n"
            "       pairweave evaluate tags HYPOTHESIS REFERENCE [--source SOURCE]\n"
            "       pairweave evaluate judgements --sample RUN --output SHEET\n"
            "       pairweave evaluate judgements --sheets SHEET ...\n"
        )
        return 0 if arguments else 2
    if arguments[0] in ("tags", "judgements"):
        command = evaluate_tags.main if arguments[0] == "tags" else evaluate_tags.judgements
        return command(arguments[1:])
    if arguments[0] != "links":
        raise ConfigError(f"cannot evaluate {arguments[0]!r}; there are: links, tags, judgements")
    options, _ = flags.parse(
        EvaluateLinksOptions,
        "pairweave evaluate links",
        "alignment error rate, precision and recall of links (Och and Ney 2003)",
        arguments[1:],
        beam=False,
    )
    scores = evaluate_links(Path(options.hypothesis), Path(options.gold), options.one_based)
    sys.stdout.write(f"{scores.render()}\n")
    return 0
