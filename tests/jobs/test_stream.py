"""The command ``stream`` and `pairweave.stream`: new tags from finished runs in every epoch."""

import functools
import io
import itertools
import json
import operator
import shutil
import sys
from collections import Counter

import pyarrow as pa
import pyarrow.dataset
import pytest

import pairweave
from pairweave.pipelines import cli
from pairweave.pipelines.streaming import streamed_runs
from pairweave.pipelines.streaming.stream_options import StreamedTagOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.tags.injection_options import SHAPES
from tests.makers import corpora, runs

LANGS = ("--source_lang", "en", "--target_lang", "de")
INPUT = ("--source_input", "corpus.en", "--target_input", "corpus.de", "--workers", 1)
LIMITS = ("--max_ratio", 1.5, "--max_tokens", 250, "--max_token_chars", 100)
SHARDS = ("--shard_pairs", 60, "--seed", 5)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a directory with a corpus, a model, and runs in several shards."""
    directory = tmp_path_factory.mktemp("stream")
    corpora.write_corpus(directory, 200)
    runs.run_well_here("fit", *INPUT, *LANGS, "--output", "model", cwd=directory)
    model = (*INPUT, *LANGS, *SHARDS, "--model", "model")
    runs.run_well_here("align", *model, *LIMITS, "--output", "links", cwd=directory)
    runs.run_well_here("augment", *model, "--keep_links", "--output", "kept", cwd=directory)
    runs.run_well_here("augment", *model, "--output", "plain", cwd=directory)
    return directory


def augmented(made, *options):
    """Return the rows of ``augment`` with the same model, seed and pairs, sorted."""
    output = made / "-".join(["rows", *map(str, options)]).replace("/", "")
    model = (*INPUT, *LANGS, *SHARDS, "--model", "model")
    runs.run_well_here("augment", *model, *options, "--output", output, cwd=made)
    return in_order(pyarrow.dataset.dataset(output / "data").to_table())


def in_order(rows):
    return rows.sort_by([("id", "ascending"), ("variant", "ascending")]).combine_chunks()


def epoch(run, number=0, **options):
    """Return the rows of one epoch, sorted."""
    columns = ["id", "variant", "kind", "source", "target", "tags", "source_lang", "target_lang"]
    stream = pairweave.stream(run, epochs=number + 1, columns=[*columns, "corpus"], **options)
    stream.load_state_dict({"epoch": number, "window": 0, "row": 0})
    return in_order(pa.concat_tables(stream.batches()))


@pytest.mark.parametrize("run", ["links", "kept"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"variants": 3, "mix": 2.0, "nesting": "free"},
        {"representation": "xliff", "max_id": 50, "self_closing_share": 0.3, "empty_share": 0.2},
    ],
)
def test_the_first_epoch_has_the_tags_of_augment(made, run, options):
    flags = itertools.chain.from_iterable((f"--{name}", value) for name, value in options.items())
    expected = augmented(made, *flags)
    assert epoch(made / run, window=70, **options).equals(expected)


def test_options_of_the_run_are_kept(made):
    kept = made / "own"
    model = (*INPUT, *LANGS, *SHARDS, "--model", "model", "--keep_links", "--max_tags", 1)
    runs.run_well_here("augment", *model, "--representation", "html", "--output", kept, cwd=made)
    rows = epoch(kept, 1)
    assert max(map(len, rows.column("tags").to_pylist())) == 1
    assert "<b>" in " ".join(rows.column("source").to_pylist())


def test_tokens_of_sentencepiece_are_found_again(made):
    tokens = ("--tokens", "sentencepiece", "--vocabulary", 400)
    runs.run_well_here("fit", *INPUT, *LANGS, *tokens, "--output", "piece_model", cwd=made)
    model = (*INPUT, *LANGS, *SHARDS, "--model", "piece_model")
    runs.run_well_here("augment", *model, "--keep_links", "--output", "pieces", cwd=made)
    expected = pyarrow.dataset.dataset(made / "pieces" / "data").to_table()
    expected = in_order(expected.drop_columns(["word_links"]))
    assert epoch(made / "pieces").equals(expected)
    runs.run_well_here("align", *model, *LIMITS, "--output", "piece_links", cwd=made)
    assert epoch(made / "piece_links").equals(expected)


def test_every_epoch_has_all_pairs_with_other_tags_in_another_order(made):
    stream = pairweave.stream(made / "links", epochs=3, window=50, columns=["id", "kind", "source"])
    rows = list(stream)
    assert len(rows) % 3 == 0
    size = len(rows) // 3
    epochs = [rows[at : at + size] for at in range(0, len(rows), size)]
    plain = [Counter(r["id"] for r in each if r["kind"] == "plain") for each in epochs]
    assert plain[0] == plain[1] == plain[2]
    assert set(plain[0].values()) == {1}
    orders = [[row["id"] for row in each if row["kind"] == "plain"] for each in epochs]
    assert len({tuple(order) for order in orders}) == 3
    tagged = [{r["source"] for r in each if r["kind"] == "tagged"} for each in epochs]
    assert len(tagged[0] & tagged[1]) < 0.3 * len(tagged[0])


def test_rows_do_not_depend_on_memory(made):
    all_at_once, one_shard = (
        list(pairweave.stream(made / "kept", epochs=2, window=50, cache_mib=size))
        for size in (64, 0)
    )
    assert all_at_once == one_shard


def test_a_stream_goes_on_from_any_row(made):
    options = {"epochs": 2, "window": 50}
    rows = list(pairweave.stream(made / "links", **options))
    for stop in (0, 1, 77, len(rows) // 2, len(rows) - 1, len(rows)):
        first = pairweave.stream(made / "links", **options)
        assert list(itertools.islice(first, stop)) == rows[:stop]
        rest = pairweave.stream(made / "links", **options)
        rest.load_state_dict(json.loads(json.dumps(first.state_dict())))
        assert list(rest) == rows[stop:]


def test_the_command_writes_the_same_rows_and_goes_on(made):
    rows = list(pairweave.stream(made / "links", epochs=2, window=50))
    words = ("stream", made / "links", "--epochs", 2, "--window", 50)
    lines = streamed(*words)
    assert lines == [f"{row['source']}\t{row['target']}" for row in rows]
    second = lines[len(lines) // 2 :]
    assert streamed(*words, "--start", 1, "--skip", 111) == second[111:]
    later = streamed(*words, "--start", "1:2")
    assert len(later) < len(second)
    assert later == lines[-len(later) :]


def test_windows_of_fewer_pairs_than_runs_may_be_empty(made):
    words = ("stream", made / "links", made / "links", "--seed", 1)
    assert sorted(streamed(*words, "--window", 1)) == sorted(streamed(*words))


def test_rows_to_skip_that_the_stream_does_not_have_are_refused(made):
    rows = len(list(pairweave.stream(made / "links", epochs=2, window=50)))
    words = ("stream", made / "links", "--epochs", 2, "--window", 50)
    assert streamed(*words, "--skip", rows) == []
    status, out, errors = runs.run_here(*words, "--skip", rows + 1)
    assert (status, out) == (2, "")
    assert f"--skip {rows + 1}: only {rows} rows are left from --start 0 to the end" in errors


def streamed(*words):
    """Run the command and return its lines."""
    out = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        wrapper = io.TextIOWrapper(out, write_through=True)
        patch.setattr(sys, "stdout", wrapper)
        assert cli.main([str(word) for word in words]) == 0
        wrapper.detach()
    return out.getvalue().decode().splitlines()


def test_lines_have_links_for_a_trainer(made):
    words = ("stream", made / "kept", "--alignment", "whitespace")
    fields = [line.split("\t") for line in streamed(*words)]
    assert {len(line) for line in fields} == {3}
    for source, target, links in fields:
        for link in links.split():
            one, other = map(int, link.split("-"))
            assert one < len(source.split())
            assert other < len(target.split())
    assert sum(bool(links) for *_, links in fields) > 0.9 * len(fields)
    row = json.loads(streamed("stream", made / "kept", "--format", "jsonl")[0])
    assert set(row) >= {"id", "kind", "tags", "source", "target"}


def test_runs_are_mixed_by_weight(made):
    both = [made / "links", made / "kept"]
    columns = ["id", "kind"]
    rows = list(pairweave.stream(both, epochs=2, weights=[3, 1], window=40, columns=columns))
    # 3 of 4 pairs are of the first run: about 3 passes over it and 1 over the second, in 2 epochs.
    counts = Counter(row["id"] for row in rows if row["kind"] == "plain")
    assert set(counts.values()) <= {3, 4, 5}
    assert Counter(counts.values())[4] > 190
    streams = [pairweave.stream(both, weights=[3, 1], columns=columns) for _ in range(2)]
    assert list(streams[0]) == list(streams[1])


def test_ranks_share_the_rows(made):
    options = {"epochs": 2, "window": 30, "columns": ["id", "source"]}
    rows = list(pairweave.stream(made / "links", **options))
    parts = [list(pairweave.stream(made / "links", rank=r, ranks=3, **options)) for r in range(3)]
    assert all(parts)
    assert Counter(map(str, itertools.chain(*parts))) == Counter(map(str, rows))


@pytest.mark.parametrize(
    ("rank", "ranks", "said"),
    [(3, 3, "^rank 3 of 3: ranks"), ("0", 3, "^rank '0' of 3: give whole"), (0.5, 1, "give whole")],
)
def test_what_is_no_rank_is_refused(made, rank, ranks, said):
    with pytest.raises(pairweave.PairweaveError, match=said):
        pairweave.stream(made / "links", rank=rank, ranks=ranks)


def test_ranks_that_would_have_no_rows_are_refused(made):
    last = pairweave.stream(made / "links", epochs=2, window=1_000, rank=1, ranks=2)
    assert list(last)
    with pytest.raises(ConfigError, match=r"^3 ranks share .* there are 2, .* than 1,000, or few"):
        pairweave.stream(made / "links", epochs=2, window=1_000, rank=0, ranks=3)


def test_columns_may_come_one_by_one(made):
    stream = pairweave.stream(made / "links", columns=(name for name in ("id", "source")))
    assert list(next(iter(stream))) == ["id", "source"]


@pytest.mark.parametrize("state", [{}, None, {"epoch": "0", "window": 0, "row": 0}])
def test_what_is_no_position_is_refused(made, state):
    stream = pairweave.stream(made / "links")
    with pytest.raises(pairweave.PairweaveError, match="is not a position of a stream; give what"):
        stream.load_state_dict(state)


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 6},
        {"window": 50},
        {"shuffle": False},
        {"mix": 0.5},
        {"ranks": 2},
        {"max_tags": 2},
        {"max_words": 2},
        {"representation": "html"},
    ],
)
def test_a_position_of_another_stream_is_refused(made, other):
    stream = pairweave.stream(made / "links", window=40)
    next(iter(stream))
    options = {"window": 40, **other}
    with pytest.raises(pairweave.PairweaveError, match="was saved by a stream with other runs, "):
        pairweave.stream(made / "links", **options).load_state_dict(stream.state_dict())
    position = {name: stream.state_dict()[name] for name in ("epoch", "window", "row")}
    pairweave.stream(made / "links", **options).load_state_dict(position)


def test_a_position_of_a_stream_with_another_profile_is_refused(made, tmp_path):
    streams = []
    for tags in (1, 2):
        counts = {"form pair": 1, f"tags {tags}": 1}
        path = tmp_path / f"{tags}.json"
        path.write_text(json.dumps({"tag_profile": 1, "counts": counts, "split": [0, 0]}))
        streams.append(pairweave.stream(made / "links", tag_profile=path))
    with pytest.raises(pairweave.PairweaveError, match="was saved by a stream with other runs, "):
        streams[1].load_state_dict(streams[0].state_dict())


def test_a_position_is_one_of_the_same_stream_with_more_epochs_or_memory(made):
    stream = pairweave.stream(made / "links", window=40)
    rows = list(itertools.islice(stream, 50))
    longer = pairweave.stream(made / "links", window=40, epochs=3, cache_mib=0, rank=0)
    expected = list(itertools.islice(longer, 60))
    longer.load_state_dict(stream.state_dict())
    assert [*rows, *itertools.islice(longer, 10)] == expected


@pytest.mark.parametrize(("epoch", "row"), [(2, 0), (0, -1)])
def test_a_position_that_a_stream_lacks_is_refused(made, epoch, row):
    stream = pairweave.stream(made / "links")
    stream.load_state_dict({"epoch": epoch, "window": 0, "row": row})
    with pytest.raises(pairweave.PairweaveError, match=rf"position {epoch}:0, row {row}: this"):
        next(iter(stream))


def test_torch_loaders_share_the_rows_among_workers(made):
    data = pytest.importorskip("torch.utils.data")
    stream = pairweave.stream(made / "links", window=40)
    rows = list(stream)
    again = pairweave.stream(made / "links", window=40).to_torch()
    assert list(data.DataLoader(again, batch_size=None)) == rows
    state = again.state_dict()
    assert state["epoch"] == 1
    again.load_state_dict({"epoch": 0, "window": 1, "row": 3})
    assert list(again) == rows[-len(list_from(made, 1, 3)) :]


def test_every_pass_over_a_torch_loader_has_the_same_rows(made):
    data = pytest.importorskip("torch.utils.data")
    rows = list(pairweave.stream(made / "links", window=40))
    shared = pairweave.stream(made / "links", window=40).to_torch()
    loader = data.DataLoader(shared, batch_size=None)
    assert list(loader) == list(loader) == rows
    shared.load_state_dict({"epoch": 0, "window": 1, "row": 3})
    assert list(loader) == list_from(made, 1, 3)
    assert list(loader) == rows


def test_a_torch_loader_repeats_the_rows_from_where_a_stream_was(made):
    data = pytest.importorskip("torch.utils.data")
    stream = pairweave.stream(made / "links", window=40)
    shared = stream.to_torch()
    stream.load_state_dict({"epoch": 0, "window": 1, "row": 3})
    loader = data.DataLoader(shared, batch_size=None)
    assert list(loader) == list(loader) == list_from(made, 1, 3)


def list_from(made, window, row):
    stream = pairweave.stream(made / "links", window=40)
    stream.load_state_dict({"epoch": 0, "window": window, "row": row})
    return list(stream)


@pytest.mark.slow
def test_torch_workers_in_processes_of_their_own_share_the_rows(made):
    data = pytest.importorskip("torch.utils.data")
    rows = list(pairweave.stream(made / "links", window=40))
    shared = pairweave.stream(made / "links", window=40).to_torch()
    for lasting in (False, True):
        loader = data.DataLoader(shared, batch_size=None, num_workers=2, persistent_workers=lasting)
        for _ in range(2):
            assert Counter(map(str, loader)) == Counter(map(str, rows))


@pytest.mark.slow
def test_the_library_datasets_reads_and_resumes_a_stream(made):
    pytest.importorskip("datasets")
    rows = list(pairweave.stream(made / "links", epochs=2, window=40))
    loaded = pairweave.stream(made / "links", epochs=2, window=40).to_datasets()
    read = iter(loaded)
    first = list(itertools.islice(read, 100))
    state = loaded.state_dict()
    assert first == rows[:100]
    loaded.load_state_dict(state)
    assert list(loaded) == rows[100:]


def test_pairs_with_tags_of_their_own_are_left_out(made, tmp_path):
    (tmp_path / "a.en").write_text("a tag <a_3> in it\nthe red house\n")
    (tmp_path / "a.de").write_text("mit einem Tag <a_3> darin\ndas rote Haus\n")
    pair = ("--source_input", "a.en", "--target_input", "a.de", *LANGS, "--workers", 1)
    model = ("--model", made / "model", "--output", "links")
    runs.run_well_here("align", *pair, *model, cwd=tmp_path)
    rows = list(pairweave.stream(tmp_path / "links"))
    assert {"darin" in row["target"] for row in rows} == {False}
    status, out, errors = runs.run_here("stream", tmp_path / "links")
    assert status == 0
    assert "1 pair or row left out" in errors
    assert "darin" not in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--mix", "inf", "--keep_links"), "no row without tags"),
        (("--keep_links", "--draw", "confident"), "probabilities"),
        (("--method", "fragment"), "did not keep the word links"),
    ],
)
def test_runs_whose_tags_cannot_be_drawn_again_say_what_to_do(made, options, message):
    output = made / "refused" / "-".join(options)
    model = (*INPUT, *LANGS, *SHARDS, "--model", "model", *options)
    runs.run_well_here("augment", *model, "--output", output, cwd=made)
    with pytest.raises(ConfigError, match=message) as refused:
        pairweave.stream(output)
    assert "run of align" in str(refused.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runs": "plain"}, "run it with keep_links, or"),
        ({"runs": "nothing"}, "give the output of a finished run"),
        ({"runs": "kept", "unaligned_words": "allow"}, "needs all words, but a run of augment"),
        ({"source_input": "a"}, r"^source_input: no such option; see help\(pairweave.stream\)$"),
        ({"epochs": 0}, r"^epochs: .* 1, got 0; see help\(pairweave.stream\)$"),
        ({"template": ["x"]}, "^representation template needs template OPENING"),
        ({"weights": [1, 2]}, "2 weights for 1 run;"),
        ({"columns": ["words"]}, "no column words"),
        ({"columns": "id"}, r"^columns: give a list of names, such as \['id'\], not a text$"),
        ({"rank": 2, "ranks": 2}, "rank 2 of 2"),
        ({"epoch": 2}, "did you mean epochs"),
        ({"representation": "raw"}, "tag profile with names"),
    ],
)
def test_what_cannot_be_streamed_is_one_message(made, options, message):
    with pytest.raises(ConfigError, match=message) as refused:
        pairweave.stream(**{"runs": made / options.pop("runs", "links"), **options})
    assert "--" not in str(refused.value)  # callers in Python know no flags


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"job": "filter"}, "a run of filter has no word links, from which tags are drawn; give"),
        ({"job": "fit"}, "a run of fit has no word links, from which tags are drawn; give"),
        ({"method": "glossary"}, "method glossary finds what to tag in another way"),
        ({"min_confidence": 0.5}, "need probabilities that a run does not keep"),
        ({"segmenter": "icu 1"}, "its words were found with icu 1, but this machine has"),
        ({"inline_tags": "index"}, "keeps the tags of its input, which are not drawn"),
    ],
)
def test_a_run_made_in_a_way_that_cannot_be_drawn_again_is_refused(
    made, tmp_path, changed, message
):
    copy = shutil.copytree(made / "kept", tmp_path / "kept")
    places = {"job": ("_manifest.json", []), "inline_tags": ("_plan.json", ["units", 0])}
    name, keys = places.get(next(iter(changed)), ("_manifest.json", ["configuration"]))
    document = json.loads((copy / name).read_text())
    functools.reduce(operator.getitem, keys, document).update(changed)
    (copy / name).write_text(json.dumps(document))
    with pytest.raises(ConfigError, match=message):
        pairweave.stream(copy)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "jsonl", "--unfit", "escape"), "--unfit is for --format lines; leave it out"),
        (("--format", "jsonl", "--alignment", "moses"), "--alignment is for --format lines"),
        (("--alignment", "whitespace", "--unfit", "escape"), "escapes change the words that links"),
        (("--alignment", "whitespace"), "the runs write their tags in different ways; give"),
    ],
)
def test_lines_that_cannot_be_written_are_refused(made, tmp_path, options, message):
    copy = shutil.copytree(made / "kept", tmp_path / "kept")
    manifest = json.loads((copy / "_manifest.json").read_text())
    manifest["configuration"]["representation"] = "xliff"
    (copy / "_manifest.json").write_text(json.dumps(manifest))
    status, out, errors = runs.run_here("stream", made / "kept", copy, *options)
    assert (status, out) == (2, "")
    assert message in errors


@pytest.mark.parametrize("share", SHAPES)
def test_a_share_of_forms_replaces_the_profile_of_a_run(share):
    settings = {"tag_profile": "tags.json"}
    plain = streamed_runs._drawn_tags("run", StreamedTagOptions(runs=("run",)), settings)
    assert plain.tag_profile is not None
    options = StreamedTagOptions(runs=("run",), **{share: 0.1})
    drawn = streamed_runs._drawn_tags("run", options, settings)
    assert (drawn.tag_profile, getattr(drawn, share)) == (None, 0.1)


def test_rows_are_read_after_a_change_of_directory(made, tmp_path, monkeypatch):
    monkeypatch.chdir(made)
    expected = list(pairweave.stream("links"))
    rows = pairweave.stream("links")
    monkeypatch.chdir(tmp_path)
    assert list(rows) == expected


def test_a_changed_shard_is_refused(made, tmp_path):
    copy = tmp_path / "links"
    shutil.copytree(made / "links", copy)
    shard = sorted((copy / "data").iterdir())[0]
    shard.write_bytes(shard.read_bytes() + b"x")
    with pytest.raises(pairweave.PairweaveError, match="expected sha256"):
        list(pairweave.stream(copy))
