import pickle
import re
import weakref

import numpy as np
import pyarrow as pa
import pytest

from pairweave.models.ter_aligner import KEPT, REPLACED, TerAligner
from pairweave.transforms import schemas
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.kernels.text import words
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.monolingual import as_monolingual
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.text.tokens import TokenConfig, add_tokens
from tests.makers.linked_tables import token_rows
from tests.makers.translations import made_triple, pairs_table, real_triples
from tests.oracles import slow_ter


def tokens_of(triples):
    """Return the TOKENS rows of (source, reference, translation)."""
    return add_tokens(as_monolingual(pairs_table(triples)), TokenConfig())


def links_of(*pairs):
    """Return each pair's links as (source word, target word, probability)."""
    table = TerAligner().align(tokens_of([("", target, source) for source, target in pairs]))
    assert table.schema.equals(schemas.LINKED)
    assert table.column("forward").equals(table.column("reverse"))
    result = []
    for row in table.to_pylist():
        source, target = (
            [row[side][span["start"] : span["end"]] for span in row[f"{side}_tokens"]]
            for side in ("source", "target")
        )
        result.append(
            [
                (source[link["source"]], target[link["target"]], link["probability"])
                for link in row["forward"]
            ]
        )
    return result


def test_equal_words_are_kept_others_replaced_and_moved_ones_found():
    assert links_of(
        ("Das alte Haus kauft er heute.", "Heute erwirbt er das alte Haus."),
        ("我喜欢猫和黑色小狗。", "我喜欢白色的猫和黑色的小狗。"),
        ("أحب القطط", "أنا أحب القطط"),
    ) == [
        [
            *[("Das", "das", 1.0), ("alte", "alte", 1.0), ("Haus", "Haus", 1.0)],
            *[("kauft", "erwirbt", 0.5), ("er", "er", 1.0), ("heute", "Heute", 1.0)],
            (".", ".", 1.0),
        ],
        [(letter, letter, 1.0) for letter in "我喜欢猫和黑色小狗。"],
        [("أحب", "أحب", 1.0), ("القطط", "القطط", 1.0)],
    ]


def test_words_that_differ_by_case_or_form_alone_are_equal():
    decomposed = "U" + chr(0x308) + "ber"
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in "ABC")
    assert links_of((f"{decomposed} {wide}", "über abc")) == [
        [(decomposed, "über", 1.0), (wide, "abc", 1.0)]
    ]


def test_a_pair_with_an_empty_side_has_no_links():
    assert links_of(("", "a b"), ("a b", ""), ("", ""), ("a", "a")) == [
        [],
        [],
        [],
        [("a", "a", 1.0)],
    ]


def test_no_pairs_make_no_links():
    table = TerAligner().align(tokens_of([]))
    assert table.num_rows == 0
    assert table.schema.equals(schemas.LINKED)


def test_a_slice_is_aligned_as_the_whole_table_is():
    table = tokens_of([made_triple(number) for number in range(40)])
    whole = TerAligner().align(table)
    parts = [TerAligner().align(table.slice(start, 7)) for start in range(0, 40, 7)]
    assert pa.concat_tables(parts).to_pylist() == whole.to_pylist()


def test_symmetrization_changes_nothing():
    table = TerAligner().align(tokens_of([made_triple(number) for number in range(20)]))
    for heuristic in ("intersection", "grow-diag", "union"):
        made = symmetrize(table, SymmetrizeConfig(heuristic))
        assert made.column("links").to_pylist() == table.column("forward").to_pylist()


@pytest.mark.slow
def test_links_of_real_translations_equal_the_plain_twins(shared_data):
    table = tokens_of(real_triples(shared_data, ["wmt17"])[::60])
    made = TerAligner().align(table).to_pylist()
    for row in made:
        source, target = (
            [
                "".join(map(words.fold_character, row[side][span["start"] : span["end"]]))
                for span in row[f"{side}_tokens"]
            ]
            for side in ("source", "target")
        )
        links = [(link["source"], link["target"]) for link in row["forward"]]
        assert links == slow_ter.align(source, target)[2]
        same = [source[i] == target[j] for i, j in links]
        expected = np.where(same, KEPT, REPLACED).tolist()
        assert [link["probability"] for link in row["forward"]] == expected


def test_a_side_with_more_tokens_than_links_can_number_is_refused():
    rows = token_rows([(1, 1), (32_768, 1)])
    table = pa.Table.from_pylist(rows, schema=schemas.TOKENS)
    message = f"pair {1:032x}: source_tokens has 32768 tokens, links can number 32767"
    with pytest.raises(WorkerError, match=re.escape(message)):
        TerAligner().align(table)


def test_the_digest_names_every_limit(monkeypatch):
    digest = TerAligner().digest
    assert re.fullmatch("[0-9a-f]{64}", digest)
    assert pickle.loads(pickle.dumps(TerAligner())).digest == digest
    assert weakref.ref(TerAligner()) is not None
    for name in ("MAX_SHIFTED", "FARTHEST", "BEAM", "MAX_CANDIDATES"):
        with monkeypatch.context() as patch:
            patch.setattr(f"pairweave.transforms.kernels.masks.ter.{name}", 7)
            assert TerAligner().digest != digest
