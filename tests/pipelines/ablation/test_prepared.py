"""A directory is prepared once, and test segments never get into training data."""

import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pytest

from pairweave.models.subwords.symbol_pieces import extend_sentencepiece
from pairweave.models.translation.translation_pairs import Vocabulary
from pairweave.pipelines.ablation import arm_data, translation_task
from pairweave.pipelines.ablation import prepared as preparation
from pairweave.pipelines.ablation.ablation_config import Ablation, Arm
from pairweave.pipelines.ablation.prepared import PLAN, prepare
from pairweave.transforms.errors import ConfigError
from tests.makers.ablations import configuration, write_pairs, write_unit


def prepared(tmp_path, value=None):
    ablation = Ablation.model_validate(value or configuration(tmp_path))
    return prepare(ablation, tmp_path / "made")


def test_arms_of_the_same_text_differ_in_their_tags_alone(tmp_path):
    made = prepared(tmp_path)
    (plain,), (own,) = made.passes("plain"), made.passes("own")
    assert any("<a_0>" in source and "<a_0>" in target for source, target in own)
    stripped = [
        tuple(side.replace("<a_0>", "").replace("</a_0>", "") for side in pair) for pair in own
    ]
    assert stripped == plain


def test_pairs_are_taken_by_their_text_so_all_arms_have_the_same(tmp_path):
    value = configuration(tmp_path)
    for arm in value["arms"].values():
        arm["data"][0]["take"] = 7
    made = prepared(tmp_path, value)
    (plain,), (own,) = made.passes("plain"), made.passes("own")
    assert len(plain) == len(own) == 7
    assert [pair[0].split()[-1] for pair in plain] == [pair[0].split()[-1] for pair in own]


def test_parts_with_fewer_passes_begin_again(tmp_path, monkeypatch):
    ablation = Ablation.model_validate(configuration(tmp_path))
    parts = iter(([["a"], ["b"], ["c"]], [["x"], ["y"]], [["z"]]))
    monkeypatch.setattr(arm_data, "_passes", lambda *_: next(parts))
    data = ablation.arms["own"].data * 3
    made = arm_data.read_stage("arms.own", data, ablation, "runs")
    assert made.passes == [["a", "x", "z"], ["b", "y", "z"], ["c", "x", "z"]]


def test_fewer_pairs_than_an_arm_takes_are_said_once(tmp_path, caplog):
    value = configuration(tmp_path)
    pairs = len(prepared(tmp_path, value).passes("plain")[0])
    value["arms"]["plain"]["data"][0]["take"] = pairs
    value["arms"]["own"]["data"][0]["take"] = pairs + 1
    prepare(Ablation.model_validate(value), tmp_path / "again")
    (said,) = (each.getMessage() for each in caplog.records if "to take" in each.getMessage())
    assert said.startswith("arms.own.data[0]: ")
    assert f"{pairs} different pairs, fewer than the {pairs + 1} to take" in said


def test_a_second_preparation_reads_no_data_again(tmp_path):
    value = configuration(tmp_path)
    first = prepared(tmp_path, value)
    (tmp_path / "train.en").unlink()
    second = prepared(tmp_path, value)
    assert second.arms == first.arms
    assert second.passes("own") == first.passes("own")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("_ablation.json", b"", "not JSON"),
        ("_ablation.json", b"[]", "expected a JSON object, found []; was it edited?"),
        (
            "arms/own/about.json",
            b"{",
            "not JSON (unexpected end of data: line 1 column 2 (char 1)); "
            "delete the arm's directory and its units to prepare it again",
        ),
        ("arms/own/about.json", b"{}", "recipe: is missing; delete the arm's directory"),
        ("arms/own/about.json", b'{"recipe": 5}', "recipe: expected an object, found 5; delete"),
        ("vocabulary.json", b"{}", "sha256: is missing; delete it and vocabulary.spm to make both"),
    ],
)
def test_a_damaged_file_is_named_in_one_line(tmp_path, name, data, said):
    value = configuration(tmp_path)
    prepared(tmp_path, value)
    path = tmp_path / "made" / name
    path.write_bytes(data)
    with pytest.raises(ConfigError) as caught:
        prepared(tmp_path, value)
    assert str(caught.value).startswith(f"{path}: {said}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [None, b"", b"PAR1"])
def test_pairs_that_cannot_be_read_are_named(tmp_path, data):
    made = prepared(tmp_path)
    path = tmp_path / "made/arms/own/pass-0.parquet"
    path.unlink()
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ConfigError, match=r"pass-0\.parquet: cannot be read"):
        made.passes("own")


