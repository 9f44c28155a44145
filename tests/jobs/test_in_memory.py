"""The functions of `import pairweave`: the jobs on tables in memory."""

import concurrent.futures
import importlib.metadata
import inspect
import json
import pickle
import signal
import subprocess
import sys
import typing
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import pairweave
from pairweave.pipelines.in_memory import table_jobs
from pairweave.pipelines.steps import hmm_fitting
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.reading import python_tables
from tests.makers import corpora, runs

LANGS = {"source_lang": "en", "target_lang": "de"}
PAIRS = [corpora.sentence(number) for number in range(120)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Return a model in a directory of its own."""
    directory = tmp_path_factory.mktemp("model") / "hmm"
    return pairweave.fit(PAIRS, output=directory, **LANGS)


def table(pairs=PAIRS):
    source, target = zip(*pairs, strict=True)
    return pa.table({"source": source, "target": target})


def written(directory, job, *more):
    """Run a command on the same pairs and return its rows."""
    pq.write_table(table(), directory / "pairs.parquet")
    words = ("--input", "pairs.parquet", "--source_lang", "en", "--target_lang", "de")
    fields = ("--source_field", "source", "--target_field", "target")
    runs.run_well_here(job, *words, *fields, *more, "--output", job, cwd=directory)
    return pyarrow.dataset.dataset(directory / job / "data").to_table()


def test_what_is_wrong_with_pairs_or_files_is_returned(tmp_path):
    tagged = [(f"<b>{source}</b>", target) for source, target in PAIRS]
    (finding,) = pairweave.check(tagged, **LANGS)
    assert isinstance(finding, pairweave.Finding)
    assert (finding.kind, finding.count, finding.first_line) == ("inline_tags", 120, 1)
    for side, name in enumerate(("a.en", "a.de")):
        (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in tagged))
    paths = {"source_input": tmp_path / "a.en", "target_input": [tmp_path / "a.de"]}
    assert [each.kind for each in pairweave.check(**paths, **LANGS)] == ["inline_tags"]
    assert pairweave.check(table(), **LANGS) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "takes pairs, or files"),
        ({"pairs": PAIRS, "input": "a.tsv"}, "takes pairs, or files"),
        ({"pairs": PAIRS, "fail_on": "empty"}, "look at the findings"),
        ({"pairs": PAIRS, "source_lnag": "en"}, "did you mean source_lang"),
    ],
)
def test_a_look_at_nothing_or_by_unknown_keywords_is_an_error(given, said):
    with pytest.raises(pairweave.PairweaveError, match=said):
        pairweave.check(**given)


@pytest.mark.parametrize(
    ("job", "flags", "options"),
    [
        (
            "augment",
            ("--max_tags", 3, "--seed", 7, "--keep_links"),
            {"max_tags": 3, "seed": 7, "keep_links": True, "whitespace_shift": False},
        ),
        ("align", ("--heuristic", "intersection"), {"heuristic": "intersection"}),
    ],
)
def test_rows_are_those_of_the_command(model, tmp_path, job, flags, options):
    expected = written(tmp_path, job, *flags, "--model", model.directory, "--workers", 1)
    actual = getattr(pairweave, job)(PAIRS, model, **LANGS, **options).rows
    assert actual.schema == expected.schema
    assert actual.equals(expected)
    assert actual.num_rows > 50


def test_a_model_is_fitted_where_none_is_given():
    few = PAIRS[:60]
    fitted = pairweave.fit(few, **LANGS)
    rows = pairweave.align(few, fitted, **LANGS).rows
    assert pairweave.align(few, **LANGS).rows.equals(rows)
    directory = fitted.directory
    assert (Path(directory) / "about.json").exists()
    del fitted
    assert not Path(directory).exists()


def test_a_model_is_found_after_a_change_of_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fitted = pairweave.fit(PAIRS[:20], output="hmm", **LANGS)
    monkeypatch.chdir("/")
    assert pairweave.align(PAIRS[:2], fitted, **LANGS).rows.num_rows == 2


def test_every_kind_of_table_is_the_same_pairs():
    arrow = table()
    wide = pa.schema([("target", pa.large_string()), ("source", pa.large_string())])
    chunked = pa.concat_tables([arrow.slice(0, 7), arrow.slice(7)]).select(["target", "source"])
    frame = arrow.to_pandas().assign(other=1)
    frame.index = range(1000, 1000 + len(frame))
    kinds = [
        arrow,
        arrow.to_batches()[0],
        chunked.cast(wide),
        frame,
        frame.set_index(pd.Index([str(number) for number in frame.index], name="source_id")),
        pl.from_arrow(arrow),
        (pair for pair in PAIRS),
    ]
    for kind in kinds:
        actual = python_tables.as_table(kind, ("source", "target"))
        assert actual.equals(arrow), type(kind)


def test_categories_are_texts_and_numbers_and_bytes_are_none():
    texts = {"source": ["a", "b", "a"], "target": ["x", None, "z"]}
    expected = pa.table(texts)
    for frame in (
        pl.DataFrame(texts, schema=dict.fromkeys(texts, pl.Categorical)),
        pl.DataFrame(texts, schema={"source": pl.Enum(["a", "b"]), "target": pl.String}),
        pd.DataFrame(texts).astype("category"),
    ):
        assert python_tables.as_table(frame, tuple(texts)).equals(expected)
    for values in ([1, 2], [1.5, 2], [b"a", b"b"]):
        frame = pd.DataFrame({"source": values, "target": ["x", "y"]})
        with pytest.raises(ConfigError, match=r"^pairs: column source holds no text"):
            python_tables.as_table(frame, tuple(texts))
    nothing = pd.DataFrame({"source": ["a"], "target": [float("nan")]})
    assert python_tables.as_table(nothing, tuple(texts))["target"].to_pylist() == [None]


def test_a_column_of_translations_has_both_sides_by_language():
    rows = [{"en": source, "de": target} for source, target in PAIRS]
    expected = pa.table(dict(zip(("source", "target"), zip(*PAIRS, strict=True), strict=True)))
    table = pa.table({"id": range(len(rows)), "translation": rows})
    wanted = "source", "target"
    made = python_tables.as_table(table, wanted, options=LANGS)
    assert made.to_pydict() == expected.to_pydict()
    with_id = python_tables.as_table(table, ("id", *wanted), options=LANGS)
    assert with_id.column("id").to_pylist() == [*range(len(rows))]
    # The column is none of machine translations, which `suggest` reads.
    of_suggest = python_tables.as_table(table, (*wanted, "translation"), options=LANGS)
    assert of_suggest.to_pydict() == expected.to_pydict()
    with pytest.raises(ConfigError, match="column translation has texts in de, en; give source_la"):
        python_tables.as_table(table, wanted, options={"source_lang": "en"})


def test_lists_of_paragraphs_in_tuples_are_those_of_columns():
    lists = [(["a", "b"], ["x", "y"]), ("c", ("z",))]
    table = python_tables.as_table(lists, ("source", "target"), lists=True)
    assert table.to_pydict() == {"source": ["a\nb", "c"], "target": ["x\ny", "z"]}
    texts = {"source": [["a", "b"], ["c"]], "target": [["x", "y"], ["z"]]}
    for frame in (pa.table(texts), pd.DataFrame(texts), pl.DataFrame(texts)):
        assert python_tables.as_table(frame, tuple(texts), lists=True).equals(table)
    with pytest.raises(ConfigError, match="the source of tuple 0 is list; give text"):
        python_tables.as_table(lists, ("source", "target"))


def test_no_keyword_has_a_default_that_its_type_excludes():
    for function in (pairweave.augment, pairweave.bitext, pairweave.suggest, pairweave.evaluate):
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.default is None:
                assert type(None) in typing.get_args(parameter.annotation), name


def test_a_run_that_is_kept_has_its_rejects(model, tmp_path):
    pairs = [*PAIRS, ("", "leer")]
    output = tmp_path / "run"
    rows = pairweave.augment(pairs, model, output=output, **LANGS)
    manifest = json.loads((output / "_manifest.json").read_text())
    assert manifest["rejected"]["empty_source"] == 1
    assert pyarrow.dataset.dataset(output / "data").to_table().equals(rows.rows)
    assert rows.rejects["reason"].to_pylist() == ["empty_source"]


def test_suggestions_are_made_of_translations():
    triples = [(source, target, target.replace("ein", "kein")) for source, target in PAIRS]
    with pytest.warns(UserWarning, match="were rejected as (no_mask|filtered)"):
        rows = pairweave.suggest(triples, methods="random", min_source_words=1, **LANGS).rows
    assert rows.num_rows > 50
    assert set(rows.column("method").to_pylist()) == {"random"}


def test_links_of_two_directions_are_combined():
    forward, reverse = ["0-0 1-1", "", "0-1"], [[(0, 0), (2, 1)], [], [(0, 1)]]
    actual = pairweave.symmetrize(forward, reverse, heuristic="union")
    link = pa.struct([("source", pa.int32()), ("target", pa.int32())])
    assert actual.schema == pa.schema([("links", pa.list_(link))])
    shown = [[(x["source"], x["target"]) for x in cell] for cell in actual["links"].to_pylist()]
    assert shown == [[(0, 0), (1, 1), (2, 1)], [], [(0, 1)]]
    with pytest.raises(pairweave.PairweaveError, match=r"^forward: has 1 line, but reverse"):
        pairweave.symmetrize(["0-0"], [])


def test_tags_are_projected():
    actual = pairweave.project_tags(["a <b>house</b>"], ["ein Haus"], ["0-0 1-1"], syntax="html")
    assert actual["text"].to_pylist() == ["ein <b>Haus</b>"]
    (sure,) = actual["confidence"].to_pylist()
    assert len(sure) == 2
    assert sure[0] == sure[1] > 0.5
    given = ["a <b>house</b>"], ["ein Haus"], ["0-0 1-1"]
    paper = pairweave.project_tags(*given, syntax="html", rules="paper")
    assert paper.to_pylist() == [{"text": "ein <b>Haus</b>", "confidence": None}]
    with pytest.raises(pairweave.PairweaveError, match=r"^translations: .* has a line break"):
        pairweave.project_tags(["a"], ["b\nc"], ["0-0"], syntax="html")


def test_tags_are_projected_with_a_fitted_model():
    model = pairweave.fit(PAIRS, **LANGS)
    source, target = PAIRS[0]
    tagged = [f"<b>{source}</b>"]
    actual = pairweave.project_tags(tagged, [target], model=model, syntax="html", **LANGS)
    assert actual["text"].to_pylist() == [f"<b>{target}</b>"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["a", None], "^hypothesis: item 1 is NoneType; give text"),
        (["a\ud800"], "^hypothesis: item 0 cannot be written as UTF-8"),
        (b"0-0", "^hypothesis: got bytes; give a list"),
    ],
)
def test_what_is_no_sentence_is_named_with_its_place(given, said):
    with pytest.raises(pairweave.PairweaveError, match=said):
        pairweave.evaluate("links", given, ["0-0"])


@pytest.mark.parametrize(
    ("links", "said"),
    [
        ([[(0, 0)], [(0, 1, 2)]], r"^reverse: item 1 is \[\(0, 1, 2\)\]; give text such as"),
        ([[(0, 0)], None], "^reverse: item 1 is None; give text such as"),
        ("0-0", "^reverse: got str; give a list"),
    ],
)
def test_what_is_no_links_is_named_with_its_place(links, said):
    with pytest.raises(pairweave.PairweaveError, match=said):
        pairweave.symmetrize(["0-0", "0-0"], links)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ("a\tb", "got str; give an Arrow table"),
        (7, "got int"),
        ([("a", "b"), ("c",)], "tuple 1 has 1 items"),
        ([("a", "b"), ("a", 1)], "the target of tuple 1 is int; give text"),
        ([1, 2], "item 0 is int; give tuples of source and target"),
        (["ab"], "item 0 is str; give tuples"),
        ({"source": ["a"], "target": ["b"]}, r"got dict; .* pandas.DataFrame\(pairs\) makes one"),
        ([{"source": "a", "target": "b"}], r"item 0 is dict; .* pandas.DataFrame\(pairs\)"),
        (
            pa.table({"source": ["a"], "ziel": ["b"]}),
            "no column target; their columns: source, ziel",
        ),
        (
            pd.DataFrame({"source": ["a"], "ziel": ["b"]}),
            "no column target; their columns: source, ziel",
        ),
        (pa.table({"source": [[1]], "target": ["b"]}), "column source holds no text"),
        (
            [("a", "b"), ("a", "bc\ud800")],
            r"the target of tuple 1 is not valid Unicode, .* \(U\+D800\) at character 2; mend it",
        ),
        (
            pd.DataFrame({"source": ["a\udfff", "a"], "target": ["b", "c"]}, dtype=object),
            r"the source of row 0 is not valid Unicode, .* \(U\+DFFF\) at character 1; mend it",
        ),
        (
            pd.DataFrame([["a", "b"]], columns=pd.Index(["quelle", "\ud800"], dtype=object)),
            "a name of a column is not valid Unicode",
        ),
        (pd.DataFrame({"source": ["a", 1], "target": ["b", "c"]}), "this DataFrame is not a table"),
        (pd.Series(["a", "b"]), "this Series is not a table of texts"),
        (
            pa.table([["a"], ["b"], ["c"]], ["source", "target", "source"]),
            "two columns have the same name; their columns: source, target, source",
        ),
        (
            pd.DataFrame([["a", "b", "c"]], columns=["source", "target", "source"]),
            "Duplicate column names",
        ),
    ],
)
def test_pairs_that_are_none_are_refused(pairs, said):
    with pytest.raises(pairweave.PairweaveError, match=said):
        pairweave.align(pairs)


def test_other_columns_of_a_frame_may_hold_anything(model):
    frame = table().to_pandas().assign(note=["a", 1] * 60)
    assert len(pairweave.align(frame, model, **LANGS).rows) == len(PAIRS)


def test_a_number_of_trials_is_named_as_the_argument():
    with pytest.raises(pairweave.PairweaveError, match=r"^count: input should be greater"):
        pairweave.try_(PAIRS, count=0, **LANGS)


def test_no_pairs_to_fit_on_are_named_as_the_argument():
    with pytest.raises(pairweave.PairweaveError, match=r"on: pairs has no pair \(0 rows\)"):
        pairweave.align([], source_lang="en", target_lang="de")


def test_a_file_of_the_caller_keeps_its_name(tmp_path):
    with pytest.raises(pairweave.PairweaveError, match=r"pairs\.parquet"):
        pairweave.check(input=str(tmp_path / "pairs.parquet"))


def test_what_is_fitted_or_evaluated_is_named_as_the_argument(capfd):
    with pytest.raises(pairweave.PairweaveError, match=r"^pairs: there are none to fit"):
        pairweave.fit([], source_lang="en", target_lang="de")
    with pytest.raises(pairweave.PairweaveError, match=r"^gold: has no sure link"):
        pairweave.evaluate("links", [], [])
    with pytest.raises(pairweave.PairweaveError, match=r"^forward:1: 'x' is not a link") as refused:
        pairweave.symmetrize(["x"], ["0-0"])
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    assert capfd.readouterr().err == ""


def test_nothing_to_fit_on_is_said_once_and_names_no_deleted_directory(tmp_path, capfd):
    for output, place in ((None, ""), (tmp_path, rf"; the rejected pairs are in {tmp_path}/reje")):
        said = rf"rejected as empty_source, as at pairs line 1{place}"
        with pytest.raises(pairweave.PairweaveError, match=said) as refused:
            pairweave.fit([("", "")], output=output, **LANGS)
        assert ("the rejected pairs are in" in str(refused.value)) == bool(place)
    assert capfd.readouterr().err == ""


def test_threads_leave_standard_output_alone(capsys):
    def work(number):
        if number % 2:
            assert pairweave.evaluate("links", ["0-0"], ["0-0"])["aer"] == 0
        else:
            pairweave.fit(PAIRS[:20], **LANGS)
        sys.stdout.write(f"thread {number}\n")

    stream = sys.stdout
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(8)))
    assert sys.stdout is stream
    assert sorted(capsys.readouterr().out.split("\n")[:-1]) == [f"thread {n}" for n in range(8)]


def python(code):
    """Run a program that imports the package; return what it has written."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=runs.ROOT, capture_output=True, text=True, check=True)


@pytest.mark.slow
def test_logs_are_left_to_the_program_that_calls():
    code = (
        "import logging, pairweave\n"
        f"pairs = {PAIRS!r}\n"
        "languages = {'source_lang': 'en', 'target_lang': 'de'}\n"
        "pairweave.fit(pairs, **languages)\n"
        "assert not logging.getLogger().handlers\n"
        "logging.basicConfig(format='%(message)s')\n"
        "try: pairweave.fit([('', '')], **languages)\n"
        "except pairweave.PairweaveError: logging.warning('refused')\n"
    )
    done = python(code)
    assert (done.stdout, done.stderr) == ("", "refused\n")


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_in_a_step_ends_a_function_by_an_exception(monkeypatch, workers):
    def interrupted(*_):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(hmm_fitting, "fit", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            pairweave.align(PAIRS, workers=workers, **LANGS)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.slow
def test_a_forked_process_leaves_the_model_of_its_parent():
    code = (
        "import os, sys, pairweave\n"
        "from tests.makers import corpora\n"
        "pairs = [corpora.sentence(number) for number in range(20)]\n"
        "model = pairweave.fit(pairs, source_lang='en', target_lang='de')\n"
        "child = os.fork()\n"
        "if not child: sys.exit()\n"
        "os.waitpid(child, 0)\n"
        "print(os.path.exists(model), model.directory)\n"
    )
    exists, directory = python(code).stdout.split()
    assert exists == "True"
    assert not Path(directory).exists()


def test_a_reason_for_which_many_pairs_were_rejected_is_a_warning(model):
    pairs = [*PAIRS, *[(f"one {n}", f"eins zwei drei vier fünf {n}") for n in range(10)]]
    said = (
        r"10 of 130 pairs \(8%\) were rejected as length_ratio \(max_ratio 2\); max_ratio 3 would"
    )
    languages = {"source_lang": "en", "target_lang": "de"}
    with pytest.warns(UserWarning, match=said) as warned:
        pairweave.align(pairs, model=model, max_ratio=2.0, **languages)
    assert warned[0].filename == __file__


def test_a_command_in_a_message_is_one_for_a_shell():
    with pytest.raises(pairweave.PairweaveError) as refused:
        pairweave.align(PAIRS, "nothing", source_lang="en", target_lang="de")
    assert str(refused.value).startswith("model nothing: no fitted aligner there")
    assert str(refused.value).endswith("make one with: pairweave fit --output MODEL_DIR")


def test_a_mistyped_function_has_the_name_that_python_suggests_others_for():
    with pytest.raises(AttributeError, match="has no attribute 'augmnt'") as missing:
        _ = pairweave.augmnt
    assert (missing.value.name, missing.value.obj) == ("augmnt", pairweave)


def test_elsewhere_than_on_linux_a_function_is_refused_in_a_line(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delitem(pairweave.__dict__, "align", raising=False)
    with pytest.raises(ImportError, match=r"^pairweave: runs only on Linux, .* or WSL$"):
        _ = pairweave.align
    assert pairweave.__version__


def test_options_that_are_none_are_refused(model):
    with pytest.raises(pairweave.PairweaveError, match=r"^max_tag: did you mean max_tags\?"):
        pairweave.augment(PAIRS, model, max_tag=3)
    with pytest.raises(
        pairweave.PairweaveError, match=r"^max_tags: .*, got 30; see help"
    ) as refused:
        pairweave.augment(PAIRS, model, max_tags=30)
    assert "--" not in str(refused.value)
    with pytest.raises(pairweave.PairweaveError, match="input: pairs in memory are the input"):
        pairweave.augment(PAIRS, model, input="x.tsv")


@pytest.mark.parametrize("name", ["source_field", "translation_field", "format", "corpus"])
def test_options_of_files_are_not_passed_over(name):
    with pytest.raises(pairweave.PairweaveError, match=f"{name}: pairs in memory"):
        pairweave.align(PAIRS, **{name: "tsv"})
    with pytest.raises(pairweave.PairweaveError, match="output: texts in memory"):
        pairweave.project_tags(["a"], ["b"], ["0-0"], output="x")


@pytest.mark.parametrize(
    ("function", "name", "value"),
    [
        (pairweave.bitext, "pair_by", "name"),
        (pairweave.filter, "score_input", "scores.txt"),
        (pairweave.suggest, "translation_input", "translations.txt"),
    ],
)
def test_options_that_belong_to_files_are_no_keywords(function, name, value):
    assert name not in inspect.signature(function).parameters
    assert f"    {name}:" not in function.__doc__
    with pytest.raises(pairweave.PairweaveError, match=f"{name}: pairs in memory"):
        function([("a", "b")], **{name: value})


def test_links_of_a_table_are_read_by_the_aligner_given_alone(model):
    few = PAIRS[:60]
    lines = pa.array(["0-0"] * len(few))
    pairs = table(few).append_column("links", lines)
    rows = pairweave.align(pairs, aligner="given", tokens="whitespace", **LANGS).rows
    assert rows.num_rows == len(set(few))
    for cell in rows["links"].to_pylist():
        assert [(link["source"], link["target"]) for link in cell] == [(0, 0)]
    assert pairweave.align(pairs, **LANGS).rows.equals(pairweave.align(few, **LANGS).rows)
    tried = [pairweave.try_(each, model, count=2, **LANGS) for each in (pairs, few)]
    assert tried[0] == tried[1]


def test_links_with_a_line_break_are_refused():
    with pytest.raises(pairweave.PairweaveError, match=r"forward: .* has a line break"):
        pairweave.symmetrize(["0-0\n1-1"], ["0-0", "1-1"])


def test_only_public_names_are_there():
    assert dir(pairweave) == sorted(pairweave.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pairweave.nothing  # noqa: B018


def test_the_import_loads_no_library():
    code = (
        "import sys, pairweave; "
        "print([name for name in ('apache_beam', 'pyarrow', 'numpy', 'torch', 'pydantic') "
        "if name in sys.modules])"
    )
    assert python(code).stdout == "[]\n"


STEPWISE = {
    "augment": {"max_tags": 3, "seed": 5, "keep_origin": True},
    "align": {"heuristic": "union"},
    "filter": {"select_share": 0.5},
    "suggest": {"methods": ["random", "parallel"], "min_source_words": 1},
}


@pytest.mark.parametrize("job", STEPWISE)
def test_steps_without_a_runner_make_the_rows_and_rejects_of_a_run(model, tmp_path, job):
    triples = [(*pair, pair[1].replace("ein", "kein")) for pair in PAIRS]
    pairs = [
        *(triples if job == "suggest" else PAIRS),
        *([("", "leer")] if job != "suggest" else []),
    ]
    options = {**LANGS, **STEPWISE[job], **({} if job == "suggest" else {"model": model})}
    actual = getattr(pairweave, job)(pairs, **options)
    kept = getattr(pairweave, job)(pairs, **options, output=tmp_path / "kept")
    assert actual.rows.num_rows
    assert actual.rows.equals(kept.rows)
    assert actual.rejects.equals(kept.rejects)


def test_a_small_run_starts_no_runner(model, monkeypatch):
    def start(*_):
        raise AssertionError("a runner of Beam")

    monkeypatch.setattr("pairweave.pipelines.run.job.execute", start)
    assert pairweave.augment(PAIRS, model, **LANGS).rows.num_rows
    with pytest.raises(AssertionError, match="a runner"):
        pairweave.augment(PAIRS, model, **LANGS, shard_pairs=10, workers=2)
    monkeypatch.setattr(table_jobs, "STEPWISE_PAIRS", 10)
    with pytest.raises(AssertionError, match="a runner"):
        pairweave.augment(PAIRS, model, **LANGS)


def test_rows_come_back_as_what_was_given(model):
    frame = table().to_pandas()
    options = {**LANGS, "exclude": ()}
    rows = pairweave.augment(PAIRS, model, **options).rows
    for given, kind in (
        (frame, pd.DataFrame),
        (pl.from_arrow(table()), pl.DataFrame),
        (table(), pa.Table),
    ):
        made = pairweave.augment(given, model, **options)
        assert isinstance(made.rows, kind)
        assert isinstance(made.rejects, kind)
        column = made.rows["source"]
        texts = column.to_pylist() if kind is pa.Table else column.to_list()
        assert texts == rows["source"].to_pylist()


def test_a_data_set_comes_back_as_one(model):
    datasets = pytest.importorskip("datasets")
    given = datasets.Dataset(table())
    made = pairweave.augment(given.select(range(20)), model, **LANGS)
    assert isinstance(made.rows, datasets.Dataset)
    assert len(set(made.rows["id"])) == len(set(PAIRS[:20]))


def test_the_help_of_a_function_has_the_options_of_its_job():
    parameters = inspect.signature(pairweave.augment).parameters
    assert list(parameters)[:2] == ["pairs", "model"]
    assert parameters["max_tags"].default == 9
    assert parameters["max_tags"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters["source_lang"].annotation == str | None
    assert not {"input", "source_field", "corpora", "plan_only", "csv_delimiter"} & set(parameters)
    assert "    max_tags: most tags in a pair" in pairweave.augment.__doc__
    assert "--" not in pairweave.augment.__doc__
    assert "select_share" in inspect.signature(pairweave.filter).parameters


def test_documents_become_sentences(model):
    documents = [list(side) for side in zip(*PAIRS[:40], strict=True)]
    lists = pa.table({"source": [documents[0]], "target": [documents[1]]})
    texts = [tuple("\n".join(side) for side in documents)]
    of_lists, of_texts = (
        pairweave.bitext(pairs, model, split="lines", **LANGS).rows for pairs in (lists, texts)
    )
    assert of_lists.equals(of_texts)
    made = set(zip(*(of_lists[side].to_pylist() for side in ("source", "target")), strict=True))
    assert len(made & set(PAIRS[:40])) > 20


def test_a_trial_has_the_steps_of_each_pair(model):
    trials = pairweave.try_(PAIRS, model, count=3, **LANGS)
    assert [trial.place[1] for trial in trials] == [1, 2, 3]
    assert any(trial.rows for trial in trials)
    by_language = pa.table(
        {"translation": [dict(zip(("en", "de"), p, strict=True)) for p in PAIRS]}
    )
    assert pairweave.try_(by_language, model, count=3, **LANGS) == trials


def test_results_are_evaluated(tmp_path):
    actual = pairweave.evaluate("links", ["0-0 1-1"], ["0-0 1-1"])
    assert actual["aer"] == 0
    (tmp_path / "gold").write_text("0-0\n")
    assert pairweave.evaluate("links", ["0-0 1-1"], tmp_path / "gold")["precision"] == 0.5
    with pytest.raises(pairweave.PairweaveError, match=r"kind: must be one of links"):
        pairweave.evaluate("word_links", [], [])


def test_the_help_of_evaluate_has_the_options_of_every_kind_and_names_the_kinds():
    parameters = inspect.signature(pairweave.evaluate).parameters
    assert list(parameters)[:3] == ["kind", "hypothesis", "gold"]
    assert "options" not in parameters
    assert all(
        parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in list(parameters)[3:]
    )
    assert not {"reference", "data", "golden"} & set(parameters)
    assert typing.get_args(parameters["kind"].annotation)[0] == "links"
    assert (parameters["one_based"].annotation, parameters["one_based"].default) == (bool, False)
    assert (parameters["trials"].annotation, parameters["trials"].default) == (int, 10_000)
    assert parameters["target_lang"].annotation == str | None
    said = pairweave.evaluate.__doc__
    assert "--" not in said
    assert "    one_based: (links) the gold counts words from 1" in said
    assert "    resamples: (suggestions, tags) number of samples of the bootstrap" in said
    assert "    target_lang: (suggestions) language of the suggestions; " in said
    assert "; (tags) BCP 47 tag of the outputs" in said


def test_keywords_of_evaluate_are_checked_for_the_kind():
    given = ["0-0"], ["0-0"]
    for kind, keywords, said in (
        ("links", {"one_base": True}, r"^one_base: did you mean one_based\?; see help\(pairweave"),
        ("links", {"target_lang": "de"}, "^target_lang: applies to suggestions and tags, not to l"),
        (
            "links",
            {"baseline": ["0-0"]},
            "^baseline: applies to suggestions and tags, not to links",
        ),
        ("tags", {"reference": ["a"]}, "^reference: it is the argument gold; leave it out"),
        ("tags", {"nothing": 1}, "^nothing: no such option"),
    ):
        with pytest.raises(pairweave.PairweaveError, match=said):
            pairweave.evaluate(kind, *given, **keywords)
    assert pairweave.evaluate("links", *given, source=None, one_based=None)["aer"] == 0


def test_sources_and_another_system_are_given_as_lines():
    text = ["a <b>house</b>"]
    actual = pairweave.evaluate(
        *("tags", text, text), source=text, baseline=["a house"], bleu_words="off", trials=10
    )
    assert actual["failures"]["total"] == 0
    assert actual["baseline"]["failures"]["dropped"] == 2


def test_the_help_of_project_tags_has_the_options_of_the_command():
    parameters = inspect.signature(pairweave.project_tags).parameters
    assert list(parameters)[:3] == ["sources", "translations", "links"]
    assert not {"options", "source_input", "target_input", "output", "confidence"} & set(parameters)
    assert parameters["rules"].default == "best"
    assert "    syntax: syntax of tags in the text" in pairweave.project_tags.__doc__
    with pytest.raises(pairweave.PairweaveError, match=r"^syntx: did you mean syntax\?; see help"):
        pairweave.project_tags(["a"], ["b"], ["0-0"], syntx="html")


def test_a_warning_names_the_line_of_the_caller(model, capsys):
    with pytest.warns(UserWarning, match="give source_lang and target_lang, such as en") as seen:
        pairweave.align(PAIRS[:5], model)
    assert seen[0].filename == __file__
    assert capsys.readouterr().err == ""


def test_the_version_is_that_of_the_distribution():
    assert pairweave.__version__ == importlib.metadata.version("pairweave")


def test_errors_about_input_name_keywords_too_and_survive_pickling():
    with pytest.raises(pairweave.PairweaveError) as refused:
        pairweave.align([("a b", "c d")], exclude=["absent"], source_lang="en", target_lang="de")
    assert str(refused.value) == "absent: no such file; give the files of exclude [no_match]"
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


def test_a_text_in_quotes_keeps_its_hyphens():
    with pytest.raises(pairweave.PairweaveError, match="hypothesis:1: '--foo' is not a link"):
        pairweave.evaluate("links", ["--foo"], ["0-1"])
