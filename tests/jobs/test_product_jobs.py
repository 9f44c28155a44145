"""The jobs `align` and `augment` with the product of a fitted hmm and an encoder."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder.encoder_config import EncoderConfig  # noqa: E402
from pairweave.models.encoder.hosting import encoder_reference  # noqa: E402
from pairweave.models.hmm import hmm_reference  # noqa: E402
from pairweave.models.product_aligner import ProductReference  # noqa: E402
from pairweave.transforms.links.link_options import SymmetrizeConfig  # noqa: E402
from pairweave.transforms.links.symmetrize import symmetrize  # noqa: E402
from pairweave.transforms.text.tokens import tokenize  # noqa: E402
from tests.makers import corpora, runs  # noqa: E402
from tests.makers.encoders import write_bert  # noqa: E402
from tests.makers.token_tables import token_table  # noqa: E402

PAIRS = 120


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus, a fitted hmm and an encoder."""
    directory = tmp_path_factory.mktemp("jobs")
    corpora.write_corpus(directory, PAIRS)
    texts = [text for number in range(PAIRS) for text in corpora.sentence(number)]
    write_bert(directory / "bert", texts, layers=2)
    runs.run_well_here("fit", *SIDES, "--output", "hmm", cwd=directory)
    return directory


SIDES = (
    *("--source_input", "corpus.en", "--target_input", "corpus.de"),
    *("--source_lang", "en", "--target_lang", "de"),
)


def command(job, output, *more, workers=1):
    return (
        *(job, *SIDES, "--shard_pairs", "40", "--workers", workers, "--output", output),
        *("--aligner", "product", "--model", "bert", "--hmm_model", "hmm", "--layer", "2"),
        *more,
    )


def rows_of(output):
    return [
        row
        for path in sorted(output.glob("data/part-*.parquet"))
        for row in pq.read_table(path).to_pylist()
    ]


def test_rows_have_the_links_of_the_product(directory):
    runs.run_well_here(*command("align", "aligned"), cwd=directory)
    rows = rows_of(directory / "aligned")
    hmm = hmm_reference.find(str(directory / "hmm"))
    encoder = encoder_reference.find(EncoderConfig(str(directory / "bert"), layer=2))
    reference = ProductReference(hmm, encoder)
    table = token_table(
        [(row["source"], row["target"]) for row in rows],
        hmm_words(hmm_reference.load(hmm).tokens),
    )
    linked = symmetrize(reference.load().align(table), SymmetrizeConfig("grow-diag"))
    wanted = [
        [(link["source"], link["target"]) for link in links]
        for links in linked["links"].to_pylist()
    ]
    assert [[(link["source"], link["target"]) for link in row["links"]] for row in rows] == wanted
    assert any(wanted)
    plan = json.loads((directory / "aligned" / "_plan.json").read_text())
    assert plan["configuration"]["model"] == reference.digest


def hmm_words(tokens):
    """Return a function that cuts a text as the hmm's text was cut."""
    return lambda text: tokenize(pa.array([text]), tokens).to_pylist()[0]


def test_workers_and_shards_change_no_link(directory):
    runs.run_well_here(*command("augment", "one"), cwd=directory)
    runs.run_well(*command("augment", "two", workers=2), cwd=directory)
    one, two = (rows_of(directory / name) for name in ("one", "two"))
    assert one == two
    assert len(one) > PAIRS / 2


def test_an_hmm_of_other_languages_is_noticed(directory):
    more = ("--source_lang", "fr", "--plan_only")
    status, output, errors = runs.run_here(*command("align", "other", *more), cwd=directory)
    assert status == 0
    assert "--hmm_model" in output + errors


def test_it_is_evaluated_with_an_hmm_fitted_on_the_spot_or_given(directory):
    sides = list(zip(*map(corpora.sentence, range(30)), strict=True))
    for name, texts in (("gold.en", sides[0]), ("gold.de", sides[1]), ("gold", ["0-0"] * 30)):
        (directory / name).write_text("".join(f"{text}\n" for text in texts))
    gold = ("--source_input", "gold.en", "--target_input", "gold.de")
    done = runs.run_well_here(
        *("evaluate", "aligners", *gold, "--gold", "gold", "--aligners", "product:bert:layer=2"),
        "product:bert:layer=2:hmm=hmm",
        cwd=directory,
    )
    figures = json.loads(done.splitlines()[-1])["aligners"]
    assert [each["links"] > 0 for each in figures] == [True, True]
    assert len({each["digest"] for each in figures}) == 2
