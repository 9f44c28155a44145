"""Choose the second aligner of a job from its options.

It has a one-line name with its settings: ``hmm:DIRECTORY``, ``encoder:DIRECTORY:layer=8``,
``simalign:DIRECTORY:path=PYTHON``. It gets the same tokens as the first.
"""

from pairweave.models.aligner import LoadableReference
from pairweave.pipelines.aligners.aligner_name import AlignerName
from pairweave.pipelines.aligners.aligner_registry import NAMED, read_name
from pairweave.pipelines.options.base import WordAlignerOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.text.tokens import TokenConfig

OPTIONS = ("second_aligner", "combine")
_SECOND = "--second_aligner"


def choose_second(
    options: WordAlignerOptions, tokens: TokenConfig | None
) -> LoadableReference | None:
    """Return the second aligner of a job; None if there is none.

    Raises:
        ConfigError: It is not installed, lacks its model, does not fit the tokens, or cannot align
            shards one by one.
    """
    name = _name(options)
    if name is None:
        if "combine" in options.model_fields_set:
            raise ConfigError("--combine joins the links of two aligners; give --second_aligner")
        return None
    if tokens is None or tokens.kind == "pieces":
        raise ConfigError(
            f"{_SECOND} gets the tokens of the first aligner, so these must be words, whitespace "
            "or sentencepiece:MODEL, not pieces of one aligner"
        )
    return NAMED[name.aligner].second(name, options, tokens)


def second_settings(
    options: WordAlignerOptions, reference: LoadableReference | None
) -> dict[str, object]:
    """Return the plan's entries for the second aligner, if any."""
    name = _name(options)
    if name is None or reference is None:
        return {}
    own = {key: value for key, value in name.settings.items() if key != "path"}
    return {
        "second_aligner": " ".join([name.aligner, *(f"{key}={own[key]}" for key in sorted(own))]),
        "second_model": reference.digest,
        "combine": options.combined_by,
    }


def _name(options: WordAlignerOptions) -> AlignerName | None:
    second = options.second_name
    return None if second is None else read_name(second, _SECOND)
