"""Links beside those of awesome-align 0.1.7 and SimAlign 0.4, on the same weights and sentences."""

import itertools

import numpy as np
import pyarrow as pa
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder.encoder_config import EncoderConfig, HeadConfig  # noqa: E402
from pairweave.models.encoder.heads import entmax15  # noqa: E402
from pairweave.models.encoder.neural import load_aligner  # noqa: E402
from pairweave.transforms import schemas  # noqa: E402
from pairweave.transforms.links.monolingual import as_monolingual  # noqa: E402
from tests.makers.awesome import AwesomeAlign  # noqa: E402
from tests.makers.encoders import both_directions, write_bert, write_xlmr  # noqa: E402
from tests.makers.real_pairs import real_pairs  # noqa: E402
from tests.makers.token_tables import links_of, token_table  # noqa: E402
from tests.makers.translations import pairs_table, real_triples  # noqa: E402

LAYERS = 4
OURS = {"argmax": "inter", "itermax": "itermax", "match": "mwmf"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pairs(shared_data):
    """Return real pairs, and some that are awkward: one word, one piece, unknown characters."""
    corpora = ("newstest.en-de", ("en", "de")), ("newstest.en-fr", ("en", "fr"))
    result = [
        pair
        for corpus, languages in corpora
        for pair in real_pairs(shared_data, corpus, languages, count=100, skip=50)
    ]
    return [*result, ("Yes", "Ja"), ("a b", "c"), ("☃ one", "☃ ☃ ein"), ("§ 5", "(5) %s")]


@pytest.fixture(scope="module")
def bert(pairs, tmp_path_factory):
    """Return a BERT with random weights."""
    return write_bert(tmp_path_factory.mktemp("bert"), list(itertools.chain(*pairs)), layers=LAYERS)


@pytest.fixture(scope="module")
def xlmr(pairs, tmp_path_factory):
    """Return an XLM-RoBERTa with random weights."""
    return write_xlmr(tmp_path_factory.mktemp("xlmr"), list(itertools.chain(*pairs)), layers=LAYERS)


@pytest.mark.parametrize("head", ["softmax", "entmax15"])
@pytest.mark.parametrize("layer", range(1, LAYERS + 1))
def test_links_equal_those_of_awesome_align(pairs, bert, layer, head):
    expected = AwesomeAlign(bert).links(pairs, layer, head)
    aligner = load_aligner(
        EncoderConfig(str(bert), layer=layer, head=HeadConfig(head), device="cpu")
    )
    made = both_directions(aligner.align(token_table(pairs)))
    differing = [place for place in range(len(pairs)) if made[place] != expected[place]]
    # Now and then a cell is on the threshold itself, where the rounding of a CPU decides.
    assert len(differing) <= 2
    for place in differing:
        assert made[place] ^ expected[place] <= on_the_edge(aligner, pairs[place], head)
    assert sum(map(len, made)) > 2 * len(pairs)


def on_the_edge(aligner, pair, head):
    """Return the links of tokens that hang on a cell within rounding of the threshold."""
    (source,), (target,) = real_vectors(aligner, [pair])
    scores = source.double() @ target.double().T
    doubtful = torch.zeros_like(scores, dtype=torch.bool)
    for dim in (0, 1):
        if head == "softmax":
            doubtful |= (torch.softmax(scores, dim) / 0.001 - 1).abs() < 1e-3
            continue
        halves, chances = scores / 2, entmax15(scores, dim)
        tau = (halves - chances.sqrt()).masked_fill(chances == 0, -1e9).amax(dim, keepdim=True)
        doubtful |= (halves - tau).abs() < 1e-3
    words = [
        [
            text[:start].count(" ")
            for start, _ in aligner.encoder.tokenizer.encode(text, add_special_tokens=False).offsets
        ]
        for text in pair
    ]
    return {(words[0][i], words[1][j]) for i, j in doubtful.nonzero().tolist()}


@pytest.mark.parametrize("family", ["bert", "xlmr"])
@pytest.mark.parametrize("unit", ["pieces", "words"])
@pytest.mark.parametrize("distortion", [0.0, 0.3])
@pytest.mark.parametrize(("most", "every"), [(60, 1), (200, 12)])
def test_links_equal_those_of_simalign(pairs, family, unit, distortion, most, every, request):
    simalign = pytest.importorskip("simalign", reason="needs the extra `oracles`")
    directory = request.getfixturevalue(family)
    # Its matching is plain Python and takes seconds for a long sentence.
    chosen = [pair for pair in pairs if len(pair[0]) <= most and "☃" not in pair[0]][::every]
    oracle = simalign.SentenceAligner(
        model=str(directory),
        token_type="bpe" if unit == "pieces" else "word",
        matching_methods="aim",
        distortion=distortion,
        layer=3,
    )
    expected = [oracle.get_word_aligns(source, target) for source, target in chosen]
    for head, name in OURS.items():
        config = EncoderConfig(
            str(directory),
            layer=3,
            unit=unit,
            head=HeadConfig(head, distortion=distortion),
            device="cpu",
        )
        made = both_directions(load_aligner(config).align(token_table(chosen)))
        assert made == [set(links[name]) for links in expected], head


def test_directions_equal_those_of_simalign(pairs, bert):
    simalign = pytest.importorskip("simalign", reason="needs the extra `oracles`")
    oracle = simalign.SentenceAligner(
        model=str(bert), token_type="word", matching_methods="fr", layer=2
    )
    chosen = pairs[:40]
    expected = [oracle.get_word_aligns(source, target) for source, target in chosen]
    config = EncoderConfig(
        str(bert), layer=2, unit="words", head=HeadConfig("argmax"), device="cpu"
    )
    table = load_aligner(config).align(token_table(chosen))
    assert links_of(table, "forward") == [set(links["fwd"]) for links in expected]
    assert links_of(table, "reverse") == [set(links["rev"]) for links in expected]


@pytest.mark.parametrize(
    ("cost", "mass", "distortion"),
    [
        ("cosine", "norm", 0.0),
        ("euclidean", "uniform", 0.2),
        ("cosine", "uniform", 0.0),
        ("cosine", "uniform", 0.2),
        ("cosine", "norm", 0.2),
        ("euclidean", "uniform", 0.0),
        ("euclidean", "norm", 0.0),
        ("euclidean", "norm", 0.2),
    ],
)
@pytest.mark.parametrize("head", ["ot", "unbalanced_ot", "partial_ot"])
def test_transports_equal_those_of_pot(pairs, bert, head, cost, mass, distortion):
    ot = pytest.importorskip("ot", reason="needs the extra `oracles`")
    from pairweave.models.encoder.optimal_transport import plan

    aligner = load_aligner(EncoderConfig(str(bert), layer=3, device="cpu"))
    config = HeadConfig(
        head, cost=cost, mass=mass, distortion=distortion, max_iterations=20_000, tolerance=1e-11
    )
    source, target = real_vectors(
        aligner, sorted(pairs[:200], key=lambda pair: len(pair[0]))[10:80:14] + pairs[-4:]
    )
    lengths = [torch.tensor([len(vectors) for vectors in side]) for side in (source, target)]
    padded = [torch.nn.utils.rnn.pad_sequence(side, batch_first=True) for side in (source, target)]
    plans = plan(*padded, *lengths, config).numpy()
    for pair, (left, right) in enumerate(zip(source, target, strict=True)):
        actual = plans[pair, : len(left), : len(right)]
        expected = pot_plan(ot, left, right, config)
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)
        assert plans[pair, len(left) :].sum() + plans[pair, :, len(right) :].sum() == 0


