"""AER of the attention that `ablate` wrote for the Hansards, by arm, method and layer.

usage: python -m tests.benchmarks.ablation.attention_errors ABLATION/ ALIGN/

Prints the mean and standard deviation over the seeds: of each layer, and of the mean of them
(the layer average baseline of Ryu et al. 2022, section 3.3).
"""

import collections
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path


def measured(directory, align, file):
    """Return what `evaluate aligners` measures for each method and layer of a file of attention."""
    command = [
        *(sys.executable, "-m", "pairweave.pipelines.cli", "evaluate", "aligners"),
        *("--pairs", align / "enfr.src-tgt", "--gold", align / "enfr.gold", "--one_based", "true"),
        *("--heuristic", "intersection", "--source_lang", "en", "--target_lang", "fr"),
        *("--aligners", f"attention:{file}:layer=all:method=all:pieces={directory}/vocabulary.spm"),
    ]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out.splitlines()[-1])["aligners"]


def main(directory, align):
    """Print the table."""
    directory, align = Path(directory), Path(align)
    errors = collections.defaultdict(list)
    for file in sorted(directory.glob("attention/*/hansards.npz")):
        arm, _, _ = file.parent.name.rpartition("-")
        by_method = collections.defaultdict(list)
        for row in measured(directory, align, file):
            layer, method = re.search(r":layer=(\d+):method=(\w+)", row["aligner"]).groups()
            errors[arm, method, f"layer {layer}"].append(100 * row["aer"])
            by_method[method].append(100 * row["aer"])
        for method, values in by_method.items():
            errors[arm, method, "mean of layers"].append(statistics.mean(values))
    for (arm, method, layer), values in errors.items():
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        print(f"{arm}\t{method}\t{layer}\t{statistics.mean(values):.2f} ± {spread:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
