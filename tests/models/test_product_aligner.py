"""The product of a fitted hmm and an encoder with random weights."""

import itertools

import pyarrow as pa
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder.encoder_config import EncoderConfig, HeadConfig  # noqa: E402
from pairweave.models.encoder.hosting import encoder_reference  # noqa: E402
from pairweave.models.hmm import hmm_reference  # noqa: E402
from pairweave.models.hmm.hmm import HmmConfig, fit  # noqa: E402
from pairweave.models.product_aligner import ProductReference, digest_of  # noqa: E402
from pairweave.transforms import schemas  # noqa: E402
from pairweave.transforms.links.product import MIN_POSTERIOR  # noqa: E402
from pairweave.transforms.text.tokens import TokenConfig  # noqa: E402
from tests.makers.encoders import write_bert  # noqa: E402
from tests.makers.links import multiply_slowly  # noqa: E402
from tests.makers.real_pairs import real_pairs  # noqa: E402
from tests.makers.token_tables import token_table  # noqa: E402

LIMIT = 60


@pytest.fixture(scope="module")
def pairs(shared_data):
    """Return real pairs."""
    return real_pairs(shared_data, count=60, skip=700)


@pytest.fixture(scope="module")
def directory(pairs, tmp_path_factory):
    """Return a directory with both members."""
    directory = tmp_path_factory.mktemp("product")
    write_bert(
        directory / "bert",
        itertools.chain(*pairs),
        layers=2,
        max_position_embeddings=LIMIT,
    )
    packed = hmm_reference.pack(fit(token_table(pairs), HmmConfig()), TokenConfig("whitespace"), {})
    hmm_reference.save(str(directory / "hmm"), packed)
    return directory


def reference(directory, **settings):
    head = HeadConfig("softmax", head_threshold=settings.pop("threshold", None))
    config = EncoderConfig(str(directory / "bert"), layer=2, head=head, device="cpu", **settings)
    return ProductReference(
        hmm_reference.find(str(directory / "hmm")), encoder_reference.find(config)
    )


def maps(table, name):
    """Return the links of each row in one direction, as maps."""
    return [
        {(link["source"], link["target"]): link["probability"] for link in links}
        for links in table[name].to_pylist()
    ]


@pytest.mark.parametrize("unit", ["pieces", "words"])
@pytest.mark.parametrize("threshold", [None, 0.0, 0.05])
def test_its_links_are_the_product_of_those_of_its_members(pairs, directory, unit, threshold):
    planned = reference(directory, unit=unit, threshold=threshold)
    made, given_up = planned.load().align_or_reject(token_table(pairs))
    schemas.require(made, schemas.LINKED)
    made.validate(full=True)
    assert not given_up
    hmm = (
        hmm_reference.load(planned.hmm)
        .model.with_threshold(MIN_POSTERIOR)
        .align(token_table(pairs))
    )
    encoder = encoder_reference.load(planned.encoder).align(token_table(pairs))
    for name in ("forward", "reverse"):
        wanted = [
            multiply_slowly(one, other, 0.5)
            for one, other in zip(maps(hmm, name), maps(encoder, name), strict=True)
        ]
        assert maps(made, name) == wanted
        assert any(wanted)


def test_batches_do_not_change_links(pairs, directory):
    together = reference(directory).load().align(token_table(pairs))
    small = reference(directory, token_budget="64").load()
    parts = [small.align(token_table(pairs).slice(at, 7)) for at in range(0, len(pairs), 7)]
    for name in ("forward", "reverse"):
        for one, other in zip(
            maps(together, name), maps(pa.concat_tables(parts), name), strict=True
        ):
            # An encoder rounds differently in other batches.
            assert one == pytest.approx(other, abs=1e-4)


def test_soft_links_contain_those_that_it_makes(pairs, directory):
    aligner = reference(directory).load()
    made = aligner.align(token_table(pairs))
    soft = aligner.with_soft_links(0.1).align(token_table(pairs))
    for name in ("forward", "reverse"):
        for few, more in zip(maps(made, name), maps(soft, name), strict=True):
            assert few == {link: p for link, p in more.items() if p >= 0.5}
    assert sum(map(len, maps(soft, "forward"))) > sum(map(len, maps(made, "forward")))


def test_a_pair_that_the_encoder_rejects_is_given_up(pairs, directory):
    longer = [pairs[0], (" ".join(one for one, _ in pairs[:9]), "x"), *pairs[1:3]]
    aligner = reference(directory, long_pairs="reject").load()
    made, given_up = aligner.align_or_reject(token_table(longer))
    assert {row: reason for row, (reason, _) in given_up.items()} == {1: "too_long_for_encoder"}
    assert made["source"].to_pylist() == [pairs[0][0], pairs[1][0], pairs[2][0]]


def test_the_digest_is_that_of_both_members(directory):
    planned = reference(directory)
    assert planned.digest == digest_of(planned.hmm.digest, planned.encoder.digest)
    assert planned.load().digest == planned.digest
    assert planned.with_threads(2).digest == planned.digest
    others = {digest_of("a", "b"), digest_of("b", "a"), digest_of("ab", "")}
    assert len(others) == 3
    assert reference(directory, unit="words").digest != planned.digest
