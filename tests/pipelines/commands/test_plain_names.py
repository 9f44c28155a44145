"""Outputs that are never compressed are not called like compressed files."""

import pytest

from tests.makers import runs

SIDES = ("--source_input", "tagged.en", "--target_input", "tagged.de")
LANGUAGES = ("--source_lang", "en", "--target_lang", "de")


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (("init", "tagged.en", "tagged.de"), "options.yaml.gz"),
        (("tags", "profile", "--syntax", "xml", "--input", "tagged.en"), "profile.json.zst"),
        (("tags", "fit_projection", "--syntax", "xml", *SIDES, *LANGUAGES), "weights.json.xz"),
        (("filter_fit", "run", "labels"), "weights.json.bz2"),
    ],
)
def test_a_name_of_a_compressed_file_is_refused(tmp_path, words, output):
    for language in ("en", "de"):
        (tmp_path / f"tagged.{language}").write_text("a <b>word</b>\n" * 3)
    status, _, errors = runs.run_here(*words, "--output", output, cwd=tmp_path)
    plain = output.rpartition(".")[0]
    assert status == 2
    assert f"{output}: " in errors
    assert f"is not compressed; give a name such as {plain}" in errors
    assert not (tmp_path / output).exists()


def test_weights_do_not_replace_the_labels_that_they_are_fitted_to(tmp_path):
    (tmp_path / "labels").write_text("1\n0\n")
    words = ("filter_fit", "run", "labels", "--output", "../labels")
    (tmp_path / "here").mkdir()
    (tmp_path / "here/labels").symlink_to("../labels")
    status, _, errors = runs.run_here(*words, cwd=tmp_path / "here")
    assert status == 2
    assert "../labels: is named twice" in errors
