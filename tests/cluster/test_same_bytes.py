"""The whole output has the same digest on every engine, with any workers, after any failure."""

import functools
import json

import pytest

from tests.cluster.conftest import ready
from tests.makers import corpora, documents, runs, suggesting

COMMON = ("--source_lang", "en", "--target_lang", "de")
PUBLISHED = ("augment", "suggest", "suggest_ter", "filter", "bitext")
SHARDS = 13

pytestmark = pytest.mark.slow


def pairs(directory, count):
    """Write a corpus; return what names it."""
    corpora.write_corpus(directory, count)
    return "--source_input", directory / "corpus.en", "--target_input", directory / "corpus.de"


def triples(directory, count):
    """Write a corpus with translations; return what names it."""
    suggesting.write_triples(directory, count)
    return (
        *("--source_input", directory / "corpus.en", "--target_input", directory / "corpus.de"),
        *("--translation_input", directory / "corpus.mt"),
    )


def linked_pairs(directory, count):
    """Write a corpus and links: crossing ones, none where a side is blank, one out of range."""
    named = pairs(directory, count)
    sides = [(directory / f"corpus.{name}").read_bytes().splitlines() for name in ("en", "de")]
    lines = []
    for number, (source, target) in enumerate(zip(*sides, strict=True)):
        rows, columns = len(source.split()), len(target.split())
        links = [(row, (3 * row + number) % columns) for row in range(rows) if columns]
        lines.append(" ".join(f"{row}-{column}" for row, column in links))
    lines[1] = "0-99"
    (directory / "F.align").write_text("".join(f"{line}\n" for line in lines))
    return *named, "--links", directory / "F.align"


