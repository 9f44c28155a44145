import pytest

from pairweave.transforms.commit import dataset_card


def manifest(name="c", licence=None, configuration=None):
    """Make the manifest of a small run of `augment`."""
    return {
        "job": "augment",
        "version": "1.2.3",
        "inputs": [
            {"name": "a|b.en", "format": "moses", "rows": 3, "bytes": 12_345, "sha256": "00ff"}
        ],
        "signature": "s",
        "shards": 1,
        "rows": {"read": 3, "kept": 2, "rejected": 1},
        "rejected": {"duplicate": 1},
        "counts": {"plain_rows": 2},
        "configuration": configuration or {},
        "files": [{"name": "data/part-00000-of-00001.parquet", "sha256": "00ff"}],
        "corpora": {
            name: {
                "source_lang": "en",
                "target_lang": "de",
                "licence": licence,
                "kept": 2,
                "rejected": {"duplicate": 1},
            }
        },
    }


def row_of(**facts):
    lines = dataset_card.render(manifest(**facts)).split("\n")
    return lines[lines.index("| --- | --- | --- | ---: | ---: |") + 1]


def test_a_corpus_has_one_row():
    assert row_of(licence="mit") == "| c | en to de | mit | 2 | 1 |"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a|b", r"a\|b"),
        ("a\\b", r"a\\b"),
        ("a\\|b", r"a\\\|b"),
        ("a\\", r"a\\"),
        ("a\nb\r\nc", r"a\\nb\\r\\nc"),
        ("a\u2028b\x85c\x0bd", r"a\\u2028b\\x85c\\x0bd"),
        (r"a\nb", r"a\\nb"),
    ],
)
def test_no_name_or_licence_breaks_the_table(name, shown):
    assert row_of(name=name) == f"| {shown} | en to de | not stated | 2 | 1 |"
    assert row_of(licence=name) == f"| c | en to de | {shown} | 2 | 1 |"
    text = dataset_card.render(manifest(name=name, licence=name))
    assert len(text.split("## Corpora")[1].splitlines()) == len(
        dataset_card.render(manifest(licence="x")).split("## Corpora")[1].splitlines()
    )


@pytest.mark.parametrize(
    ("shift", "said"),
    [(True, "words have the pieces that they have without tags"), (False, "unless the data are")],
)
def test_a_card_of_tags_says_which_settings_a_sentencepiece_model_needs(shift, said):
    configuration = {"representation": "indexed", "whitespace_shift": shift}
    text = dataset_card.render(manifest(configuration=configuration))
    assert "`--user_defined_symbols_file=symbols.txt` and `--split_digits=true`, and leave" in text
    assert "`split_by_unicode_script` true and `treat_whitespace_as_suffix` false" in text
    assert said in text


def test_a_card_without_tags_says_nothing_of_sentencepiece():
    assert "SentencePiece" not in dataset_card.render(manifest())


def test_a_card_says_what_columns_mean_and_shows_a_row():
    row = {"id": "ab", "source": "a | b\nc", "tags": [{"index": 1}], "unknown": None}
    text = dataset_card.render(manifest(), row)
    assert "| `id` | pair: 128 bits in hexadecimal, a hash of languages and texts | ab |" in text
    assert r"| `source` | source text; of augment with its tags | a \| b\\nc |" in text
    assert "| `tags` | tags of the row: index" in text
    assert r'| \[{"index":1}\] |' in text
    assert "| `unknown` |  | null |" in text
    assert 'datasets.load_dataset("parquet", data_files="data/*.parquet", split="train")' in text


def test_a_card_without_a_row_has_no_columns():
    text = dataset_card.render(manifest())
    assert "## Columns" not in text
    assert "## Loading" not in text


def test_a_card_says_how_the_run_was_made():
    settings = {"seed": 1, "exclude": [], "model": None, "tokens": "words", "name": "a ``` b"}
    settings |= {"mix": 0, "keep_links": False}
    text = dataset_card.render(manifest(configuration=settings))
    assert "`pairweave augment`, version `1.2.3`, with these options" in text
    assert "````yaml\nmix: 0\nname: a ``` b\nseed: 1\ntokens: words\n````" in text
    assert r"| a\|b.en | moses | 3 | 12,345 | 00ff |" in text