@pytest.mark.parametrize("data", [None, b"", b"ARROW1"])
def test_a_damaged_aligner_of_an_arm_is_named_before_training(tmp_path, data):
    value = configuration(tmp_path)
    value["arms"]["plain"]["project"] = {}
    made = prepared(tmp_path, value)
    assert made.hmm("own") is None
    assert made.hmm("plain").digest == made.arms["plain"]["aligner"]
    path = tmp_path / "made/arms/plain/aligner/jumps.arrow"
    path.unlink()
    if data is not None:
        path.write_bytes(data)
    said = r"arms/plain/aligner.*jumps\.arrow.*; delete the arm's directory and its units"
    with pytest.raises(ConfigError, match=said):
        made.hmm("plain")


def test_an_arm_can_be_added_but_not_changed(tmp_path):
    value = configuration(tmp_path)
    first = prepared(tmp_path, value)
    more = write_pairs(tmp_path, "more", range(3_000, 3_020))
    value["arms"]["more"] = {"data": [*value["arms"]["own"]["data"], more]}
    second = prepared(tmp_path, value)
    assert second.vocabulary_digest == first.vocabulary_digest
    assert len(second.passes("more")[0]) == 80
    value["arms"]["more"]["data"].pop()
    with pytest.raises(ConfigError, match=r"arms\.more: .* was prepared by another recipe"):
        prepared(tmp_path, value)


@pytest.mark.parametrize(
    ("key", "other", "named"),
    [
        ("vocabulary", 150, "vocabulary"),
        ("size", "toy", "size"),
        ("baseline", "own", "text_of_vocabulary"),
        ("overlap", "leave_out", "overlap"),
    ],
)
def test_a_directory_of_another_configuration_is_refused(tmp_path, key, other, named):
    value = configuration(tmp_path)
    prepared(tmp_path, value)
    with pytest.raises(ConfigError, match=f"belongs to an ablation with another {named}"):
        prepared(tmp_path, {**value, key: other})


def test_other_test_segments_are_refused(tmp_path):
    value = configuration(tmp_path)
    prepared(tmp_path, value)
    value["tests"] = {"help": write_pairs(tmp_path, "test", range(2_000, 2_011))}
    with pytest.raises(ConfigError, match="belongs to an ablation with another tests"):
        prepared(tmp_path, value)


def test_a_directory_of_another_task_is_refused(tmp_path):
    made = prepared(tmp_path)
    plan = made.directory / PLAN
    plan.write_text(json.dumps({**json.loads(plan.read_text()), "task": "suggestion"}))
    with pytest.raises(ConfigError, match="belongs to an ablation with another task"):
        prepared(tmp_path)


@pytest.mark.parametrize("name", ["tests", "dev"])
def test_a_reference_with_broken_tags_is_refused_before_anything_is_trained(tmp_path, name):
    value = configuration(tmp_path)
    given = write_pairs(tmp_path, "broken", range(2_100, 2_110))
    path = Path(given["target"])
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[3] = f"</b>{lines[3]}"
    path.write_text("".join(lines), encoding="utf-8")
    value[name] = {"help": given} if name == "tests" else given
    field = {"tests": "tests.help", "dev": "dev"}[name]
    with pytest.raises(ConfigError, match=f"^{field}: {path} line 4: its tags are broken, so no "):
        prepared(tmp_path, value)


def test_a_test_set_in_the_training_data_is_refused_by_name_and_number(tmp_path):
    value = configuration(tmp_path)
    write_pairs(tmp_path, "train", range(1_950, 2_003), tagged=False)
    with pytest.raises(ConfigError) as caught:
        prepared(tmp_path, value)
    assert str(caught.value).startswith(
        "tests.help: 3 of its segments are in the training data of arms.plain, the first "
    )


def test_test_segments_can_be_left_out_instead_and_are_counted(tmp_path):
    value = configuration(tmp_path, overlap="leave_out")
    write_pairs(tmp_path, "train", range(1_950, 2_003), tagged=False)
    made = prepared(tmp_path, value)
    assert len(made.passes("plain")[0]) == 50
    assert made.arms["plain"]["left_out"] == {"of the test sets": 3}