def document_pairs(directory, count):
    """Write three documents of so many sentences in all, and parallel text; name them."""
    documents.write_documents(directory, (count // 2, count // 4, count // 4))
    for side, name in enumerate(("en", "de")):
        lines = (corpora.sentence(number)[side] for number in range(300))
        (directory / f"parallel.{name}").write_text("".join(f"{line}\n" for line in lines))
    return (
        *("--source_input", directory / "[0-9].en", "--target_input", directory / "[0-9].de"),
        *("--parallel_source_input", directory / "parallel.en"),
        *("--parallel_target_input", directory / "parallel.de"),
    )


def documents_alone(directory, count):
    """Write two documents of so many sentences in all; name them."""
    return document_pairs(directory, 2 * count)[:4]


def pairs_and_earlier(directory, count):
    """Write a corpus and an earlier one with half of its pairs; name them."""
    lines = ["\t".join(corpora.sentence(number)) for number in range(0, count, 2)]
    (directory / "earlier.tsv").write_text("".join(f"{line}\n" for line in lines))
    return *pairs(directory, count), "--earlier", directory / "earlier.tsv"


def encoded_pairs(directory, count):
    """Write a corpus and a small encoder with a language model head; name them."""
    pytest.importorskip("torch", reason="needs the extra `neural`")
    from tests.makers.encoders import write_xlmr

    texts = [text for number in range(60) for text in corpora.sentence(number)]
    write_xlmr(directory / "encoder", texts, masked=True, vocabulary=300)
    return *pairs(directory, count), "--encoder", directory / "encoder"


LARGE = ("--shard_pairs", "100", "--unit_rows", "150", "--variants", "2")
NEAR = ("--duplicates", "near", "--near_threshold", "0.6", "--select_share", "0.5")
NEURAL = ("--shard_pairs", "40", "--unit_rows", "50", "--select_share", "0.5", "--scorer")
ANNOTATED = ("--annotate_only", "--duplicates", "exact")
GIVEN = (
    *("--tokens", "whitespace", "--aligner", "given"),
    *("--unit_rows", "50", "--shard_pairs", "40"),
)
JOBS = {
    "augment": (("augment", *LARGE), pairs, 1_200),
    "suggest": (("suggest", *LARGE, "--aligner", "hmm"), triples, 1_200),
    "suggest_ter": (("suggest", *LARGE, "--aligner", "ter", "--deletions"), triples, 1_200),
    "filter": (("filter", *LARGE[:4], "--select_words", "5000"), pairs, 1_200),
    "filter_share": (("filter", *LARGE[:4], "--select_share", "0.3", *ANNOTATED), pairs, 600),
    "filter_near": (("filter", *LARGE[:4], *NEAR), pairs_and_earlier, 600),
    "yisi2": (("filter", *NEURAL, "yisi2", "--lm_weight", "0.1"), encoded_pairs, 120),
    "margin": (("filter", *NEURAL, "margin"), encoded_pairs, 120),
    "fragments": (("augment", "--method", "fragment", "--mix", "0.5", *LARGE[:4]), pairs, 600),
    "bitext": (("bitext", "--shard_pairs", "30"), document_pairs, 160),
    "bitext_alone": (("bitext", "--shard_pairs", "30"), documents_alone, 160),
    "given_align": (("align", *GIVEN), linked_pairs, 240),
    "given_augment": (("augment", *GIVEN), linked_pairs, 240),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a function that gives a job's command, and its output on one worker."""

    @functools.cache
    def finish(job):
        directory = tmp_path_factory.mktemp(job)
        words, write, count = JOBS[job]
        command = (*words, *COMMON, *write(directory, count))
        runs.run_well_here(*command, "--output", directory / "out", "--workers", "1")
        return command, directory / "out"

    return finish


@pytest.fixture
def arguments(job, finished):
    return finished(job)[0]


@pytest.fixture
def expected(job, finished):
    return runs.tree_digest(finished(job)[1])


@pytest.mark.parametrize("job", PUBLISHED)
def test_the_digest_is_the_published_one(job, expected, golden_file):
    assert expected == golden_file(f"{job}.sha256", expected)


@pytest.mark.parametrize("job", ["given_align", "given_augment"])
def test_the_pair_of_a_wrong_link_is_rejected(job, finished):
    output = finished(job)[1]
    manifest = json.loads((output / "_manifest.json").read_text())
    assert manifest["rejected"]["link_out_of_range"] == 1
    assert len(list((output / "data").glob("part-*"))) > 3


# The other graphs have only steps that these have too, and each of these runs takes seconds. An
# encoder on Flink is in `test_encoder_engines.py`.
STEPS = ("augment", "suggest", "bitext", "filter_near")
ENGINES = [
    *(("prism", job) for job in (*STEPS, "filter", "yisi2", "margin")),
    *(("flink", job) for job in STEPS),
]


@pytest.mark.flink
@pytest.mark.parametrize(("engine", "job"), ENGINES)
def test_every_engine_writes_the_same_bytes(engine, arguments, expected, tmp_path):
    ready(engine)
    output = tmp_path / "out"
    assert runs.digest_of(arguments, output, "--engine", engine, "--workers", "2") == expected


MOMENTS = {
    "while reading": ("_receipts/unit-*.json", 1),
    "before the first shard": ("models/hmm/about.json", 1),
    "between shards": ("_receipts/shard-*.json", SHARDS // 2),
}
KILLED = [
    *(("augment", moment, 1 + number % 2) for number, moment in enumerate(MOMENTS)),
    ("suggest", "before the first shard", 1),
    ("suggest_ter", "while reading", 2),
    ("filter", "between shards", 1),
    ("filter", "while reading", 2),
    ("bitext", "between shards", 2),
]
"""Jobs, moments and numbers of workers."""


@pytest.mark.parametrize(("job", "moment", "workers"), KILLED)
def test_a_killed_run_that_is_repeated_writes_the_same_bytes(
    moment, workers, arguments, expected, tmp_path
):
    pattern, count = MOMENTS[moment]
    output = tmp_path / "out"
    command = (*arguments, "--output", output, "--workers", workers)
    killed = runs.kill_when(pattern, output, *command, count=count)
    assert killed, f"the run was over before it could be killed {moment}"
    assert not (output / "_manifest.json").exists()
    done = len(list((output / "_receipts").glob("shard-*.json")))
    runs.run_well(*command)
    assert runs.tree_digest(output) == expected
    assert json.loads((output / "_run.json").read_text())["shards_reused"] >= min(done, count)


OWN_FILES = {
    "yisi2": "_scored/receipt-*.json",
    "margin": "_scored/vectors-*.npz",
    "filter_near": "_scored/receipt-*.json",
    "bitext_alone": "models/hmm-half-0/about.json",
}


@pytest.mark.parametrize("job", OWN_FILES)
def test_a_run_killed_between_files_of_its_own_writes_the_same_bytes(
    job, arguments, expected, tmp_path
):
    output = tmp_path / "out"
    command = (*arguments, "--output", output, "--workers", "2")
    assert runs.kill_when(OWN_FILES[job], output, *command)
    assert not (output / "_manifest.json").exists()
    runs.run_well(*command)
    assert runs.tree_digest(output) == expected


# Those that are killed and repeated with two workers show it, too.
UNDISTURBED = [
    job
    for job in JOBS
    if job not in OWN_FILES and (job, 2) not in {(job, workers) for job, _, workers in KILLED}
]


@pytest.mark.parametrize("job", UNDISTURBED)
def test_two_workers_write_the_same_bytes(arguments, expected, tmp_path):
    assert runs.digest_of(arguments, tmp_path / "out", "--workers", "2") == expected


@pytest.mark.parametrize("job", ["augment", "bitext"])
def test_a_killed_worker_is_made_good_by_the_next_attempt(arguments, expected, tmp_path):
    output = tmp_path / "out"
    command = (*arguments, "--output", output, "--workers", "2", "--attempts", "2")
    process = runs.start(*command)
    runs.kill_a_worker_when(process, "_receipts/shard-*.json", output)
    _, errors = process.communicate(timeout=runs.SECONDS)
    assert process.returncode == 0, errors[-2000:]
    assert "attempt 1 failed" in errors
    assert runs.tree_digest(output) == expected
