"""External aligners as installed; skipped if missing."""

import pytest

pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.external.external import ExternalAligner, learn
from tests.makers.encoders import write_bert
from tests.makers.fake_programs import installed
from tests.makers.real_pairs import real_pairs
from tests.makers.token_tables import links_of, token_table

AWKWARD = [
    ("", "x"),
    ("a ||| b <eps>", "a ||| b <eps>"),
    ("\u200b", "\u0301"),
    ("New\u00a0York", "a"),
]


@pytest.fixture(scope="module")
def table(shared_data):
    """Return real pairs, and some that a program may stumble over."""
    return token_table([*real_pairs(shared_data, count=120), *AWKWARD])


@pytest.fixture(scope="module")
def encoder(shared_data, tmp_path_factory):
    """Return a small BERT."""
    pairs = real_pairs(shared_data, count=120)
    directory = tmp_path_factory.mktemp("encoder") / "bert"
    return write_bert(directory, [text for pair in pairs for text in pair], layers=2)


@pytest.mark.parametrize("program", ["fast_align", "systran-align", "eflomal", "giza"])
def test_a_statistical_program_links_real_pairs(program, table):
    config = installed(program)
    aligner = ExternalAligner(config, learn(config, table))
    linked = aligner.align(table)
    assert linked.num_rows == table.num_rows
    links = links_of(linked)
    assert links[-4] == set()
    assert sum(map(len, links[:-4])) > 500
    if config.about.way == "fitted":
        assert aligner.align(table).equals(linked)
        alone = aligner.align(table.slice(3, 40))
        assert alone.equals(linked.slice(3, 40).combine_chunks())


@pytest.mark.parametrize(
    ("program", "head"), [("awesome-align", "softmax"), ("simalign", "argmax")]
)
def test_a_neural_program_makes_the_links_of_the_built_in_encoder(program, head, table, encoder):
    torch = pytest.importorskip("torch", reason="needs the extra `neural`")
    torch.set_num_threads(1)
    from pairweave.models.encoder.encoder_config import EncoderConfig, HeadConfig
    from pairweave.models.encoder.neural import load_aligner

    config = installed(program, model=str(encoder), layer=2, head=head)
    theirs = links_of(ExternalAligner(config).align(table))
    ours = load_aligner(EncoderConfig(str(encoder), layer=2, head=HeadConfig(head)))
    linked = ours.align(table.slice(0, 120))
    actual, expected = (
        theirs[:120],
        [
            forward & reverse
            for forward, reverse in zip(links_of(linked), links_of(linked, "reverse"), strict=True)
        ],
    )
    # Vectors of random weights are all but equal here and there; then rounding decides.
    same = sum(map(len, map(set.intersection, actual, expected)))
    assert same > 0.98 * max(sum(map(len, actual)), sum(map(len, expected)))
    assert theirs[120] == set()
