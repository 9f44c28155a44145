"""The parameters that fast_align learned are stored in a fixed order."""

import json
import types

from pairweave.models.external import external_fast_align
from pairweave.models.external.external_config import ExternalConfig

RATIO, TENSION = b"expected target length = source length * 1.25\n", b"final tension: 4.5\n"


def test_settings_are_the_same_bytes_whichever_the_program_says_first(monkeypatch):
    monkeypatch.setattr(external_fast_align, "find_program", lambda _: "fast_align")
    monkeypatch.setattr(external_fast_align, "read_answer", lambda *_: b"")
    learned = []
    for said in (RATIO + TENSION, TENSION + RATIO):
        monkeypatch.setattr(external_fast_align, "run", lambda *_, said=said: (b"", said))
        aligner = external_fast_align.FastAlign(ExternalConfig("fast_align"))
        learned.append(aligner.learn(types.SimpleNamespace(joined=lambda: "")))
    assert learned[0] == learned[1]
    settings = json.loads(learned[0][external_fast_align.SETTINGS])
    assert [*settings.values()] == [{"length_ratio": "1.25", "tension": "4.5"}] * 2
