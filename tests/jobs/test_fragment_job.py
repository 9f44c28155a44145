import json
import re

import pyarrow.parquet as pq
import pytest

from pairweave.pipelines.aligners.aligner_options import AlignerOptions
from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.options.base import RowJobOptions
from pairweave.pipelines.options.corpus_options import TaggedCorpus
from pairweave.pipelines.options.text_options import TranslatorOptions
from pairweave.transforms.inspection.look_options import LookOptions
from pairweave.transforms.option_marks import reasons_of
from tests import check_tagged
from tests.makers import corpora, runs

SIDES = ("--source_input", "corpus.en", "--target_input", "corpus.de")
LANGS = ("--source_lang", "en", "--target_lang", "de")
PROFILE = '{"tag_profile": 1, "counts": {"form pair": 1, "tags 1": 1}, "split": [0, 0]}'
SMALL = ("--shard_pairs", "200", "--unit_rows", "100")


@pytest.fixture(scope="module")
def augment(tmp_path_factory):
    """Return a function that runs the job with a model fitted before; it gives the output."""
    directory = tmp_path_factory.mktemp("corpus")
    corpora.write_corpus(directory, 400)
    once = (*SIDES, *LANGS, *SMALL, "--workers", "1")
    runs.run_well_here("fit", *once, "--output", "model", cwd=directory)

    def run(output, *arguments, workers="1", sides=SIDES):
        common = (*sides, *LANGS, *SMALL, "--workers", workers, "--model", "model")
        runs.run_well_here("augment", *common, *arguments, "--output", output, cwd=directory)
        return directory / output

    run.directory = directory
    return run


def rows_of(output):
    return [
        row
        for path in sorted(output.glob("data/part-*.parquet"))
        for row in pq.read_table(path).to_pylist()
    ]


def counts_of(output):
    return json.loads((output / "_manifest.json").read_text())["counts"]


@pytest.fixture(scope="module")
def output(augment):
    return augment("out", "--method", "fragment")


@pytest.fixture(scope="module")
def tags_of_few(augment):
    """Return a function that gives what the job says of the tags of sixty pairs."""
    (augment.directory / "few").mkdir()
    corpora.write_corpus(augment.directory / "few", 60)
    sides = ("--source_input", "few/corpus.en", "--target_input", "few/corpus.de")

    def told(output, *arguments):
        rows = rows_of(augment(output, "--method", "fragment", *arguments, sides=sides))
        return [(row["source"], row["target"], row["tags"]) for row in rows]

    return told


@pytest.fixture(scope="module")
def tags_without_options(tags_of_few):
    return tags_of_few("without")


def test_fragments_come_in_all_forms_and_read_as_they_are_described(output):
    rows = rows_of(output)
    forms = [tag["form"] for row in rows for tag in row["tags"]]
    assert set(forms) == {"pair", "self_closing", "open", "close"}
    assert 0.2 < forms.count("self_closing") / len(forms) < 0.34
    halves = forms.count("open") + forms.count("close")
    assert 0.05 < halves / (len(forms) - forms.count("self_closing")) < 0.15
    for row in rows:
        assert len(row["tags"]) <= 2
        for side in ("source", "target"):
            for tag in row["tags"]:
                start, end = tag[f"{side}_start"], tag[f"{side}_end"]
                assert (start == end) == (tag["form"] != "pair")
        check_tagged.check_row(row, check_tagged.Counter(), crossing=False)
    assert any(re.search(r"<a_[0-9]/>", row["source"]) for row in rows)
    symbols = (output / "symbols.txt").read_text().split()
    assert "<a_0/>" in symbols


def test_the_manifest_says_how_often_the_translator_was_called(output):
    counts = counts_of(output)
    assert counts["wanted_pairs"] == counts["tried_pairs"] == counts["plain_rows"]
    assert counts["translator_calls"] < 0.1 * counts["tried_pairs"]
    assert counts["tried_fragments"] < counts["fragments_in_tried_pairs"]
    assert counts["tagged_rows"] > 0.9 * counts["plain_rows"]


@pytest.mark.slow
def test_small_shares_are_exact_and_lie_inside_larger_ones(augment):
    sets = []
    for share in ("0.01", "0.05", "0.15"):
        actual = augment(f"mix{share}", "--method", "fragment", "--mix", share)
        counts = counts_of(actual)
        assert counts["tagged_rows"] == counts["wanted_pairs"]
        assert counts["wanted_pairs"] >= float(share) * counts["plain_rows"] > 0
        assert counts["wanted_pairs"] - 3 <= float(share) * counts["plain_rows"]
        rows = [row for row in rows_of(actual) if row["kind"] == "tagged"]
        sets.append({(row["id"], row["source"], row["target"]) for row in rows})
    assert sets[0] < sets[1] < sets[2]


@pytest.mark.slow
def test_two_workers_write_the_same_bytes(augment, output):
    again = augment("again", "--method", "fragment", workers="2")
    assert runs.tree_digest(again) == runs.tree_digest(output)


