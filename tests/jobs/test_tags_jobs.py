import json

import pytest

from tests import check_tagged
from tests.makers import corpora, runs

FILES = ("--source_input", "c.en", "--target_input", "c.de", "--workers", "1")
SHARES = ("--self_closing_share", "0.3", "--damage_share", "0.2", "--empty_share", "0.1")
FORMS = (*SHARES, "--split_share", "0.3")
TEMPLATE = ("⟦{index}⟧", "⟦/{index}⟧", "⟦{index}/⟧")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    directory = tmp_path_factory.mktemp("corpus")
    pairs = sorted({corpora.sentence(number) for number in range(400)})
    for side, name in enumerate(("c.en", "c.de")):
        lines = [pair[side] for pair in pairs]
        lines[:20] = [f"<b>{line}</b> <i>{line}</i>" for line in lines[:20]]
        (directory / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    runs.run_well_here("fit", *FILES, "--output", "model", cwd=directory)
    return directory


def augment(directory, output, *more):
    job = ("augment", *FILES, "--model", "model", "--shard_pairs", "100", "--output", output)
    runs.run_well_here(*job, *more, cwd=directory)
    return directory / output


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plain", ()),
        ("indexed", FORMS),
        ("crossing", (*FORMS, "--nesting", "free", "--variants", "3")),
        ("xliff", (*FORMS, "--representation", "xliff")),
        ("masked", (*FORMS, "--representation", "masked")),
        ("html", (*FORMS, "--representation", "html")),
        ("template", (*FORMS, "--representation", "template", "--template", *TEMPLATE)),
    ],
)
def test_an_independent_reading_of_every_form_agrees(corpus, name, options):
    output = augment(corpus, name, *options)
    actual = check_tagged.check(output, [str(corpus / "c.en"), str(corpus / "c.de")])
    assert actual["tagged"] > 200
    counts = json.loads((output / "_manifest.json").read_text())["counts"]
    special = {"self_closing_tags", "opening_halves", "closing_halves", "empty_tag_pairs"}
    assert (special | {"tags_in_two_parts"} <= counts.keys()) == bool(options)
    assert actual["rejected"].get("reserved_token", 0) == (20 if name == "html" else 0)


def test_options_that_are_left_alone_are_not_in_the_plan(corpus):
    plain = augment(corpus, "plain") / "_plan.json"
    split = augment(corpus, "split", "--split_share", "0.3") / "_plan.json"
    configuration = json.loads(plain.read_text())["configuration"]
    assert not {"self_closing_share", "template", "tag_profile", "split_share"} & set(configuration)
    assert json.loads(split.read_text())["configuration"]["split_share"] == 0.3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--self_closing_share", "2"), "self_closing_share: input should be less than or equal"),
        (("--template", "[{index}]"), "--representation template needs --template"),
        (("--representation", "template"), "--representation template needs --template"),
        (("--representation", "template", "--template", "a", "b"), "--template needs three forms"),
        (("--tag_profile", "nowhere.json"), "nowhere.json"),
    ],
)
def test_what_the_user_must_mend_is_said_before_anything_is_written(corpus, options, message):
    job = ("augment", *FILES, "--model", "model", "--output", "bad", *options)
    status, _, errors = runs.run_here(*job, cwd=corpus)
    assert status == 2
    assert message in errors
    assert not (corpus / "bad").exists()