def test_test_segments_in_the_fit_of_the_aligner_are_refused(tmp_path):
    value = configuration(tmp_path)
    fit = write_pairs(tmp_path, "fit", range(1_996, 2_002), tagged=False)
    value["arms"]["plain"]["project"] = {
        "fit_source": fit["source"],
        "fit_target": fit["target"],
    }
    with pytest.raises(ConfigError, match=r"tests\.help: 2 of its segments are in the fit of the"):
        prepared(tmp_path, value)


ROWS = {"source": ["a", "b", "c"], "target": ["x", "y", "z"]}


@pytest.mark.parametrize(
    ("job", "columns", "kinds", "taken"),
    [
        ("augment", {"kind": ["plain", "tagged", "plain"]}, ("plain", "tagged"), "abc"),
        ("augment", {"kind": ["plain", "tagged", "plain"]}, ("tagged",), "b"),
        ("filter", {"keep": [True, False, True]}, ("plain", "tagged"), "ac"),
        ("bitext", {}, ("plain", "tagged"), "abc"),
        ("bitext", {}, ("tagged",), None),
        ("align", {}, ("plain", "tagged"), None),
    ],
)
def test_rows_of_a_run_are_those_of_the_kinds_that_it_keeps(
    monkeypatch, job, columns, kinds, taken
):
    class Run:
        settings, directory = {}, "finished"

        def tables(self):
            return [pa.table({**ROWS, **columns})]

    Run.job = job
    monkeypatch.setattr(translation_task.FinishedRun, "open", lambda _: Run())
    if taken is None:
        with pytest.raises(ConfigError, match=rf"^finished: a run of {job}"):
            list(translation_task._rows_of_run("finished", kinds))
        return
    found = list(translation_task._rows_of_run("finished", kinds))
    assert "".join(source for source, _ in found) == taken
    assert found == [row for row in zip(*ROWS.values(), strict=True) if row[0] in taken]


def test_rows_of_a_stream_are_those_of_their_epochs(monkeypatch):
    class Rows:
        epoch = 0

        def batches(self):
            for self.epoch, table in (
                (0, pa.table(ROWS).slice(0, 2)),
                (0, pa.table(ROWS).slice(2)),
            ):
                yield table
            self.epoch = 1
            yield pa.table(ROWS).slice(1)

        def state_dict(self):
            return {"epoch": self.epoch}

    asked = []
    monkeypatch.setattr(translation_task, "open_rows", lambda *given: asked.append(given) or Rows())
    pairs = list(zip(*ROWS.values(), strict=True))
    assert translation_task._streamed("finished", 2, {"seed": 3}) == [pairs, pairs[1:]]
    assert asked == [(["finished"], {"seed": 3, "epochs": 2})]


@pytest.mark.parametrize(
    ("stage", "is_refused"), [("read", False), ("screen", False), ("tag", True), (None, True)]
)
def test_a_pair_that_a_runs_aligner_has_seen_may_have_been_rejected_later(
    monkeypatch, tmp_path, stage, is_refused
):
    class Run:
        job, settings, names = "augment", {}, ["part"]

        def rejects_name(self, shard):
            return f"rejects-{shard}"

        def table(self, name, columns):
            is_kept = (name == "part") is (stage is None)
            source = "the <a_0>test</a_0>" if is_kept else "another"
            rows = {"source": [source, None], "stage": [stage or "tag", "read"]}
            return pa.table({column: rows[column] for column in columns}).slice(
                0, 1 + (name != "part")
            )

    ablation = Ablation.model_validate(configuration(tmp_path))
    arm = Arm.model_validate({"data": [{"run": "finished"}]})
    monkeypatch.setattr(preparation.FinishedRun, "open", lambda _: Run())
    if is_refused:
        with pytest.raises(
            ConfigError, match=r"tests\.help: 1 of its .* pairs of finished, on whi"
        ):
            preparation._refuse_fitted(arm, ablation, "runs", {"the test": "help"})
    else:
        preparation._refuse_fitted(arm, ablation, "runs", {"the test": "help"})


def test_a_part_without_pairs_is_named(tmp_path):
    value = configuration(tmp_path)
    value["arms"]["own"]["data"].append(write_pairs(tmp_path, "none", range(0)))
    with pytest.raises(ConfigError, match=r"arms\.own\.data\[1\]: .*none\.en.* has no pair"):
        prepared(tmp_path, value)


