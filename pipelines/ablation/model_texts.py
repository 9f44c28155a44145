"""What the models of an arm read and write: with hints, white space after tags, and raw tags."""

import re
from collections.abc import Sequence

from pairweave.pipelines.ablation.ablation_config import Arm
from pairweave.pipelines.ablation.suggestion_task import with_hint
from pairweave.pipelines.ablation.task_kind import EvaluationSet, Pair
from pairweave.transforms.symbols.whitespace import shift_whitespace, unshift_whitespace

_SYMBOL = re.compile(r"<(/?)a_(\d)(/?)>")
RAW_CHARACTERS = '</>="gidx0123456789'
"""Characters of raw tags, of each of which a vocabulary needs a piece."""

_RAW = re.compile(r'<g id="(\d+)">|<x id="(\d+)"/>|</g>')


def training_pairs(arm: Arm, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs of a pass as an arm's models are trained on them."""
    hinted = [(with_hint(text, output, arm.hint_letters), output) for text, output in pairs]
    if arm.raw_tags:
        return [(_raw(text), _raw(output)) for text, output in hinted]
    if not arm.whitespace_shift:
        return hinted
    return [(shift_whitespace(text), shift_whitespace(output)) for text, output in hinted]


def evaluated_pairs(arm: Arm, test: EvaluationSet) -> list[Pair]:
    """Return what an arm's models read of a test set, and what they are to write."""
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
        closes, number, alone = symbol.groups()
        element = f'<{"x" if alone else "g"} id="{int(number) + 1}"{alone}>'
        return "</g>" if closes else element

    return _SYMBOL.sub(raw, text)


def _symbolic(text: str) -> str:
    """Write elements of XLIFF as symbols; what is no such element stays text.

    >>> _symbolic('the <g id="1">green</g> witch</g>')
    'the <a_0>green</a_0> witch</g>'
    """
    opened: list[int] = []

    def symbol(element: re.Match[str]) -> str:
        pair, alone = element.groups()
        if alone is not None:
            return f"<a_{int(alone) - 1}/>" if int(alone) else element[0]
        if pair is not None:
            if not int(pair):
                return element[0]
            opened.append(int(pair) - 1)
            return f"<a_{opened[-1]}>"
        return f"</a_{opened.pop()}>" if opened else element[0]

    return _RAW.sub(symbol, text)
