"""Each symbol is exactly one piece of an extended model in every context."""

import gzip
import io
import json

import pytest
import sentencepiece

from pairweave.models.subwords.symbol_pieces import (
    check_whole,
    extend_sentencepiece,
    write_sentencepiece,
)
from pairweave.pipelines import cli
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.symbols.representations import find_representation
from tests.makers.marked_texts import TEMPLATE

WORDS = "the green witch sees a house, and the house is green . page 12 of 340 ; a < b > c"
NAMES = ("indexed", "xliff", "masked", "html", TEMPLATE)


@pytest.fixture(scope="module", params=["unigram", "bpe"])
def model(request):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([WORDS, WORDS.upper()] * 20),
        model_writer=out,
        vocab_size=120,
        model_type=request.param,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return out.getvalue()


def processor(model):
    return sentencepiece.SentencePieceProcessor(model_proto=model)


@pytest.mark.parametrize("name", NAMES)
def test_each_symbol_is_one_piece_beside_anything(model, name):
    symbols = find_representation(name).symbols(20)
    before, after = processor(model), processor(extend_sentencepiece(model, symbols))
    assert after.get_piece_size() == before.get_piece_size() + len(symbols)
    for symbol in symbols:
        piece = symbol.replace(" ", "\u2581")
        assert after.is_unknown(after.piece_to_id(piece)) is False
        assert after.encode(f"green{symbol}witch", out_type=str).count(piece) == 1
        assert after.decode(after.encode(f"green {symbol}witch{symbol}")) == (
            f"green {symbol}witch{symbol}"
        )


def test_other_pieces_keep_their_numbers_and_their_text(model):
    symbols = find_representation("indexed").symbols(20)
    before, after = processor(model), processor(extend_sentencepiece(model, symbols))
    for number in range(before.get_piece_size()):
        assert after.id_to_piece(number) == before.id_to_piece(number)
        assert after.get_score(number) == before.get_score(number)
    assert after.encode(WORDS) == before.encode(WORDS)


def test_extending_twice_is_extending_once(model):
    symbols = find_representation("xliff").symbols(20)
    once = extend_sentencepiece(model, symbols)
    assert extend_sentencepiece(once, symbols) == once


def test_a_symbol_that_is_an_ordinary_piece_becomes_whole(model):
    before = processor(model)
    piece = next(
        before.id_to_piece(number)
        for number in range(before.get_piece_size())
        if before.id_to_piece(number).isalpha() and len(before.id_to_piece(number)) == 2
    )
    after = processor(extend_sentencepiece(model, [piece]))
    assert after.get_piece_size() == before.get_piece_size()
    assert after.encode(f"x{piece}x{piece}", out_type=str).count(piece) == 2


def test_symbols_that_normalization_changes_are_refused():
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([WORDS] * 20),
        model_writer=out,
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
        remove_extra_whitespaces=True,
    )
    with pytest.raises(ConfigError, match="the SentencePiece model splits '<a  b>'"):
        extend_sentencepiece(out.getvalue(), ["<a  b>"])


def test_a_symbol_with_a_meaning_of_its_own_is_refused(model, tokenizer, tmp_path):
    with pytest.raises(ConfigError, match="'</s>' has a special meaning in the SentencePiece"):
        extend_sentencepiece(model, ["<a_0>", "</s>"])
    from pairweave.models.subwords.symbol_pieces import extend_tokenizer

    with pytest.raises(ConfigError, match=r"'\[UNK\]' has a special meaning in the tokenizer"):
        extend_tokenizer(str(tokenizer), ["[UNK]"], str(tmp_path / "new"))
    assert not (tmp_path / "new").exists()


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="this is not a SentencePiece model"):
        extend_sentencepiece(b"no model", ["<a_0>"])
    (tmp_path / "old.model").write_bytes(b"no model")
    with pytest.raises(ConfigError, match=r"old\.model: this is not a SentencePiece model"):
        write_sentencepiece(str(tmp_path / "old.model"), ["<a_0>"], str(tmp_path / "new.model"))


def test_the_check_finds_a_symbol_that_is_split_beside_letters():
    def pieces(text):
        return text.split()

    with pytest.raises(ConfigError, match=r"the words splits '<a_0>' in 'x<a_0>' into x<a_0>"):
        check_whole(["<a_0>"], pieces, "the words")


