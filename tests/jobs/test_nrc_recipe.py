"""The recipe of the NRC's order, as it ships, on small made documents."""

import json

import pytest

from tests.makers import corpora, documents, runs

SHIPPED = runs.ROOT / "deploy/recipes/nrc_wmt20.yaml"
WORDS = 500
STEPS = ("baseline", *(f"{name}-{n}" for n in (1, 2) for name in ("model", "sentences", "best")))

pytestmark = pytest.mark.slow


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a directory with the recipe's input and its output."""
    directory = tmp_path_factory.mktemp("nrc")
    for name in ("clean", "documents"):
        (directory / name).mkdir()
    documents.write_documents(directory / "documents", (60, 50))
    # Of five pairs of the crawl one has the target of another.
    crawl = [
        (corpora.sentence(n)[0], corpora.sentence(n + 40 * (n % 5 == 0))[1]) for n in range(200)
    ]
    for side, name in enumerate(("en", "de")):
        write_lines(directory / f"crawl.{name}", [pair[side] for pair in crawl])
        clean = [corpora.sentence(number)[side] for number in range(500, 800)]
        write_lines(directory / f"clean/toy.{name}", clean)
    recipe = SHIPPED.read_text().replace("5_000_000", str(WORDS)).replace(".km", ".en")
    recipe = recipe.replace(
        "crawl.en\n  target_input: crawl.en", "crawl.en\n  target_input: crawl.de"
    )
    recipe = recipe.replace("target_input: clean/*.en", "target_input: clean/*.de")
    recipe = recipe.replace("target_input: documents/*.en", "target_input: documents/*.de")
    recipe = recipe.replace("source_lang: km\ntarget_lang: en", "source_lang: en\ntarget_lang: de")
    (directory / "recipe.yaml").write_text(recipe)
    words = ("run", "--config", "recipe.yaml", "--workers", "2", "--output", "out")
    runs.run_well(*words, cwd=directory)
    return directory


def manifests(directory):
    return {
        step: json.loads((directory / "out" / step / "_manifest.json").read_text())
        for step in STEPS
    }


def test_every_round_has_its_own_runs_and_fits_on_what_the_round_before_selected(finished):
    found = manifests(finished)
    assert sorted(path.name for path in (finished / "out").iterdir()) == sorted(
        [*STEPS, "_recipe.json"]
    )
    for number, before, name in ((1, "baseline", "crawl"), (2, "best-1", "documents")):
        model = found[f"model-{number}"]
        assert model["rows"]["read"] == found[before]["rows"]["kept"] + 300
        assert {corpus: entry["kept"] > 0 for corpus, entry in model["corpora"].items()} == {
            name: True,
            "clean": True,
        }
        best = found[f"best-{number}"]
        assert best["rows"]["read"] == found[f"sentences-{number}"]["rows"]["kept"]
        assert WORDS - 12 < best["counts"]["target words kept"] <= WORDS
        digests = {
            found[f"{step}-{number}"]["configuration"]["model"] for step in ("sentences", "best")
        }
        assert len(digests) == 1
    assert (
        found["sentences-1"]["configuration"]["model"]
        != found["sentences-2"]["configuration"]["model"]
    )


def test_the_summary_counts_every_round(finished):
    steps = json.loads((finished / "out/_recipe.json").read_text())["steps"]
    assert [step["name"] for step in steps] == list(STEPS)
    assert [step["reads"] for step in steps][1:4] == [
        ["baseline"],
        ["model-1"],
        ["sentences-1", "model-1"],
    ]
    for step in steps:
        assert step["rows"]["read"] == step["rows"]["kept"] + step["rows"]["rejected"] > 0


def test_selected_pairs_say_where_in_the_documents_they_stand(finished):
    rows = runs.rows_of(finished / "out/best-2")
    assert rows
    for row in rows:
        lines = (finished / row["file"]).read_text().splitlines()
        assert row["corpus"] == "documents"
        assert row["source"].startswith(lines[row["line"] - 1])
