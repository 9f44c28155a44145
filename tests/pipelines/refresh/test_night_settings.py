"""A night notices that the content of a file changed on which its rows depend."""

import pytest

from pairweave.pipelines.command_line import validation
from pairweave.pipelines.job_options.filter_options import FilterJobOptions
from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.refresh.night_config import differences, settings_of
from tests.makers import plugins


@pytest.mark.parametrize(
    ("job", "kind", "name"),
    [
        *(("augment", AugmentOptions, name) for name in ("tag_profile", "glossary", "model")),
        ("augment", AugmentOptions, "filter.score_model"),
        *(("filter", FilterJobOptions, name) for name in ("model", "score_weights", "idf")),
    ],
)
def test_another_content_is_another_setting_and_another_name_is_not(tmp_path, job, kind, name):
    def settings(file, content):
        (tmp_path / file).write_text(content)
        outer, _, inner = name.partition(".")
        path = str(tmp_path / file)
        values = {"input": ["a.tsv"], "output": ".", outer: path}
        if inner:
            values[outer] = {inner: path, "min_score": 0.5}
        return settings_of(job, validation.validate(kind, values, f"pairweave {job}"))

    one = settings("one", "a\n")
    assert settings("one", "b\n") != one
    assert settings("other", "a\n") == one


def test_another_version_of_a_plugin_is_another_setting(tmp_path, monkeypatch):
    values = {"input": ["a.tsv"], "output": ".", "filter": {"plugin_rules": {"length": 3}}}
    options = validation.validate(AugmentOptions, values, "pairweave augment")
    actual = []
    for number in ("1", "2"):
        with monkeypatch.context() as patch:
            site, code = tmp_path / number, f"{plugins.RULE}# {number}\n"
            plugins.use(patch, plugins.write_package(site, code=code, version=number))
            actual.append(settings_of("augment", options))
    plugins.forget()
    (said,) = differences(*actual)
    assert said.startswith("rule length was a-package 1, code ")