def test_exports_are_read(tmp_path):
    value = configuration(tmp_path)
    rows = [{"source": f"an <a_0>old</a_0> {n}", "target": f"<a_0>alt</a_0> {n}"} for n in range(3)]
    jsonl, tsv = tmp_path / "rows.jsonl", tmp_path / "rows.tsv"
    jsonl.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    lines = [f"{row['source']}\t{row['target']}\n" for row in rows]
    tsv.write_text("source\ttarget\n" + "".join(lines), encoding="utf-8")
    for name, path in (("jsonl", jsonl), ("tsv", tsv)):
        value["arms"][name] = {"data": [{"pairs": str(path), "times": 2}]}
    made = prepared(tmp_path, value)
    wanted = [tuple(row.values()) for row in rows] * 2
    assert made.passes("jsonl") == made.passes("tsv") == [wanted]


@pytest.mark.parametrize(
    ("name", "said"), [("rows.tsv", "has no pair to train on"), ("rows.txt", r"named \*\.jsonl or")]
)
def test_an_export_that_is_empty_or_of_another_kind_is_named(tmp_path, name, said):
    value = configuration(tmp_path)
    (tmp_path / name).touch()
    value["arms"]["own"]["data"] = [{"pairs": str(tmp_path / name)}]
    with pytest.raises(ConfigError, match=rf"arms\.own\.data\[0\]: .*{name}.*{said}"):
        prepared(tmp_path, value)


def test_the_vocabulary_has_pieces_for_raw_tags_if_an_arm_has_them(tmp_path):
    value = configuration(tmp_path)
    assert not {"<", ">"} & set(Vocabulary(prepared(tmp_path, value).vocabulary).pieces)
    value["arms"]["own"]["raw_tags"] = True
    (tmp_path / "raw").mkdir()
    pieces = Vocabulary(prepared(tmp_path / "raw", value).vocabulary).pieces
    assert set('</>="') <= set(pieces)


@pytest.mark.parametrize("is_given", [True, False])
def test_a_vocabulary_without_pieces_for_raw_tags_is_refused(tmp_path, is_given):
    value = configuration(tmp_path)
    without = prepared(tmp_path, value).vocabulary
    if is_given:
        (tmp_path / "given.spm").write_bytes(without)
        value["vocabulary"] = str(tmp_path / "given.spm")
    value["arms"]["raw"] = {**value["arms"]["own"], "raw_tags": True}
    with pytest.raises(
        ConfigError, match=r"arms\.raw\.raw_tags: the vocabulary has no piece for '<'"
    ):
        prepared(tmp_path / "other" if is_given else tmp_path, value)


def with_start(directory, numbers, **changed):
    """Return a configuration whose models go on from one of plain text."""
    more = {**write_pairs(directory, "more", numbers), "tags": "strip"}
    return configuration(directory, start={"data": [more], "steps": 20, **changed})


def test_the_vocabulary_is_that_of_the_text_from_which_all_models_go_on(tmp_path):
    value = with_start(tmp_path, range(3_000, 3_080))
    for side in ("source", "target"):
        with Path(value["start"]["data"][0][side]).open("a", encoding="utf-8") as file:
            file.writelines(f"quiz {number}\n" for number in range(20))
    made = prepared(tmp_path, value)
    assert len(made.start_passes()[0]) == 100
    assert any(
        "q" in piece for piece in Vocabulary(made.vocabulary).pieces
    )  # no arm has the letter
    made.directory.joinpath("start", "pass-0.parquet").unlink()
    with pytest.raises(ConfigError, match=r"start/pass-0\.parquet: cannot be read"):
        made.start_passes()


def test_only_the_arms_that_are_needed_are_prepared(tmp_path):
    value = configuration(tmp_path)
    value["arms"]["other"] = value["arms"]["third"] = value["arms"]["own"]
    ablation = Ablation.model_validate(value)
    made = prepare(ablation, tmp_path / "made", ["own"])
    assert list(made.arms) == ["plain", "own"]
    # Its unit may have come from another machine.
    write_unit(prepare(ablation, tmp_path / "elsewhere", ["third"]), "third", 1)
    (tmp_path / "elsewhere" / "units").rename(tmp_path / "made" / "units")
    assert list(prepare(ablation, tmp_path / "made", []).arms) == ["plain", "third"]
    assert list(prepare(ablation, tmp_path / "made").arms) == ["plain", "own", "other", "third"]


