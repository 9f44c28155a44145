"""The command ``tags vocabulary``: symbols as whole pieces of a subword model."""

import sys
from collections.abc import Sequence
from typing import Any

import orjson

from pipelines import flags
from pipelines.tag_options import TagsVocabularyOptions
from transforms import files
from transforms.errors import ConfigError
from transforms.representations import self_translations, symbols


def main(_name: str, arguments: Sequence[str]) -> int:
    """Run the command from its command line."""
    options, _ = flags.parse(
        TagsVocabularyOptions,
        "pairweave tags vocabulary",
        "list the symbols of a representation, and add them to subword models as whole pieces",
        arguments,
        beam=False,
    )
    _check(options)
    representation = options.find()
    listed = symbols(representation, options.max_tags)
    facts: dict[str, Any] = {"symbols": len(listed)}
    if options.sentencepiece is not None and options.output_model is not None:
        from models.symbol_pieces import write_sentencepiece

        facts["sentencepiece"] = write_sentencepiece(
            options.sentencepiece, listed, options.output_model
        )
    if options.tokenizer is not None and options.output_tokenizer is not None:
        from models.symbol_pieces import extend_tokenizer

        facts["tokenizer"] = extend_tokenizer(options.tokenizer, listed, options.output_tokenizer)
    if options.output is not None:
        files.write_bytes(options.output, "".join(f"{symbol}\n" for symbol in listed).encode())
    if options.self_translations is not None:
        rows = self_translations(representation, options.max_tags)
        data = "".join(f"{source}\t{target}\n" for source, target in rows)
        files.write_bytes(options.self_translations, data.encode())
    sys.stdout.write(f"{orjson.dumps(facts).decode()}\n")
    return 0


def _check(options: TagsVocabularyOptions) -> None:
    for given, made in (("sentencepiece", "output_model"), ("tokenizer", "output_tokenizer")):
        if (getattr(options, given) is None) != (getattr(options, made) is None):
            raise ConfigError(f"--{given} and --{made} go together")
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
