"""The recipes of the NRC's order, as they ship, on small made documents."""

import json
import re

import pytest

from tests.makers import corpora, documents, runs

SHIPPED = runs.ROOT / "deploy/recipes"
WORDS = 500
STEPS = ("baseline", *(f"{name}-{n}" for n in (1, 2) for name in ("model", "sentences", "best")))

pytestmark = pytest.mark.slow


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))


@pytest.fixture(scope="module", params=["nrc_wmt20", "nrc_wmt20_yisi2"])
def finished(request, tmp_path_factory):
    """Return a directory with a recipe's input and its output."""
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
        write_lines(directory / f"clean/all.{name}", clean)
    text = (SHIPPED / f"{request.param}.yaml").read_text()
    if "yisi2" in request.param:
        text = with_small_encoder(directory, text)
    (directory / "recipe.yaml").write_text(in_toy_languages(text))
    words = ("run", "--config", "recipe.yaml", "--workers", "1", "--output", "out")
    runs.run_well_here(*words, cwd=directory)
    return directory


def in_toy_languages(text):
    """Return a recipe from Khmer to English as one from English to German."""
    renamed = {".km": ".en", ".en": ".de", "_lang: km": "_lang: en", "_lang: en": "_lang: de"}
    text = text.replace("5_000_000", str(WORDS)).replace("detector: cld2\n", "")
    return re.sub("|".join(map(re.escape, renamed)), lambda found: renamed[found[0]], text)


def with_small_encoder(directory, text):
    """Write an encoder and a projection; return a recipe that names them."""
    pytest.importorskip("torch")
    from tests.makers.encoders import write_xlmr

    texts = [text for number in range(60) for text in corpora.sentence(number)]
    write_xlmr(directory / "encoder", texts, masked=True, vocabulary=300)
    sides = ("--source_input", "clean/all.en", "--target_input", "clean/all.de")
    fit = ("projection_fit", "--encoder", "encoder", "--layer", "-2", *sides)
    runs.run_well_here(*fit, "--pairs", "50", "--output", "projection", cwd=directory)
    text = text.replace("FacebookAI/xlm-roberta-large", "encoder").replace("layer: -8", "layer: -2")
    return text.replace("precision: bf16", "precision: fp32")


def manifests(directory):
    return {
        step: json.loads((directory / "out" / step / "_manifest.json").read_text())
        for step in STEPS
    }


def test_every_round_has_its_own_runs_and_fits_on_what_the_round_before_selected(finished):
    actual = manifests(finished)
    assert sorted(path.name for path in (finished / "out").iterdir()) == sorted(
        [*STEPS, "_recipe.json"]
    )
    for number, before, name in ((1, "baseline", "crawl"), (2, "best-1", "documents")):
        model = actual[f"model-{number}"]
        assert model["rows"]["read"] == actual[before]["rows"]["kept"] + 300
        assert {corpus: entry["kept"] > 0 for corpus, entry in model["corpora"].items()} == {
            name: True,
            "clean": True,
        }
        best = actual[f"best-{number}"]
        assert best["rows"]["read"] == actual[f"sentences-{number}"]["rows"]["kept"]
        assert WORDS - 12 < best["counts"]["kept_target_words"] <= WORDS
        settings = [actual[f"{step}-{number}"]["configuration"] for step in ("sentences", "best")]
        if "encoder" in settings[1]:
            assert settings[1]["lm_weight"] == 0.1
            assert settings[1]["projection"] is not None
        else:
            assert settings[0]["model"] == settings[1]["model"]
    assert (
        actual["sentences-1"]["configuration"]["model"]
        != actual["sentences-2"]["configuration"]["model"]
    )


def test_the_summary_counts_every_round(finished):
    steps = json.loads((finished / "out/_recipe.json").read_text())["steps"]
    assert [step["name"] for step in steps] == list(STEPS)
    reads = [step["reads"] for step in steps]
    assert reads[:3] == [[], ["baseline"], ["model-1"]]
    assert reads[3][0] == "sentences-1"
    assert reads[4] == ["best-1"]
    for step in steps:
        assert step["rows"]["read"] == step["rows"]["kept"] + step["rows"]["rejected"] > 0


def test_selected_pairs_say_where_in_the_documents_they_stand(finished):
    rows = runs.rows_of(finished / "out/best-2")
    assert rows
    for row in rows:
        lines = (finished / row["file"]).read_text().splitlines()
        assert row["corpus"] == "documents"
        assert row["source"].startswith(lines[row["line"] - 1])
