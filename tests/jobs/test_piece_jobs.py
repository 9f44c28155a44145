"""The jobs `align` and `augment` on an encoder's own pieces, from the command line."""

import itertools
import json

import pyarrow.parquet as pq
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder.encoder_config import EncoderConfig  # noqa: E402
from pairweave.models.encoder.neural import find_digest, load_aligner  # noqa: E402
from pairweave.transforms import schemas  # noqa: E402
from pairweave.transforms.links.link_options import SymmetrizeConfig  # noqa: E402
from pairweave.transforms.links.symmetrize import symmetrize  # noqa: E402
from tests import check_tagged  # noqa: E402
from tests.makers import corpora, runs  # noqa: E402
from tests.makers.encoders import write_bert  # noqa: E402
from tests.makers.token_tables import token_table  # noqa: E402
from tests.oracles import slow_tokens  # noqa: E402

PAIRS = 120


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus and an encoder that cuts words into small pieces."""
    directory = tmp_path_factory.mktemp("jobs")
    corpora.write_corpus(directory, PAIRS)
    texts = list(itertools.chain.from_iterable(map(corpora.sentence, range(PAIRS))))
    write_bert(directory / "bert", texts, layers=2, vocabulary=90)
    return directory


def run(directory, job, *more, output=None):
    """Run a job on pieces and return its rows."""
    runs.run_well_here(
        *(job, "--source_input", "corpus.en", "--target_input", "corpus.de"),
        *("--source_lang", "en", "--target_lang", "de", "--shard_pairs", "40", "--workers", 1),
        *("--aligner", "encoder", "--model", "bert", "--layer", "2", "--tokens", "pieces"),
        *("--output", output or job, *more),
        cwd=directory,
    )
    paths = sorted((directory / (output or job)).glob("data/part-*.parquet"))
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def cells(links):
    return [f"{link['source']}-{link['target']}" for link in links]


@pytest.fixture(scope="module")
def config(directory):
    return EncoderConfig(str(directory / "bert"), layer=2, tokens="pieces", device="cpu")


def test_links_are_between_the_encoder_s_pieces(directory, config):
    rows = run(directory, "align", "--pharaoh", "links.txt")
    table = token_table([(row["source"], row["target"]) for row in rows])
    linked = load_aligner(config).align(table.select(schemas.PAIRS.names))
    expected = symmetrize(linked, SymmetrizeConfig("grow-diag"))
    for name in ("source_tokens", "target_tokens"):
        assert [row[name] for row in rows] == expected[name].to_pylist()
    # Another batch may round a probability otherwise.
    assert [cells(row["links"]) for row in rows] == list(map(cells, expected["links"].to_pylist()))
    tokens = list(itertools.chain(*(row["source_tokens"] for row in rows)))
    text = "".join(row["source"] for row in rows)
    assert len(tokens) > 1.5 * len(text.split())
    lines = {line for line in (directory / "links.txt").read_text().splitlines() if line}
    assert lines == {" ".join(cells(row["links"])) for row in rows}


def test_the_plan_names_the_pieces_and_the_screen_counts_words(directory, config):
    run(directory, "align", "--max_tokens", "12", output="screened")
    manifest = json.loads((directory / "screened" / "_manifest.json").read_text())
    assert manifest["configuration"]["tokens"] == "pieces"
    assert manifest["configuration"]["model"] == find_digest(config)
    # A sentence has at most 12 words and marks, but more pieces.
    assert "too_long" not in manifest["rejected"]
    assert manifest["rows"]["kept"] >= PAIRS


def test_tags_never_split_a_word_though_its_pieces_are_smaller(directory):
    counts = check_tagged.Counter()
    tags = 0
    for row in run(directory, "augment"):
        check_tagged.check_row(row, counts, crossing=False)
        for side, language in (("source", "en"), ("target", "de")):
            plain, spans = check_tagged.parse(row[side])
            words = slow_tokens.tokens(plain, language, words_only=True)
            for start, end in spans.values():
                assert not any(
                    first < border < last for border in (start, end) for first, last in words
                ), row
                tags += 1
    assert tags > PAIRS // 3
