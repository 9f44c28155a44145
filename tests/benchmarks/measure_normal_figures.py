"""Measure what is normal of clean news and of text from the web, for the reports of runs.

    python -m tests.benchmarks.measure_normal_figures ../shared/data build/normal_figures

runs `augment`, `align` and `filter` with their default options on WMT news from English to German
and French, and on pairs that were mined from the web, with the aligner that was fitted on the news;
and `suggest` on news that Google translated. What their manifests count goes into
``transforms/report/normal_figures.json``. ``--jobs`` measures some of these and keeps the figures
of the others.
"""

import argparse
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from pairweave.transforms.counts.histograms import HISTOGRAMS
from pairweave.transforms.report.normal_figures import FIGURES
from tests.makers.hmm_corpora import SHUFFLED

TEXTS = {
    "news": "WMT news, English to German and French",
    "web": "pairs mined from Wikipedia, English to French (REFreSD)",
    "translations": "WMT news of 2016 to 2018, English to German, translated by Google",
}
JOBS = ("augment", "align", "filter", "suggest")
YEARS = (16, 17, 18)


def write_texts(data: Path, work: Path) -> None:
    """Write the corpora and the options of all texts."""
    for side in ("en", "fr"):
        news = gzip.decompress((data / f"parallel/newstest.en-fr.{side}.gz").read_bytes())
        lines = news.decode().split("\n")
        kept = [line for n, line in enumerate(lines) if n not in SHUFFLED]
        (work / f"news.en-fr.{side}").write_text("\n".join(kept), encoding="utf-8")
    rows = (data / "filter/refresd-dev.tsv").read_text("utf-8").splitlines()
    for place, side in ((-2, "en"), (-1, "fr")):
        texts = [row.split("\t")[place] for row in rows]
        (work / f"web.{side}").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    german = str((data / "parallel/newstest.en-de").resolve())
    corpora = {
        "news": {"en-de": (german, ".gz", "de"), "en-fr": (f"{work}/news.en-fr", "", "fr")},
        "web": {"en-fr": (f"{work}/web", "", "fr")},
    }
    for text, names in corpora.items():
        rows_of = [
            {
                "corpus": name,
                "source_input": f"{path}.en{end}",
                "target_input": f"{path}.{lang}{end}",
                "target_lang": lang,
            }
            for name, (path, end, lang) in names.items()
        ]
        options = {"source_lang": "en", "target_lang": "de", "corpora": rows_of}
        (work / f"{text}.yaml").write_text(json.dumps(options), encoding="utf-8")
    sides = {"source_input": "src", "target_input": "ref", "translation_input": "mt.google"}
    triples = (data / "triples/en-de").resolve()
    translated = {
        option: [f"{triples}/wmt{year}.{side}.gz" for year in YEARS]
        for option, side in sides.items()
    }
    translated |= {"source_lang": "en", "target_lang": "de"}
    (work / "translations.yaml").write_text(json.dumps(translated), encoding="utf-8")


def measured(job: str, text: str, work: Path, *options: str) -> dict[str, Any]:
    """Run a job on a text, and return what its manifest counts."""
    output = work / f"{job}-{text}"
    command = [sys.executable, "-m", "pairweave.pipelines.cli", job]
    command += ["--config", str(work / f"{text}.yaml"), "--output", str(output), *options]
    subprocess.run(command, check=True)
    manifest = json.loads((output / "_manifest.json").read_text("utf-8"))
    histograms = {}
    for name, histogram in manifest["histograms"].items():
        groups = histogram["counts"]
        summed = [sum(bars) for bars in zip(*groups.values(), strict=True)]
        histograms[name] = groups if HISTOGRAMS[name].by == "method" else summed
    return {
        "rows": manifest["rows"],
        "rejected": manifest["rejected"],
        "counts": manifest["counts"],
        "histograms": histograms,
    }


def main() -> None:
    """Measure all figures, and write the file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=JOBS)
    given = parser.parse_args()
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    write_texts(given.data, work)
    if not FIGURES.exists():  # the runs make reports, too
        FIGURES.write_text('{"jobs":{},"texts":{}}', "utf-8")
    figures = json.loads(FIGURES.read_text("utf-8"))["jobs"]
    model: tuple[str, ...] = ()
    for job in (name for name in JOBS if name in given.jobs):
        texts = ("translations",) if job == "suggest" else ("news", "web")
        figures[job] = {}
        for text in texts:
            figures[job][text] = measured(job, text, work, *(() if job == "suggest" else model))
            if not model and text == "news":
                model = ("--model", str(work / f"{job}-news" / "models" / "hmm"))
    document = {"texts": TEXTS, "jobs": figures}
    FIGURES.write_text(json.dumps(document, separators=(",", ":"), sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
