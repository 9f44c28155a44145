"""Translations and references aligned by an encoder with every head."""

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder.encoder_config import HEADS, EncoderConfig, HeadConfig  # noqa: E402
from pairweave.models.encoder.hosting import encoder_reference  # noqa: E402
from pairweave.transforms import schemas  # noqa: E402
from pairweave.transforms.arrow.flat_columns import lengths_of, links_of  # noqa: E402
from pairweave.transforms.links.link_options import SymmetrizeConfig  # noqa: E402
from pairweave.transforms.links.monolingual import add_comparison, as_monolingual  # noqa: E402
from pairweave.transforms.links.symmetrize import symmetrize  # noqa: E402
from pairweave.transforms.text.tokens import TokenConfig, add_tokens  # noqa: E402
from tests.makers.encoders import both_directions, write_bert  # noqa: E402
from tests.makers.translations import made_triple, pairs_table  # noqa: E402

TRIPLES = [made_triple(number) for number in range(40)]
SAME = [(source, reference, reference) for source, reference, _ in TRIPLES]


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    texts = [text for triple in TRIPLES for text in triple[1:]]
    return write_bert(tmp_path_factory.mktemp("bert"), texts, layers=3)


@pytest.mark.parametrize("head", HEADS)
def test_every_head_compares_translations_with_references(bert, head):
    # A transport parts the mass of a repeated word among its places: less than half links them.
    settings = HeadConfig(head, head_threshold=0.1 if head.endswith("ot") else None)
    reference = encoder_reference.find(EncoderConfig(str(bert), layer=2, head=settings))
    triples = [*TRIPLES, *SAME, ("Nothing.", "Nichts.", None), ("Gone.", "Weg.", " ")]
    pairs = pairs_table(triples)
    table = add_tokens(as_monolingual(pairs), TokenConfig())
    linked, rejected = encoder_reference.load(reference).align_or_reject(table)
    assert not rejected
    assert linked.schema.equals(schemas.LINKED)
    for direction in ("forward", "reverse"):
        links_of(linked, direction)  # inside the tokens, and sorted
    made = add_comparison(pairs, symmetrize(linked, SymmetrizeConfig()))
    counts = lengths_of(made.column("links"))
    assert counts[:80].all()
    assert counts[80:].tolist() == [0, 0]
    both = both_directions(linked)[len(TRIPLES) : len(TRIPLES) + len(SAME)]
    sizes = lengths_of(made.column("reference_tokens"))[len(TRIPLES) :]
    kept = [
        sum((token, token) in links for token in range(size))
        for links, size in zip(both, sizes, strict=False)
    ]
    # Equal sentences have equal vectors, place by place. A dot product, unlike a cosine, may be
    # larger with another vector.
    if head in ("softmax", "entmax15"):
        assert sum(kept) > 0.9 * sum(sizes)
    else:
        assert kept == sizes[: len(SAME)].tolist()