@pytest.mark.parametrize("cost", ["cosine", "euclidean"])
@pytest.mark.parametrize("head", ["ot", "unbalanced_ot", "partial_ot"])
def test_links_of_translations_with_references_equal_those_of_pot(
    shared_data, tmp_path, head, cost
):
    ot = pytest.importorskip("ot", reason="needs the extra `oracles`")
    triples = real_triples(shared_data, ["wmt18"])
    short = [triple for triple in triples if max(map(len, triple)) < 120][::211]
    pairs = [(translation, reference) for _, reference, translation in short]
    write_bert(tmp_path / "german", list(itertools.chain(*pairs)), layers=LAYERS)
    config = HeadConfig(head, cost=cost, max_iterations=20_000, tolerance=1e-11)
    aligner = load_aligner(
        EncoderConfig(str(tmp_path / "german"), layer=3, head=config, device="cpu")
    )

    def pieces(text):
        cut = aligner.encoder.tokenizer.encode(text, add_special_tokens=False)
        return [{"start": start, "end": end} for start, end in cut.offsets]

    view = as_monolingual(pairs_table(short))
    table = view
    for side in ("source", "target"):
        cut = pa.array(
            [pieces(text) for text in view.column(side).to_pylist()],
            schemas.SPAN_LIST,
        )
        table = table.append_column(schemas.TOKENS.field(f"{side}_tokens"), cut)
    made = links_of(aligner.align(table))
    count = 0
    for actual, left, right in zip(made, *real_vectors(aligner, pairs), strict=True):
        moved = stretch(pot_plan(ot, left, right, config))
        # On the threshold itself, rounding decides.
        doubt = np.abs(moved - config.effective_threshold) < 1e-5
        assert doubt.sum() < 3
        sure = {(int(i), int(j)) for i, j in np.argwhere(moved > config.effective_threshold)}
        assert {link for link in actual ^ sure if not doubt[link]} == set()
        count += len(sure)
    assert len(pairs) > 20
    assert count > 10 * len(pairs)


