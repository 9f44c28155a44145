"""`tags fit_projection` learns where tags belong, and `tags project` uses what it learnt."""

import orjson
import pytest

from tests.makers.runs import run_here, run_well_here

LINES = 240


@pytest.fixture
def folder(tmp_path):
    """Write tagged texts in which a mark that the translation adds is part of the element."""
    source, target, links = [], [], []
    for number in range(LINES):
        word = f"w{number}"
        source.append(f"press <b>{word}</b> now please")
        target.append(f"drücke <b>{word}!</b> jetzt bitte")
        links.append("0-0 1-1 2-3 3-4")
    for name, lines in (("s", source), ("t", target), ("l", links)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path


def fit(folder, *more):
    return (
        *("tags", "fit_projection", "--source_input", folder / "s", "--target_input", folder / "t"),
        *("--links", folder / "l", "--syntax", "xml", "--output", folder / "w.json", *more),
    )


def project(folder, *more):
    plain = (folder / "t").read_text(encoding="utf-8").replace("<b>", "").replace("</b>", "")
    (folder / "plain").write_text(plain, encoding="utf-8")
    return (
        *("tags", "project", "--source_input", folder / "s", "--target_input", folder / "plain"),
        *("--links", folder / "l", "--syntax", "xml", "--output", folder / "out", *more),
    )


def test_what_was_learnt_places_tags_as_the_texts_have_them(folder):
    run_well_here(*fit(folder))
    run_well_here(*project(folder))
    assert (folder / "out").read_text(encoding="utf-8") != (folder / "t").read_text("utf-8")
    run_well_here(*project(folder, "--projection_weights", folder / "w.json"))
    assert (folder / "out").read_text(encoding="utf-8") == (folder / "t").read_text("utf-8")


def test_learning_twice_is_learning_once(folder):
    run_well_here(*fit(folder))
    first = (folder / "w.json").read_bytes()
    run_well_here(*fit(folder))
    assert (folder / "w.json").read_bytes() == first


def test_confidences_name_each_tag_of_the_source_its_place_and_how_sure_it_is(folder):
    (folder / "s").write_text("<i>a</i> b\nno tags\n")
    (folder / "t").write_text("y x\nkeine\n")
    (folder / "l").write_text("0-1 1-0\n\n")
    run_well_here(*project(folder, "--confidence", folder / "sure"))
    assert (folder / "out").read_text() == "y <i>x</i>\nkeine\n"
    tags, none = map(orjson.loads, (folder / "sure").read_bytes().splitlines())
    assert none == []
    assert [(row["tag"], row["raw"], row["offset"]) for row in tags] == [
        (0, "<i>", 2),
        (1, "</i>", 3),
    ]
    assert all(0 < row["confidence"] <= 1 for row in tags)


def test_too_few_elements_teach_nothing(folder):
    (folder / "t").write_text("x\n" * LINES)
    (folder / "l").write_text("\n" * LINES)
    status, _, errors = run_here(*fit(folder))
    assert status == 2
    assert "0 elements are in both texts, at least 200 are needed" in errors
    assert not (folder / "w.json").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("[]", "not in the format"),
        ('{"format": "pairweave projection weights 1"}', "spans has other names"),
    ],
)
def test_a_file_without_weights_is_refused(folder, content, message):
    (folder / "w.json").write_text(content)
    status, _, errors = run_here(*project(folder, "--projection_weights", folder / "w.json"))
    assert status == 2
    assert message in errors
    assert not (folder / "out").exists()


@pytest.mark.parametrize("option", ["projection_weights", "confidence"])
def test_the_rules_of_the_paper_have_no_weights(folder, option):
    given = (f"--{option}", folder / "w.json", "--rules", "paper")
    status, _, errors = run_here(*project(folder, *given))
    assert status == 2
    assert f"--{option}: applies to --rules best" in errors
