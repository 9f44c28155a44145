"""Given links: read, kept through shuffle and screen, refused if invalid."""

import gzip
import io
import json
import re
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sentencepiece
import yaml
import zstandard

from pairweave.pipelines.aligners.given import Given
from pairweave.transforms import schemas
from pairweave.transforms.links.given_links import link_rows
from pairweave.transforms.shards.merge import merge_rows
from pairweave.transforms.text.tokens import TokenConfig, add_tokens
from pairweave.transforms.units import CorpusInput
from tests.makers import runs
from tests.makers.rows import batch, pair, row

LINES = 60


def texts_of(count=LINES):
    """Return pairs of some words each, and links that no aligner would guess."""
    source = [" ".join(f"s{line}w{word}" for word in range(2 + line % 5)) for line in range(count)]
    target = [" ".join(f"t{line}w{word}" for word in range(3 + line % 4)) for line in range(count)]
    links = [
        sorted({(word, (word * 2 + line) % (3 + line % 4)) for word in range(2 + line % 5)})
        for line in range(count)
    ]
    return source, target, links


def pharaoh(links):
    return "".join(" ".join(f"{i}-{j}" for i, j in line) + "\n" for line in links)


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))


@pytest.fixture
def folder(tmp_path):
    source, target, links = texts_of()
    write(tmp_path / "s", source)
    write(tmp_path / "t", target)
    (tmp_path / "l").write_text(pharaoh(links))
    return tmp_path


def command(job, *more, output="out", workers=1, shards=20):
    return (
        *(job, "--aligner", "given", "--tokens", "whitespace", "--workers", workers),
        *("--shard_pairs", shards, "--max_ratio", "inf", "--output", output, *more),
    )


SIDES = ("--source_input", "s", "--target_input", "t")


def align(folder, *more, **settings):
    """Align with given links; return them line by line, as Pharaoh text."""
    runs.run_well_here(*command("align", *more, "--pharaoh", "made", **settings), cwd=folder)
    return (folder / "made").read_text()


def rejects(folder, output="out"):
    paths = sorted((folder / output / "rejects").glob("part-*"))
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def test_given_links_come_out_as_they_went_in(folder):
    made = align(folder, *SIDES, "--links", "l")
    assert made == (folder / "l").read_text()
    assert not rejects(folder)


def test_given_links_survive_the_screen_and_duplicates_and_each_pair_keeps_its_own(folder):
    source, target, links = texts_of(12)
    source[3], target[3] = "", "nothing to see"
    source[7], target[7] = source[2], target[2]
    links[7] = [(0, 1)]
    write(folder / "s", source)
    write(folder / "t", target)
    (folder / "l").write_text(pharaoh(links))
    made = align(folder, *SIDES, "--links", "l", shards=4).splitlines()
    links[3] = []
    links[7] = links[2]  # the pair that stays has its own; its copy is a duplicate of it
    assert made == pharaoh(links).splitlines()
    assert sorted(row["reason"] for row in rejects(folder)) == ["duplicate", "empty_source"]


def test_of_a_file_given_twice_with_other_links_the_first_copy_stays():
    """Both copies have the same names and lines, so the order of arrival must not decide."""
    rows = [
        row("a", "b", unit=unit, forward_links=[{"source": unit, "target": 0}]) for unit in (0, 1)
    ]
    for order in (rows, rows[::-1]):
        parts = [pa.Table.from_batches([batch(each)]) for each in order]
        kept, _ = merge_rows(parts)
        assert kept.column("unit").to_pylist() == [0]
        assert kept.column("forward_links").to_pylist() == [[{"source": 0, "target": 0}]]


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_compressed_links_are_read_like_plain_ones(folder, compress):
    name = "l.gz" if compress is gzip.compress else "l.zst"
    (folder / name).write_bytes(compress((folder / "l").read_bytes()))
    assert align(folder, *SIDES, "--links", name) == (folder / "l").read_text()


def test_links_are_cut_into_units_with_their_texts(folder):
    assert align(folder, *SIDES, "--links", "l", "--unit_rows", 7) == (folder / "l").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("job", "links"),
    [
        ("align", ("--links", "l")),
        ("augment", ("--links", "l")),
        ("align", ("--attention", "a.npz")),
    ],
)
def test_two_workers_write_the_bytes_of_one(folder, job, links):
    np.savez(folder / "a.npz", *attention_arrays())
    given = (*SIDES, *links, "--unit_rows", 25)
    made = []
    for workers in (1, 2):
        output = f"out{workers}"
        runs.run_well(*command(job, *given, output=output, workers=workers), cwd=folder)
        made.append(runs.tree_digests(folder / output))
    assert made[0] == made[1]
    assert len(made[0]) > 8