def pot_plan(ot, source, target, config):
    """Return POT's own transport between the vectors of one pair."""
    costs, weights = plain_cost(source, target, config), plain_mass(source, target, config)
    if config.head == "ot":
        weights = [weight / weight.sum() for weight in weights]
        return ot.sinkhorn(
            *weights, costs, 0.1, method="sinkhorn", stopThr=1e-10, numItermax=20_000, warn=False
        )
    if config.head == "unbalanced_ot":
        return ot.unbalanced.sinkhorn_unbalanced(
            *weights, costs, 0.1, 0.5, method="sinkhorn", stopThr=1e-11, numItermax=20_000
        )
    moved = 0.8 * min(weight.sum() for weight in weights)
    return ot.partial.entropic_partial_wasserstein(
        *weights, costs, 0.1, m=moved, stopThr=1e-10, numItermax=20_000
    )


def real_vectors(aligner, pairs):
    """Return the vectors of some pairs' pieces, a tensor for each side of each pair."""
    sides = []
    for texts in zip(*pairs, strict=True):
        vectors = []
        for text in texts:
            ids = aligner.encoder.tokenizer.encode(text, add_special_tokens=False).ids
            whole = [*aligner.encoder.prefix, *ids, *aligner.encoder.suffix]
            vectors.append(aligner.encoder.encode(torch.tensor([whole]), None)[0, 1:-1].clone())
        sides.append(vectors)
    return sides


def stretch(matrix):
    """Scale a matrix to [0, 1], as OTAlign does."""
    return (matrix - matrix.min() + 1e-10) / (matrix.max() - matrix.min() + 1e-10)


def plain_cost(source, target, config):
    """Return the cost matrix of one pair, written from the paper."""
    source, target = source.double().numpy(), target.double().numpy()
    if config.cost == "cosine":
        lengths = np.linalg.norm(source, axis=1)[:, None] * np.linalg.norm(target, axis=1)
        similarity = (source @ target.T / lengths + 1) / 2
    else:
        distance = np.linalg.norm(source[:, None] - target[None], axis=2)
        similarity = 1 - stretch(distance)
    rows, columns = similarity.shape
    if rows > 1 and columns > 1:
        for i, j in itertools.product(range(rows), range(columns)):
            similarity[i, j] *= 1 - (i / (rows - 1) - j / (columns - 1)) ** 2 * config.distortion
    return 1 - stretch(similarity)


def plain_mass(source, target, config):
    """Return the masses of one pair's sides."""
    if config.mass == "norm":
        return [np.linalg.norm(side.double().numpy(), axis=1) for side in (source, target)]
    return [np.ones(len(side)) for side in (source, target)]
