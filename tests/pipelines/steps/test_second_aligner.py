"""Two aligners at once: combined links and agreement."""

import json

import pyarrow.parquet as pq
import pytest

from pairweave.models.hmm import hmm_reference
from pairweave.transforms.links import aligner_agreement
from pairweave.transforms.links.aligner_agreement import Agreement
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.text.tokens import TokenConfig, add_tokens
from tests.makers import corpora, fake_programs, runs
from tests.makers.fake_programs import write_program

PAIRS = 150


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus, a fitted model, and what a program learned."""
    directory = tmp_path_factory.mktemp("second")
    corpora.write_corpus(directory, PAIRS)
    write_program(directory / "bin" / "fast_align", fake_programs.FAST_ALIGN)
    runs.run_well_here(*command("align", "first"), cwd=directory)
    program = ("--aligner", "external", "--program", "fast_align")
    program += ("--program_path", "bin/fast_align")
    runs.run_well_here(*command("align", "second", *program), cwd=directory)
    return directory


def command(job, output, *more, workers=1):
    return (
        *(job, "--source_input", "corpus.en", "--target_input", "corpus.de"),
        *("--source_lang", "en", "--target_lang", "de", "--shard_pairs", "50"),
        *("--workers", workers, "--output", output, *more),
    )


FAST_ALIGN = "fast_align:second/models/fast_align:path=bin/fast_align"


def links_by_id(output):
    return {
        row["id"]: {(link["source"], link["target"]) for link in row["links"]}
        for path in sorted(output.glob("data/part-*"))
        for row in pq.read_table(path).to_pylist()
    }


def manifest_of(output):
    return json.loads((output / "_manifest.json").read_text())


@pytest.mark.parametrize("way", ["intersection", "union"])
def test_the_links_of_both_are_joined_and_counted(directory, way):
    output = directory / way
    more = ("--second_aligner", FAST_ALIGN, "--combine", way)
    runs.run_well_here(*command("align", way, *more), cwd=directory)
    first, second = (links_by_id(directory / name) for name in ("first", "second"))
    join = {"intersection": set.intersection, "union": set.union}[way]
    assert links_by_id(output) == {pair: join(first[pair], second[pair]) for pair in first}
    counts = manifest_of(output)["counts"]
    assert counts[aligner_agreement.FIRST] == sum(map(len, first.values()))
    assert counts[aligner_agreement.SECOND] == sum(map(len, second.values()))
    both = sum(len(first[pair] & second[pair]) for pair in first)
    assert counts[aligner_agreement.BOTH] == both
    rate = 2 * both / (counts[aligner_agreement.FIRST] + counts[aligner_agreement.SECOND])
    assert 0 < rate < 1
    assert aligner_agreement.of_counts(counts).rate == pytest.approx(rate)
    report = (output / "report.html").read_text()
    assert "Agreement of the two aligners" in report
    assert f"{100 * rate:.2f}".rstrip("0").rstrip(".") + " %" in report


@pytest.mark.slow
def test_two_workers_write_the_same_bytes(directory):
    more = ("--second_aligner", FAST_ALIGN)
    for name, workers in (("one", 1), ("two", 2)):
        runs.run_well(*command("augment", name, *more, workers=workers), cwd=directory)
    digests = runs.tree_digests(directory / "one")
    assert digests == runs.tree_digests(directory / "two")
    assert aligner_agreement.of_counts(manifest_of(directory / "one")["counts"]) is not None


def test_an_aligner_agrees_with_itself_wholly(directory):
    more = ("--model", "first/models/hmm", "--second_aligner", "hmm:first/models/hmm")
    runs.run_well_here(*command("align", "itself", *more), cwd=directory)
    assert links_by_id(directory / "itself") == links_by_id(directory / "first")
    assert aligner_agreement.of_counts(manifest_of(directory / "itself")["counts"]).rate == 1.0


def test_the_plan_names_both_models_and_no_path(directory):
    more = ("--model", "first/models/hmm", "--second_aligner", FAST_ALIGN)
    runs.run_well_here(*command("align", "both", *more), cwd=directory)
    text = (directory / "both" / "_plan.json").read_text()
    assert str(directory) not in text
    assert "bin/fast_align" not in text
    plan = json.loads(text)
    settings = plan["configuration"]
    model = hmm_reference.find(str(directory / "first" / "models" / "hmm"))
    assert settings["model"] == model.digest
    assert len(settings["second_model"]) == 64
    assert settings["second_model"] != settings["model"]
    assert (settings["second_aligner"], settings["combine"]) == ("fast_align", "intersection")
    for name in ("model", "second_model"):
        assert f"{name}:{settings[name][:12]}|" in plan["signature"]


def test_one_aligner_alone_says_nothing_of_agreement(directory):
    manifest = manifest_of(directory / "first")
    assert aligner_agreement.of_counts(manifest["counts"]) is None
    assert "agree" not in (directory / "first" / "report.html").read_text()
    assert not {"second_aligner", "combine"} & manifest["configuration"].keys()


def test_an_encoder_is_a_second_aligner(directory):
    pytest.importorskip("torch", reason="needs the extra `neural`")
    from pairweave.models.encoder.encoder_config import EncoderConfig
    from pairweave.models.encoder.neural import load_aligner
    from tests.makers.encoders import write_bert
    from tests.makers.token_tables import token_table

    sides = list(zip(*map(corpora.sentence, range(PAIRS)), strict=True))
    write_bert(directory / "bert", [*sides[0], *sides[1]], layers=2)
    more = ("--model", "first/models/hmm", "--second_aligner", "encoder:bert:layer=2")
    runs.run_well_here(*command("align", "neural", *more, "--combine", "union"), cwd=directory)
    rows = [
        row
        for path in sorted((directory / "neural").glob("data/part-*"))
        for row in pq.read_table(path).to_pylist()
    ]
    table = token_table([(row["source"], row["target"]) for row in rows])
    table = add_tokens(table.drop_columns(["source_tokens", "target_tokens"]), TokenConfig())
    linked = load_aligner(EncoderConfig(str(directory / "bert"), layer=2)).align(table)
    second = symmetrize(linked, SymmetrizeConfig("grow-diag")).column("links").to_pylist()
    first = links_by_id(directory / "first")
    actual = links_by_id(directory / "neural")
    for row, links in zip(rows, second, strict=True):
        expected = first[row["id"]] | {(link["source"], link["target"]) for link in links}
        assert actual[row["id"]] == expected


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--combine", "union"), "give --second_aligner"),
        (("--second_aligner", "berkeley"), "expected one of hmm, encoder, product, fast_align"),
        (("--second_aligner", "hmm"), "needs a fitted model"),
        (("--second_aligner", "hmm:no_such_directory"), "no fitted aligner there"),
        (("--second_aligner", "encoder"), "needs a model"),
        (("--second_aligner", "fast_align:path=bin/fast_align"), "learned in an earlier run"),
        (("--second_aligner", "eflomal"), "takes no seed"),
        (("--second_aligner", "hmm:first/models/hmm:layer=8"), "unknown setting layer"),
        (("--second_aligner", FAST_ALIGN, "--tokens", "sentencepiece"), "tokens of the first"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_written(directory, more, message):
    status, _, errors = runs.run_here(*command("align", "nothing", *more), cwd=directory)
    assert status == 2
    assert message in errors
    assert not (directory / "nothing").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--draw", "confident"), "or --second_aligner"),
        (("--min_confidence", "0.5"), "or --second_aligner"),
        (("--method", "fragment"), "does not take --second_aligner"),
    ],
)
def test_augment_refuses_what_would_leave_the_second_aligner_out(directory, more, message):
    given = ("--model", "first/models/hmm", "--second_aligner", "hmm:first/models/hmm", *more)
    status, _, errors = runs.run_here(*command("augment", "nothing", *given), cwd=directory)
    assert status == 2
    assert message in errors
    assert not (directory / "nothing").exists()


def test_agreement_adds_up_over_shards():
    parts = [Agreement(4, 6, 3), Agreement(0, 0, 0), Agreement(2, 0, 0)]
    assert sum(parts, Agreement()) == Agreement(6, 6, 3)
    assert sum(parts, Agreement()).rate == 0.5
    assert (
        aligner_agreement.of_counts({aligner_agreement.FIRST: 1, aligner_agreement.SECOND: 1})
        is None
    )