def test_a_unit_of_an_arm_with_a_longer_name_is_not_one_of_the_shorter(tmp_path):
    value = configuration(tmp_path)
    value["arms"]["own-2"] = value["arms"]["own"]
    ablation = Ablation.model_validate(value)
    write_unit(prepare(ablation, tmp_path / "made", ["own-2"]), "own-2", 1)
    assert list(prepare(ablation, tmp_path / "made", []).arms) == ["plain", "own-2"]


@pytest.mark.parametrize("size", [0, 100])
def test_a_damaged_vocabulary_is_named(tmp_path, size):
    ablation = Ablation.model_validate(configuration(tmp_path))
    prepare(ablation, tmp_path / "made")
    path = tmp_path / "made" / "vocabulary.spm"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ConfigError, match=f"{path}: is damaged"):
        prepare(ablation, tmp_path / "made")


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot be read: No such file"), (b"words\n", "this is not a SentencePiece model")],
)
def test_a_given_vocabulary_that_cannot_be_used_is_named_before_data_are_made(
    tmp_path, content, message
):
    value = configuration(tmp_path, vocabulary=str(tmp_path / "given.spm"))
    if content is not None:
        (tmp_path / "given.spm").write_bytes(content)
    with pytest.raises(ConfigError, match=f"^vocabulary: {tmp_path}/given.spm: {message}"):
        prepared(tmp_path, value)
    assert not list(tmp_path.glob("made/arms/*"))
    # The directory is not claimed for the mistake.
    assert prepared(tmp_path, configuration(tmp_path)).vocabulary


def test_a_file_in_the_place_of_the_directory_is_named(tmp_path):
    (tmp_path / "made").write_text("a file\n")
    with pytest.raises(FileExistsError, match="is a file, not a directory; give another name"):
        prepared(tmp_path, configuration(tmp_path))


def test_another_vocabulary_in_its_place_is_refused(tmp_path):
    value = configuration(tmp_path)
    made = prepared(tmp_path, value)
    other = extend_sentencepiece(made.vocabulary, ["<another>"])
    made.vocabulary_path.write_bytes(other)
    with pytest.raises(ConfigError) as caught:
        prepared(tmp_path, value)
    found, wanted = hashlib.sha256(other).hexdigest(), made.vocabulary_digest
    assert str(caught.value) == (
        f"{made.vocabulary_path}: is not the vocabulary that was made for this directory: expected "
        f"SHA-256 {wanted}, found {found}; put that file back, or delete this one to make it again"
    )
    made.vocabulary_path.unlink()
    assert prepared(tmp_path, value).vocabulary == made.vocabulary
    assert prepared(tmp_path, value).vocabulary == made.vocabulary


def test_a_vocabulary_of_an_earlier_version_has_no_digest_and_gets_one(tmp_path):
    value = configuration(tmp_path)
    made = prepared(tmp_path, value)
    about = made.directory / "vocabulary.json"
    before = about.read_bytes()
    about.unlink()
    assert prepared(tmp_path, value).vocabulary == made.vocabulary
    assert about.read_bytes() == before


def test_another_start_is_refused(tmp_path):
    prepared(tmp_path, with_start(tmp_path, range(3_000, 3_080)))
    for other in (
        with_start(tmp_path, range(3_000, 3_080), steps=21),
        with_start(tmp_path, range(3_000, 3_080), seed=2),
        configuration(tmp_path),
    ):
        with pytest.raises(ConfigError, match="belongs to an ablation with another start"):
            prepared(tmp_path, other)


def test_with_a_start_tables_with_other_baselines_share_a_directory(tmp_path):
    value = with_start(tmp_path, range(3_000, 3_080))
    before = prepared(tmp_path, value)
    after = prepared(tmp_path, {**value, "baseline": "own"})
    assert after.vocabulary == before.vocabulary
    assert after.arms == before.arms


def test_a_test_set_in_the_data_of_the_start_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"3 of its segments are in the training data of start,"):
        prepared(tmp_path, with_start(tmp_path, range(1_950, 2_003)))


def test_changed_pairs_are_noticed(tmp_path):
    made = prepared(tmp_path)
    own = made.directory / "arms" / "own" / "pass-0.parquet"
    own.write_bytes((made.directory / "arms" / "plain" / "pass-0.parquet").read_bytes())
    with pytest.raises(ConfigError, match="its pairs are not those that were prepared"):
        made.passes("own")