def test_the_command_says_which_settings_a_model_of_one_s_own_needs(capsys, tmp_path):
    listed = tmp_path / "symbols.txt"
    assert cli.main(["tags", "vocabulary", "--output", str(listed)]) == 0
    captured = capsys.readouterr()
    assert f"`--user_defined_symbols_file={listed}` and `--split_digits=true`" in captured.err
    assert json.loads(captured.out) == {"symbols": len(listed.read_text().splitlines())}


def run(capsys, *arguments):
    status = cli.main(["tags", "vocabulary", *map(str, arguments)])
    captured = capsys.readouterr()
    return status, json.loads(captured.out.splitlines()[-1]) if status == 0 else captured.err


def test_the_command_writes_symbols_rows_and_models(capsys, tmp_path, model):
    (tmp_path / "old.model").write_bytes(model)
    size = processor(model).get_piece_size()
    assert run(
        capsys,
        *("--representation", "masked", "--max_tags", 3, "--output", tmp_path / "symbols.txt"),
        *("--self_translations", tmp_path / "rows.tsv", "--sentencepiece"),
        *(tmp_path / "old.model", "--output_model", tmp_path / "new.model"),
    ) == (0, {"symbols": 15, "sentencepiece": {"added": 15, "pieces": size + 15}})
    symbols = (tmp_path / "symbols.txt").read_text().splitlines()
    assert symbols == find_representation("masked").symbols(3)
    rows = (tmp_path / "rows.tsv").read_text().splitlines()
    assert rows == [f"{symbol}\t{symbol}" for symbol in symbols]
    assert processor((tmp_path / "new.model").read_bytes()).piece_to_id("XLF_EX,3") == size + 14


def test_lists_are_compressed_as_their_names_say(capsys, tmp_path):
    listed, rows = tmp_path / "symbols.txt.gz", tmp_path / "rows.tsv.gz"
    words = ("--representation", "masked", "--max_tags", 3, "--output", listed)
    assert run(capsys, *words, "--self_translations", rows) == (0, {"symbols": 15})
    symbols = find_representation("masked").symbols(3)
    assert gzip.decompress(listed.read_bytes()).decode().splitlines() == symbols
    assert len(gzip.decompress(rows.read_bytes()).splitlines()) == 15


@pytest.fixture(scope="module", params=["wordpiece", "bytes"])
def tokenizer(request, tmp_path_factory):
    """Return the directory of a small tokenizer."""
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    if request.param == "wordpiece":
        made = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
        made.normalizer = tokenizers.normalizers.BertNormalizer()
        made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
        trainer = tokenizers.trainers.WordPieceTrainer(
            vocab_size=150, special_tokens=["[UNK]"], show_progress=False
        )
    else:
        made = tokenizers.Tokenizer(tokenizers.models.BPE())
        made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = tokenizers.decoders.ByteLevel()
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=300,
            show_progress=False,
            initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        )
    made.train_from_iterator([WORDS] * 20, trainer)
    directory = tmp_path_factory.mktemp(request.param)
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, unk_token="[UNK]").save_pretrained(
        directory
    )
    return directory


@pytest.mark.parametrize("name", NAMES)
def test_a_tokenizer_gets_each_symbol_whole(tokenizer, tmp_path, name):
    import transformers

    from pairweave.models.subwords.symbol_pieces import extend_tokenizer

    symbols = find_representation(name).symbols(20)
    before = transformers.AutoTokenizer.from_pretrained(tokenizer)
    counts = extend_tokenizer(str(tokenizer), symbols, str(tmp_path / "new"))
    assert counts == {"added": len(symbols), "tokens": len(before) + len(symbols)}
    after = transformers.AutoTokenizer.from_pretrained(tmp_path / "new")
    assert after(WORDS)["input_ids"] == before(WORDS)["input_ids"]
    for symbol in symbols:
        tokens = after.convert_ids_to_tokens(after(f"green{symbol}witch {symbol}.")["input_ids"])
        assert tokens.count(symbol) == 2


def test_a_directory_without_a_tokenizer_is_refused(capsys, tmp_path, tokenizer):
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    for given, made, message in (
        (tmp_path / "nothere", tmp_path / "new", "is not a directory with a tokenizer"),
        (tmp_path / "empty", tmp_path / "new", "contains no tokenizer"),
        (tokenizer, tokenizer, "is the tokenizer's own directory"),
        (tmp_path / "empty", tmp_path / "loop", "contains no tokenizer"),
    ):
        status, error = run(capsys, "--tokenizer", given, "--output_tokenizer", made)
        assert status == 2
        assert message in error
