"""When a table's own models are fitted anew."""

from types import SimpleNamespace

import pytest

from pairweave.pipelines.refresh import refitting
from pairweave.pipelines.refresh.chain import tables
from pairweave.transforms.errors import ConfigError


@pytest.mark.parametrize("value", [1, 0.5, -3, "much", True, [2], float("nan")])
def test_a_growth_that_is_no_factor_is_refused(value):
    with pytest.raises(ConfigError, match="refit_growth: expected a number above 1"):
        refitting.read_growth(value)


def test_a_growth_may_be_left_out_or_any_factor():
    assert [refitting.read_growth(value) for value in (None, 2, 1.5)] == [None, 2.0, 1.5]


def base(models, fitted):
    return SimpleNamespace(models=models, fitted=fitted)


def test_models_are_fitted_anew_if_asked_or_outgrown(monkeypatch):
    held = [
        {"rows": rows, "partition": {"source_lang": "en", "target_lang": language}}
        for rows, language in ((150, "de"), (100, "de"), (199, "nl"))
    ]
    monkeypatch.setattr(tables, "current", lambda *_: held)
    own = base({"en-de": "a", "en-nl": "b"}, {"en-de": 125, "en-nl": 100})
    (why,) = refitting.reasons("table", own, 2.0, asked=False)
    assert "en-de was fitted to 125 places of pairs, and the table has 250 (refit_growth: 2)" in why
    assert refitting.reasons("table", own, 2.1, asked=False) == []
    assert refitting.reasons("table", own, None, asked=False) == []
    assert refitting.reasons("table", own, None, asked=True) == ["--refit asks for it"]
    assert refitting.reasons("table", base({}, {}), 1.1, asked=False) == []
    with pytest.raises(ConfigError, match="--refit: table has fitted no model"):
        refitting.reasons("table", base({}, {}), None, asked=True)