def test_fragments_go_into_xliff_too(augment):
    rows = rows_of(augment("xliff", "--method", "fragment", "--representation", "xliff"))
    text = " ".join(row["source"] for row in rows)
    for name in ('<g id="1">', '<x id="1"/>', '<bx id="1"/>', '<ex id="1"/>', '<g id="2">'):
        assert name in text, name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--variants", "2"), "does not take --variants: it makes one tagged row per pair"),
        (("--variants", "1"), "does not take --variants"),
        (("--draw", "confident"), "does not take --draw: fragments have no score"),
        (("--draw", "uniform"), "does not take --draw"),
        (("--min_confidence", "0.5"), "does not take --min_confidence: fragments have no score"),
        (("--heuristic", "union"), "does not take --heuristic: it finds"),
        (("--unaligned_words", "allow"), "does not take --unaligned_words: it finds"),
        (("--tag_share", "0.5"), "does not take --tag_share: only --max_tags limits"),
        (("--split_share", "0.1"), "does not take --split_share: a tag in two parts"),
        (("--tag_profile", "profile.json"), "does not take --tag_profile: lengths, positions"),
        (("--second_aligner", "hmm:model"), "does not take --second_aligner: it finds"),
        (("--tokens", "sentencepiece"), "give --tokens words or whitespace"),
        (("--inline_tags", "index"), "give --inline_tags strip"),
        (("--aligner", "encoder"), "encoder"),
        (("--max_words", "65"), "max_words of a fragment must be 1 to 64, got 65"),
    ],
)
def test_what_does_not_go_with_fragments_is_refused(augment, arguments, message):
    (augment.directory / "profile.json").write_text(PROFILE)
    status, _, errors = runs.run_here(
        *("augment", *SIDES, *LANGS, "--method", "fragment", *arguments, "--output", "bad"),
        cwd=augment.directory,
    )
    assert status == 2
    assert message in errors
    assert not (augment.directory / "bad").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--mix", "0.5"),
        ("--max_words", "1"),
        ("--max_tags", "1"),
        ("--nesting", "free", "--max_tags", "9"),
        ("--self_closing_share", "0"),
        ("--damage_share", "0.5"),
        ("--empty_share", "0.5"),
        ("--whitespace_shift",),
        ("--representation", "masked"),
        ("--representation", "template", "--template", "⟦{index}⟧", "⟦/{index}⟧", "⟦{index}/⟧"),
        ("--seed", "2"),
    ],
)
def test_every_other_option_of_tags_is_honoured(tags_of_few, tags_without_options, arguments):
    name = "honoured" + "".join(arguments).replace("/", "")
    assert tags_of_few(name, *arguments) != tags_without_options


def test_the_options_of_tags_are_either_refused_or_honoured():
    honoured = {"method", "max_words", "max_tags", "nesting", "mix", "whitespace_shift"}
    honoured |= {"representation", "template", "self_closing_share", "damage_share", "empty_share"}
    honoured |= {
        "punctuation_tags",
        "tag_numbers",
        "glossary",
        "glossary_match",
        "segmenter",
        "max_id",
        "keep_origin",
        "filter",
        "known_pairs",
        "taken_down",
    }
    own = AugmentOptions.model_fields.keys() - AlignerOptions.model_fields.keys()
    own -= RowJobOptions.model_fields.keys() | TranslatorOptions.model_fields.keys()
    own -= TaggedCorpus.model_fields.keys()
    own -= LookOptions.model_fields.keys()
    assert own == honoured | reasons_of(AugmentOptions, "fragment").keys() - {
        "combine",
        "second_aligner",
    }


@pytest.mark.slow
def test_confident_draws_and_thresholds_change_tags_alone(tmp_path):
    # Words that occur once, in another order on each side, have uncertain links.
    pairs = [corpora.sentence(number) for number in range(200)]
    for side, step in ((0, 1), (1, -1)):
        lines = [
            " ".join([pair[side], *[f"{'xy'[side]}{row}{word}" for word in "abcd"][::step]])
            for row, pair in enumerate(pairs)
        ]
        name = SIDES[2 * side + 1]
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def rows(output, *arguments):
        words = ("augment", *SIDES, *LANGS, *SMALL, "--workers", "1")
        runs.run_well_here(*words, "--mix", "inf", *arguments, "--output", output, cwd=tmp_path)
        return rows_of(tmp_path / output)

    plain = rows("plain")
    for arguments in (("--draw", "confident"), ("--min_confidence", "0.9")):
        actual = rows(arguments[0].strip("-"), *arguments)
        assert {row["id"] for row in actual} <= {row["id"] for row in plain}
        assert len(actual) > 0.9 * len(plain)
        assert [row["tags"] for row in actual] != [row["tags"] for row in plain]
        for row in actual:
            check_tagged.check_row(row, check_tagged.Counter(), crossing=False)
