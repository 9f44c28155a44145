"""AER of the attention that `ablate` wrote for the Hansards, by arm, method and layer.

usage: python -m tests.benchmarks.ablation.attention_errors measure ABLATION/ ALIGN/ >ERRORS.jsonl
       python -m tests.benchmarks.ablation.attention_errors table <ERRORS.jsonl

The first command writes a line for each model, method and layer: a small file that can be kept,
where the attention itself has 19 MB for each model. The second prints the mean and standard
deviation over the seeds: of each layer, and of the mean of them (the layer average baseline of Ryu
et al. 2022, section 3.3).
"""

import collections
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path


def errors_of(directory, align, file):
    """Return what `evaluate aligners` measures for each method and layer of a file of attention."""
    command = [
        *(sys.executable, "-m", "pairweave.pipelines.cli", "evaluate", "aligners"),
        *("--pairs", align / "enfr.src-tgt", "--gold", align / "enfr.gold", "--one_based", "true"),
        *("--heuristic", "intersection", "--source_lang", "en", "--target_lang", "fr"),
        *("--aligners", f"attention:{file}:layer=all:method=all:pieces={directory}/vocabulary.spm"),
    ]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out.splitlines()[-1])["aligners"]


def measure(directory, align):
    """Print a JSON object for each model, method and layer."""
    directory, align = Path(directory), Path(align)
    for file in sorted(directory.glob("attention/*/hansards.npz")):
        arm, _, seed = file.parent.name.rpartition("-")
        for row in errors_of(directory, align, file):
            layer, method = re.search(r":layer=(\d+):method=(\w+)", row["aligner"]).groups()
            facts = {name: row[name] for name in ("aer", "precision", "recall", "links")}
            named = {"arm": arm, "seed": int(seed), "method": method, "layer": int(layer)}
            print(json.dumps(named | facts), flush=True)


def table(lines):
    """Print the means over the seeds of what `measure` wrote."""
    models, errors = collections.defaultdict(list), collections.defaultdict(list)
    for row in map(json.loads, lines):
        model = row["arm"], row["method"], row["seed"]
        models[model].append(100 * row["aer"])
        errors[row["arm"], row["method"], f"layer {row['layer']}"].append(100 * row["aer"])
    for (arm, method, _), layers in models.items():
        errors[arm, method, "mean of layers"].append(statistics.mean(layers))
    for named, values in errors.items():
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        print(*named, f"{statistics.mean(values):.2f} ± {spread:.2f}", sep="\t")


if __name__ == "__main__":
    if sys.argv[1] == "measure":
        measure(*sys.argv[2:4])
    else:
        table(sys.stdin)
