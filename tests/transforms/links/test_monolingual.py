import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.ter_aligner import TerAligner
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.monolingual import add_comparison, as_monolingual, translated_only
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.text.tokens import TokenConfig, add_tokens
from tests.makers.translations import made_triple, pairs_table, real_triples

TRIPLES = [("A cat.", "Die Katze.", "Eine Katze."), ("It's so.", "So ist es.", None)]


def compared(triples, aligner):
    pairs = pairs_table(triples)
    linked = aligner.align(add_tokens(as_monolingual(pairs), TokenConfig()))
    return add_comparison(pairs, symmetrize(linked, SymmetrizeConfig()))


def words(row, side):
    text = row["target" if side == "reference" else side] or ""
    return [text[span["start"] : span["end"]] for span in row[f"{side}_tokens"]]


def test_the_view_has_the_translation_as_its_source_in_the_targets_language():
    pairs = pairs_table(TRIPLES)
    view = as_monolingual(pairs)
    assert view.schema.equals(schemas.PAIRS)
    assert view.column("source").to_pylist() == ["Eine Katze.", ""]
    assert view.column("source_lang").to_pylist() == ["de", "de"]
    for name in ("id", "target", "target_lang", "translation", "line"):
        assert view.column(name).equals(pairs.column(name))


def test_only_pairs_with_a_translation_are_fitted_on():
    view = translated_only(pairs_table(TRIPLES))
    assert view.column("source").to_pylist() == ["Eine Katze."]
    assert translated_only(pairs_table([])).num_rows == 0


def test_a_sample_without_a_translation_is_refused():
    with pytest.raises(ConfigError, match="none of 1 sampled pairs has a translation"):
        translated_only(pairs_table(TRIPLES[1:]))


def test_tokens_and_links_stand_beside_the_pair():
    table = compared(TRIPLES, TerAligner())
    assert table.schema.equals(schemas.COMPARED)
    assert table.select(schemas.PAIRS.names).equals(pairs_table(TRIPLES))
    first, second = table.to_pylist()
    assert words(first, "translation") == ["Eine", "Katze", "."]
    assert words(first, "reference") == ["Die", "Katze", "."]
    assert [(link["source"], link["target"], link["probability"]) for link in first["links"]] == [
        (0, 0, 0.5),
        (1, 1, 1.0),
        (2, 2, 1.0),
    ]
    assert second["translation_tokens"] == second["links"] == []
    assert words(second, "reference") == ["So", "ist", "es", "."]


def test_translation_and_reference_are_cut_as_the_targets_language_is():
    pairs = pairs_table([("L'eau de l'homme", "the man's water", "the man's water")])
    english = pairs.set_column(
        pairs.schema.get_field_index("target_lang"), schemas.PAIRS.field("target_lang"), [["en"]]
    )
    view = add_tokens(as_monolingual(english), TokenConfig())
    assert view.column("source_tokens").equals(view.column("target_tokens"))
    assert len(view.column("source_tokens")[0]) == 4


def test_links_of_other_pairs_are_refused():
    pairs = pairs_table(TRIPLES)
    links = symmetrize(
        TerAligner().align(add_tokens(as_monolingual(pairs), TokenConfig())), SymmetrizeConfig()
    )
    with pytest.raises(WorkerError, match="2 pairs, but the links of 1 others"):
        add_comparison(pairs, links.slice(1))
    with pytest.raises(WorkerError, match="2 pairs, but the links of 2 others"):
        add_comparison(pairs, links.take([1, 0]))


def same_words_linked(table, at_least=1):
    """Return how many words that stand once on either side are linked to themselves, and all."""
    linked = total = 0
    for row in table.to_pylist():
        sides = words(row, "translation"), words(row, "reference")
        links = {(link["source"], link["target"]) for link in row["links"]}
        for place, word in enumerate(sides[0]):
            if len(word) >= at_least and sides[0].count(word) == sides[1].count(word) == 1:
                total += 1
                linked += (place, sides[1].index(word)) in links
    return linked, total


def test_a_model_fitted_on_few_translations_links_equal_words():
    triples = [made_triple(number) for number in range(60)]
    view = add_tokens(translated_only(pairs_table(triples)), TokenConfig())
    linked, total = same_words_linked(compared(triples, fit(view, HmmConfig())))
    assert total > 400
    assert linked > 0.98 * total


@pytest.mark.slow
def test_a_model_fitted_on_real_translations_links_equal_words(shared_data):
    triples = real_triples(shared_data, ["wmt16"], ["microsoft"])
    view = add_tokens(translated_only(pairs_table(triples)), TokenConfig())
    linked, total = same_words_linked(compared(triples, fit(view, HmmConfig())), at_least=5)
    assert total > 10_000
    assert linked > 0.98 * total
