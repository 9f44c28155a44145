"""What counts as another setting: every file that an option names, by its content."""

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from pairweave.pipelines.command_line.command_table import job_options
from pairweave.pipelines.refresh import night_config
from pairweave.pipelines.refresh.chain import table_names

NAMED = (
    *("model", "encoder", "idf", "projection", "score_weights", "earlier"),
    *("glossary", "tag_profile", "program_path", "exclude"),
)
BEHIND_A_KIND = {"tokens": "sentencepiece", "detector": "fasttext", "translator": "ctranslate2"}


def jobs_with(name):
    """Return the jobs that have an option, with their options."""
    kinds = {job: job_options(job) for job in table_names.MAIN}
    result = {job: kind for job, kind in kinds.items() if name in kind.model_fields}
    assert result, f"no job has the option {name}"
    return result


@pytest.mark.parametrize("name", [*NAMED, *BEHIND_A_KIND])
def test_a_file_with_another_content_is_another_setting_for_every_job(tmp_path, name):
    path = tmp_path / "file"
    value = f"{BEHIND_A_KIND[name]}:{path}" if name in BEHIND_A_KIND else str(path)
    for job, kind in jobs_with(name).items():
        is_list = isinstance(kind.model_fields[name].default, tuple)
        options = kind.model_construct(**{"output": "", name: (value,) if is_list else value})
        path.write_text("one")
        first = night_config.settings_of(job, options)
        assert str(path) not in str(first)
        path.write_text("two")
        ((said),) = night_config.differences(first, night_config.settings_of(job, options))
        assert said.startswith(f"{name} was ")
        path.write_text("one")
        assert night_config.settings_of(job, options) == first
