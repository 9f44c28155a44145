"""A model's description may list only files of its own directory."""

import json

import pytest

from pairweave.transforms.storage import hashed_files


@pytest.mark.parametrize("name", ["../a", "a/b", "/a", ".a", "..", "", "about.json"])
def test_a_file_outside_the_model_is_refused(name):
    with pytest.raises(ValueError, match="names a file outside the model"):
        hashed_files.parse_about(json.dumps({"files": {"a.arrow": "0", name: "0"}}).encode())


@pytest.mark.parametrize("about", [[], {}, {"files": {}}, {"files": ["a"]}, "files"])
def test_a_description_without_files_is_refused(about):
    with pytest.raises(ValueError, match="hashes of files"):
        hashed_files.parse_about(json.dumps(about).encode())
