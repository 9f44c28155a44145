"""Exported pairs: the languages in headers are those of the run, and tags are indexed tags."""

from pathlib import Path

import pytest

from pairweave.transforms.errors import ConfigError
from tests.makers import finished_runs

CORPUS = {"name": "news", "source_lang": "en", "target_lang": "de", "licence": None}
HEADERS = {
    "tmx": ('srclang="en"', 'xml:lang="de"'),
    "xliff": ('source-language="en"', 'target-language="de"'),
    "xliff2": ('srcLang="en"', 'trgLang="de"'),
    "po": ('"Language: de\\n"', '"X-Source-Language: en\\n"'),
}


def exported(tmp_path, form, corpora):
    run = str(tmp_path / "run")
    finished_runs.write_run(run, corpora=corpora)
    done = finished_runs.export_pairs(run, form, str(tmp_path / form), unfit="leave_out")
    assert done.rows > 1
    return Path(done.paths[0]).read_text(encoding="utf-8")


@pytest.mark.parametrize("form", HEADERS)
def test_a_header_names_source_and_target_language_in_their_places(tmp_path, form):
    web = {**CORPUS, "name": "web"}
    text = exported(tmp_path, form, [CORPUS, web])
    for field in HEADERS[form]:
        assert field in text


def test_a_header_of_several_source_languages_names_none(tmp_path):
    text = exported(tmp_path, "tmx", [CORPUS, {**CORPUS, "name": "web", "source_lang": "fr"}])
    assert 'srclang="*all*"' in text


def test_tags_in_another_representation_are_not_exported(tmp_path):
    run = str(tmp_path / "run")
    finished_runs.write_run(run, configuration={"representation": "native"})
    with pytest.raises(ConfigError, match="are written as native; only those of a run with --rep"):
        finished_runs.export_pairs(run, "tmx", str(tmp_path / "tmx"))
    assert not (tmp_path / "tmx").exists()