def test_two_directions_are_symmetrized_by_the_heuristic(folder):
    (folder / "f").write_text("0-0 1-1\n" * LINES)
    (folder / "r").write_text("1-1 1-0\n" * LINES)
    given = (*SIDES, "--forward_links", "f", "--reverse_links", "r", "--heuristic")
    assert align(folder, *given, "intersection") == "1-1\n" * LINES
    assert align(folder, *given, "union", output="union") == "0-0 1-0 1-1\n" * LINES


def test_several_corpora_bring_their_links_in_yaml_and_globs_pair_in_order(folder):
    source, target, links = texts_of()
    for part, lines in (("1", slice(0, 20)), ("2", slice(20, 60))):
        write(folder / f"x{part}.s", source[lines])
        write(folder / f"x{part}.t", target[lines])
        (folder / f"x{part}.l").write_text(pharaoh(links[lines]))
    fields = zip(source[:5], target[:5], pharaoh(links[:5]).splitlines(), strict=True)
    (folder / "y.tsv").write_text("".join(f"{t}\tx\t{links}\t{s}\n" for s, t, links in fields))
    corpora = [
        {"corpus": "x", "source_input": "x*.s", "target_input": "x*.t", "links": "x*.l"},
        {"corpus": "y", "input": "y.tsv", "source_field": "4", "target_field": "1"},
    ]
    corpora[1] |= {"links_field": "3", "source_lang": "fr"}
    (folder / "c.yaml").write_text(yaml.safe_dump({"corpora": corpora}))
    assert align(folder, "--config", "c.yaml") == pharaoh(links + links[:5])


