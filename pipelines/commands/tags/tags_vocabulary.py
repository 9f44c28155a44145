"""The command ``tags vocabulary``: adds symbols as whole pieces to a subword model."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import sentencepiece
from pydantic import Field

from pairweave.models.subwords.symbol_pieces import extend_tokenizer, write_sentencepiece
from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.commands.tags.tag_options import SymbolOptions
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_places import DIRECTORY, FILE, FILES, OUTPUT_DIRECTORY, OUTPUT_FILE
from pairweave.transforms.storage import files
from pairweave.transforms.storage.text_lines import read_lines
from pairweave.transforms.storage.whole_files import write_packed
from pairweave.transforms.symbols.representations import SELF_TRANSLATED, self_translations, symbols
from pairweave.transforms.text.piece_settings import piece_advice


class TagsVocabularyOptions(SymbolOptions):
    """Options of ``tags vocabulary``."""

    max_tags: int = Field(
        SELF_TRANSLATED, ge=1, le=10_000, description="number of tags to list symbols for"
    )
    output: Annotated[str | None, OUTPUT_FILE] = Field(
        None, description="file for the symbols, one per line"
    )
    self_translations: Annotated[str | None, OUTPUT_FILE] = Field(
        None, description="file for training rows (TSV) whose two sides are the same symbol"
    )
    sentencepiece: Annotated[str | None, FILE] = Field(
        None, description="SentencePiece model to extend"
    )
    train: Annotated[tuple[str, ...], FILES] = Field(
        (),
        description="instead: plain text in all languages [.gz .zst .xz .bz2] to train a new "
        "SentencePiece model on; with --whitespace_shift, tags then do not change the pieces of "
        "text",
    )
    model_type: Literal["unigram", "bpe"] = Field(
        "unigram", description="algorithm of the trained model"
    )
    vocabulary: int = Field(
        32_000,
        ge=256,
        le=1_000_000,
        description="number of pieces of the trained model, without symbols",
    )
    output_model: Annotated[str | None, OUTPUT_FILE] = Field(
        None, description="file for the extended or the trained model"
    )
    tokenizer: Annotated[str | None, DIRECTORY] = Field(
        None, description="directory of a Hugging Face tokenizer to extend"
    )
    output_tokenizer: Annotated[str | None, OUTPUT_DIRECTORY] = Field(
        None, description="directory for the extended tokenizer"
    )


@command("list the symbols of a representation, and add them to subword models as whole pieces")
def main(*, options: TagsVocabularyOptions) -> int:
    """Run the command from its command line."""
    _check(options)
    representation = options.find()
    listed = symbols(representation, options.max_tags)
    facts: dict[str, Any] = {"symbols": len(listed)}
    if options.train and options.output_model is not None:
        facts["sentencepiece"] = _train(options, listed, options.output_model)
    elif options.sentencepiece is not None and options.output_model is not None:
        facts["sentencepiece"] = write_sentencepiece(
            options.sentencepiece, listed, options.output_model
        )
    if options.tokenizer is not None and options.output_tokenizer is not None:
        facts["tokenizer"] = extend_tokenizer(options.tokenizer, listed, options.output_tokenizer)
    if options.output is not None:
        data = "".join(f"{symbol}\n" for symbol in listed).encode()
        write_packed(options.output, data)
        terminal.warn(piece_advice(options.output, shifted=None))
    if options.self_translations is not None:
        rows = self_translations(representation, options.max_tags)
        data = "".join(f"{source}\t{target}\n" for source, target in rows).encode()
        write_packed(options.self_translations, data)
    terminal.say_json(facts)
    return 0


def _train(options: TagsVocabularyOptions, listed: Sequence[str], output: str) -> dict[str, int]:
    from pairweave.models.subwords.symbol_training import train_with_symbols

    texts = (line.text for path in options.train for line in read_lines(path))
    try:
        model = train_with_symbols(texts, listed, options.vocabulary, options.model_type)
    except ConfigError as error:
        raise ConfigError(f"{', '.join(options.train)}: {error}") from error
    files.write_alone(output, model)
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model).get_piece_size()
    return {"added": len(listed), "pieces": pieces}


def _check(options: TagsVocabularyOptions) -> None:
    trained = sorted({"model_type", "vocabulary"} & options.model_fields_set)
    if trained and not options.train:
        raise ConfigError(
            f"--{trained[0]} applies only to a model that is trained; give --train FILE"
        )
    if options.train and options.sentencepiece is not None:
        raise ConfigError("--train and --sentencepiece exclude each other; leave one out")
    model = "train" if options.train else "sentencepiece"
    for input_option, output_option in ((model, "output_model"), ("tokenizer", "output_tokenizer")):
        if input_option == "train" and options.output_model is not None:
            continue
        if (getattr(options, input_option) is None) != (getattr(options, output_option) is None):
            raise ConfigError(f"--{input_option} and --{output_option} must be given together")
    wanted = (
        options.output,
        options.self_translations,
        options.output_model,
        options.output_tokenizer,
    )
    if not any(wanted):
        raise ConfigError(
            "nothing to write: give --output, --self_translations, --output_model or "
            "--output_tokenizer"
        )
