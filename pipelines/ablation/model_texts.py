"""The texts that an arm's models read and write: hints, white space after tags, raw tags."""

import re
from collections.abc import Sequence

from pairweave.pipelines.ablation.ablation_config import Arm
from pairweave.pipelines.ablation.suggestion_task import with_hint
from pairweave.pipelines.ablation.task_kind import EvaluationSet, Pair
from pairweave.transforms.indexed_tag import WRITTEN_TAG, digits_of, write_tag
from pairweave.transforms.kernels.tags.tag_names import ALONE, WHOLE_CLOSE, WHOLE_OPEN
from pairweave.transforms.symbols.tag_xliff import Xliff
from pairweave.transforms.symbols.whitespace import shift_whitespace, unshift_whitespace

RAW_CHARACTERS = '</>="gidx0123456789'
"""Characters of raw tags; a vocabulary needs a piece for each."""

_XLIFF = Xliff()


def training_pairs(arm: Arm, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs of a pass in the form in which an arm's models are trained on them."""
    hinted = [(with_hint(text, output, arm.hint_letters), output) for text, output in pairs]
    if arm.raw_tags:
        return [(_raw(text), _raw(output)) for text, output in hinted]
    if not arm.whitespace_shift:
        return hinted
    return [(shift_whitespace(text), shift_whitespace(output)) for text, output in hinted]


def evaluated_pairs(arm: Arm, test: EvaluationSet) -> list[Pair]:
    """Return the inputs of an arm's models for a test set, and the expected outputs."""
    return training_pairs(arm, list(zip(test.sources, test.references, strict=True)))


def written_texts(arm: Arm, outputs: Sequence[str]) -> list[str]:
    """Return the outputs of an arm's models in the form of the references."""
    if arm.raw_tags:
        return [_symbolic(text) for text in outputs]
    return [unshift_whitespace(text) for text in outputs] if arm.whitespace_shift else list(outputs)


def _raw(text: str) -> str:
    """Write symbols as elements of XLIFF, which a vocabulary cuts into pieces like other text.

    >>> _raw("the <a_0>green</a_0> witch<a_1/>")
    'the <g id="1">green</g> witch<x id="2"/>'
    """

    def raw(symbol: re.Match[str]) -> str:
        use = WHOLE_CLOSE if symbol["close"] else ALONE if symbol["empty"] else WHOLE_OPEN
        return _XLIFF.symbol(use, int(digits_of(symbol[0])))

    return WRITTEN_TAG.sub(raw, text)


def _symbolic(text: str) -> str:
    """Write elements of XLIFF as symbols; everything else stays text.

    >>> _symbolic('the <g id="1">green</g> witch</g>')
    'the <a_0>green</a_0> witch</g>'
    """
    opened: list[int] = []

    def symbol(element: re.Match[str]) -> str:
        if element["close"]:
            return write_tag(opened.pop(), closes=True) if opened else element[0]
        if element["pair"]:
            opened.append(int(element["pair"]) - 1)
            return write_tag(opened[-1])
        if element["name"] == "x":
            return write_tag(int(element["id"]) - 1, is_empty=True)
        return element[0]

    return _XLIFF.pattern().sub(symbol, text)