def test_links_may_be_a_field_of_jsonl_and_a_column_of_parquet(folder):
    source, target, links = texts_of(8)
    texts = pharaoh(links).splitlines()
    rows = [
        {"source": s, "target": t, "a": text if line % 2 else list(map(list, pairs))}
        for line, (s, t, text, pairs) in enumerate(zip(source, target, texts, links, strict=True))
    ]
    (folder / "x.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    made = align(folder, "--input", "x.jsonl", "--links_field", "a")
    assert made == pharaoh(links)
    again = ("--input", "out/data/part-*.parquet", "--links_field", "links")
    runs.run_well_here(*command("align", *again, output="again"), cwd=folder)
    assert links_by_source(folder / "again") == dict(zip(source, links, strict=True))


def links_by_source(output):
    return {
        row["source"]: [(link["source"], link["target"]) for link in row["links"]]
        for path in output.glob("data/part-*")
        for row in pq.read_table(path).to_pylist()
    }


def test_an_unequal_number_of_lines_of_links_is_refused_with_both_counts(folder):
    (folder / "l").write_text((folder / "l").read_text() + "0-0\n")
    status, _, errors = runs.run_here(*command("align", *SIDES, "--links", "l"), cwd=folder)
    assert status == 2
    assert "s has 60 lines" in errors
    assert "l has 61 lines" in errors
    assert not (folder / "out").exists()


def test_a_link_outside_the_tokens_rejects_its_pair_with_both_counts(folder):
    lines = (folder / "l").read_text().splitlines()
    lines[0], lines[1], lines[2] = "0-0 2-1", "0-0 x", "0-40000"
    write(folder / "l", lines)
    made = align(folder, *SIDES, "--links", "l").splitlines()
    assert made == ["", "", "", *lines[3:]]
    actual = {row["line"]: (row["stage"], row["reason"], row["detail"]) for row in rejects(folder)}
    assert actual[1][:2] == ("align", "link_out_of_range")
    assert actual[1][2].startswith(
        "2-1 is out of range for 2 source and 3 target tokens; set --tok"
    )
    assert actual[2][:2] == ("read", "invalid_link")
    assert "'x' is not a link" in actual[2][2]
    assert actual[3][:2] == ("read", "link_out_of_range")
    assert "up to 32766" in actual[3][2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("align", *SIDES, "--aligner", "given"), "needs the links of every corpus"),
        (("align", *SIDES, "--links", "l"), "only --aligner given takes links"),
        (("fit", *SIDES, "--links", "l"), "unknown option --links"),
        (("align", *SIDES, "--aligner", "given", "--forward_links", "l"), "belong together"),
        (
            ("align", *SIDES, "--aligner", "given", "--links", "l", "--attention", "l"),
            "links and attention all say",
        ),
        (("align", *SIDES, "--aligner", "given", "--links_field", "3"), "has no columns"),
        (
            ("align", "--input", "x.tsv", "--aligner", "given", "--links", "l"),
            "give its name with links_field",
        ),
        (("align", *SIDES, "--aligner", "given", "--links", "no"), "no file has this name"),
        (
            ("align", *SIDES, "--aligner", "given", "--links", "l", "--model", "m"),
            "given has no model",
        ),
        (
            ("align", *SIDES, "--aligner", "given", "--links", "l", "--fit_pairs", "9"),
            "does not take --fit_pairs",
        ),
        (
            ("align", *SIDES, "--aligner", "given", "--links", "l", "--attention_head", "0"),
            "applies to --attention, which is not given",
        ),
        (
            ("align", *SIDES, "--aligner", "given", "--links", "l", "--tokens", "sentencepiece"),
            "give sentencepiece:MODEL, words or whitespace",
        ),
        (("align", *SIDES, "--attention_method", "naive"), "--aligner given"),
        (
            (
                "suggest",
                *SIDES,
                "--aligner",
                "given",
                "--links",
                "l",
                "--translator",
                "ctranslate2:m",
            ),
            "leave --translator out",
        ),
        (
            ("augment", *SIDES, "--aligner", "given", "--links", "l", "--method", "fragment"),
            "give --aligner hmm",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_line(folder, arguments, message):
    (folder / "x.tsv").write_text("a\tb\n")
    status, _, errors = runs.run_here(*arguments, "--output", "out", cwd=folder)
    assert status == 2, errors
    assert message in errors
    assert "Traceback" not in errors


def test_options_of_attention_are_for_the_corpora_that_have_it():
    options = SimpleNamespace(model_fields_set={"attention_head"})
    sides = {"source_input": ("a.en",), "target_input": ("a.de",)}
    given = ({"links": ("l",)}, {"attention": ("a.npz",)})
    Given().check_corpora(options, [CorpusInput("en", "de", **sides, **each) for each in given])


def test_other_links_are_another_run(folder):
    align(folder, *SIDES, "--links", "l")
    (folder / "l").write_text("0-0\n" * LINES)
    status, _, errors = runs.run_here(*command("align", *SIDES, "--links", "l"), cwd=folder)
    assert status == 2, errors
    document = json.loads((folder / "out" / "_plan.json").read_text())
    assert [file["role"] for file in document["inputs"]] == ["source", "target", "links"]
    assert "aligner:given" in document["signature"]
    assert "attention_method" not in document["configuration"]


def test_tags_lie_round_the_given_links_alone(folder):
    write(folder / "s", ["ein roter Ball"])
    write(folder / "t", ["bal rode een"])
    (folder / "l").write_text("0-2 1-1 2-0\n")
    more = ("--mix", "inf", "--tag_share", "1", "--variants", "40")
    runs.run_well_here(*command("augment", *SIDES, "--links", "l", *more), cwd=folder)
    (path,) = (folder / "out").glob("data/part-*")
    rows = pq.read_table(path).to_pylist()
    assert rows
    words = {"ein": "een", "roter": "rode", "Ball": "bal"}
    for each in rows:
        for tag in each["tags"]:
            sides = [
                text[tag[f"{side}_start"] : tag[f"{side}_end"]].split()
                for side, text in (("source", "ein roter Ball"), ("target", "bal rode een"))
            ]
            assert sorted(words[word] for word in sides[0]) == sorted(sides[1])


def test_given_links_of_suggest_go_from_the_translation_to_the_reference(folder):
    write(folder / "s", ["the old house is here"])
    write(folder / "t", ["das alte Haus ist hier"])
    write(folder / "m", ["das neue Haus ist hier"])
    (folder / "l").write_text("0-0 2-2 3-3 4-4 1-1\n")
    given = (*SIDES, "--translation_input", "m", "--links", "l", "--methods", "alignment")
    runs.run_well_here(*command("suggest", *given), cwd=folder)
    (path,) = (folder / "out").glob("data/part-*")
    (made,) = pq.read_table(path).to_pylist()
    assert made["masked"] == "das <MASK_REP> Haus ist hier"
    assert made["suggestion"] == "alte"


def test_a_pair_without_a_translation_needs_no_links(folder):
    rows = [
        {"source": "a b", "target": "c d", "translation": "c e", "links": "0-0 1-1"},
        {"source": "a b c", "target": "c d e", "links": "0-0 1-1"},
    ]
    (folder / "x.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    given = ("--input", "x.jsonl", "--links_field", "links", "--methods", "alignment")
    runs.run_well_here(*command("suggest", *given), cwd=folder)
    assert [row["reason"] for row in rejects(folder)] == ["no_translation"]


@pytest.mark.parametrize("shape", ["matrix", "heads", "layers"])
def test_attention_links_the_pairs_of_a_job(folder, shape):
    arrays = attention_arrays()
    choice = ()
    if shape == "heads":
        arrays = [np.stack([array, np.zeros_like(array)]) for array in arrays]
    if shape == "layers":
        arrays = [np.stack([[np.flip(a), np.flip(a)], [np.zeros_like(a), a]]) for a in arrays]
        choice = ("--attention_layer", "-1", "--attention_head", "1")
    np.savez(folder / "a.npz", *arrays)
    given = (*SIDES, "--attention", "a.npz", "--attention_method", "naive", *choice)
    source, _, _ = texts_of()
    expected = [
        sorted((target % len(text.split()), target) for target in range(3 + line % 4))
        for line, text in enumerate(source)
    ]
    assert align(folder, *given) == pharaoh(expected)
    settings = json.loads((folder / "out" / "_plan.json").read_text())["configuration"]
    assert settings["attention_method"] == "naive"


def attention_arrays():
    """Return attention of each line: target token j looks at source token j, over and over."""
    source, target, _ = texts_of()
    arrays = []
    for one, other in zip(source, target, strict=True):
        matrix = np.zeros((len(other.split()) + 1, len(one.split()) + 1), np.float32)
        rows = np.arange(len(matrix) - 1)
        matrix[rows, rows % len(one.split())] = 1
        matrix[-1, -1] = 1
        arrays.append(matrix)
    return arrays


def test_attention_that_is_too_small_rejects_its_pair_with_both_counts(folder):
    arrays = attention_arrays()
    arrays[4] = arrays[4][:2]
    np.savez(folder / "a.npz", *arrays)
    align(folder, *SIDES, "--attention", "a.npz", "--attention_method", "naive")
    (actual,) = rejects(folder)
    assert (actual["line"], actual["stage"], actual["reason"]) == (5, "align", "bad_attention")
    assert "is too small for 3 target and 6 source tokens" in actual["detail"]


@pytest.mark.parametrize(
    ("lines", "choice", "message"),
    [
        (59, (), "a.npz has 59 lines"),
        (60, (), "has attention of 2 layers; choose one, 0 to 1, with --attention_layer"),
        (60, ("--attention_layer", "2"), "has 2 layers, numbered from 0 to 1"),
        (60, ("--attention_layer", "0", "--attention_head", "9"), "has 3 heads, numbered from 0"),
    ],
)
def test_attention_without_the_layer_or_the_lines_is_refused(folder, lines, choice, message):
    np.savez(folder / "a.npz", *([np.zeros((2, 3, 8, 8))] * lines))
    given = command("align", *SIDES, "--attention", "a.npz", *choice)
    status, _, errors = runs.run_here(*given, cwd=folder)
    assert status == 2, errors
    assert message in errors


@pytest.mark.parametrize("job", ["align", "augment"])
def test_links_count_the_lone_word_marks_of_a_sentencepiece_model(folder, job):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["ein Ball", "a ball"] * 20),
        model_writer=model,
        vocab_size=14,
        model_type="char",
        minloglevel=2,
    )
    (folder / "m").write_bytes(model.getvalue())
    write(folder / "s", ["ein Ball"])
    write(folder / "t", ["a ball"])
    # \u2581 e i n \u2581 B a l l; \u2581 a \u2581 b a l l
    (folder / "l").write_text("0-0 1-1 2-1 3-1 4-2 5-3 6-4 7-5 8-6\n")
    given = (*SIDES, "--links", "l", "--tokens", "sentencepiece:m")
    if job == "align":
        made = align(folder, *given)
        assert {"1-1", "2-1", "3-1", "5-3", "6-4", "7-5", "8-6"} <= set(made.split())
        assert not rejects(folder)
        return
    more = ("--mix", "inf", "--tag_share", "1", "--variants", "40")
    runs.run_well_here(*command(job, *given, *more), cwd=folder)
    (path,) = (folder / "out").glob("data/part-*")
    texts = {(row["source"], row["target"]) for row in pq.read_table(path).to_pylist()}
    shown = {tuple(re.sub(r"_[0-9]", "", text) for text in pair) for pair in texts}
    assert ("ein <a>Ball</a>", "a <a>ball</a>") in shown
    assert ("<a>ein</a> Ball", "<a>a</a> ball") in shown


def test_links_are_sorted_and_each_there_once():
    kept = pa.Table.from_batches(
        [batch(row("a b", "c d", forward_links=[{"source": 1, "target": 0}] * 2 + [zero()]))]
    )
    table = add_tokens(pa.Table.from_pylist([pair(0, "a b", "c d")], schemas.PAIRS), TokenConfig())
    linked, given_up = link_rows(kept, table, TokenConfig())
    assert not given_up
    assert linked.column("forward").to_pylist() == linked.column("reverse").to_pylist()
    actual = [(link["source"], link["target"]) for link in linked.column("forward")[0].as_py()]
    assert actual == [(0, 0), (1, 0)]
    schemas.require(linked, schemas.LINKED)


def zero():
    return {"source": 0, "target": 0}
