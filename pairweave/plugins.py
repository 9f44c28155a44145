"""The interface of plugins: what other packages add to pairweave, found by entry points.

A package names its object in a group of entry points, and a user names it in an option::

    [project.entry-points."pairweave.rules"]
    shouting = "my_package.shouting:RULE"

==================  =============================  ===========================================
group               object                         option
==================  =============================  ===========================================
pairweave.rules     an instance of `FilterRule`    ``filter --plugin_rules '{shouting: 0.5}'``
pairweave.aligners  an instance of `WordAligner`   ``augment --aligner diagonal``
==================  =============================  ===========================================

An object needs the attributes of its protocol, and not to inherit from it. ``examples/plugin`` in
the repository is a whole package, and ``docs/howto/plugin.md`` says how a run treats plugins.
"""

from pairweave.transforms.plugins.filter_rule import FilterRule
from pairweave.transforms.plugins.word_aligner import WordAligner

__all__ = ["FilterRule", "WordAligner"]
