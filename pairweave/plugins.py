"""The interface of plugins: what other packages add to pairweave, found by entry points.

A package names its object in a group of entry points, and a user names it in an option::

    [project.entry-points."pairweave.rules"]
    shouting = "my_package.shouting:RULE"

====================  =============================  ===========================================
group                 object                         option
====================  =============================  ===========================================
pairweave.rules       an instance of `FilterRule`    ``filter --plugin_rules '{shouting: 0.5}'``
pairweave.scorers     an instance of `PairScorer`    ``filter --scorer lengths``
pairweave.aligners    an instance of `WordAligner`   ``augment --aligner diagonal``
pairweave.tokenizers  an instance of `Tokenizer`     ``align --tokens characters``
pairweave.formats     an instance of `CorpusFormat`  ``augment --input a.txt --format blocks``
====================  =============================  ===========================================

An object needs the attributes of its protocol, and not to inherit from it. ``examples/plugin`` in
the repository is a whole package, and ``docs/howto/plugin.md`` says how a run treats plugins.
"""

from pairweave.transforms.plugins.corpus_format import CorpusFormat
from pairweave.transforms.plugins.filter_rule import FilterRule
from pairweave.transforms.plugins.pair_scorer import PairScorer
from pairweave.transforms.plugins.tokenizer import Tokenizer
from pairweave.transforms.plugins.word_aligner import WordAligner

__all__ = ["CorpusFormat", "FilterRule", "PairScorer", "Tokenizer", "WordAligner"]
