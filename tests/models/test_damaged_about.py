"""The JSON files of models with each field damaged in turn: one line that names it."""

import hashlib
import json

import numpy as np
import pytest

from pairweave.models.hmm import hmm_files, hmm_reference
from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.similarity import idf, vector_projection
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering import score
from pairweave.transforms.markup.markup import XML
from pairweave.transforms.storage import hashed_files
from pairweave.transforms.tags.tag_profile import learn_profile, read_profile
from pairweave.transforms.text.tokens import TokenConfig
from tests.makers import damaged_json
from tests.makers.hmm_corpora import plain_table

PAIRS = [("a b", "x y"), ("a", "x"), ("b c", "y z")]
FACTS = {"source_lang": ["en"], "target_lang": ["de"]}


def fitted(directory):
    packed = hmm_reference.pack(
        fit(plain_table(PAIRS), HmmConfig()), TokenConfig(), {**FACTS, "pairs": 3}
    )
    hmm_reference.save(directory, packed)
    return lambda: hmm_reference.read(directory)


def counted(directory):
    reference = idf.save(directory, idf.pack(idf.nothing_counted(3, "p"), FACTS))
    return lambda: idf.find(reference.directory).load()


def projected(directory):
    made = vector_projection.Projection(np.eye(2, dtype=np.float32), "orthogonal", "e", 3)
    hashed_files.write(directory, vector_projection.pack(made, {}))
    return lambda: vector_projection.find(directory)


@pytest.mark.parametrize("kind", [fitted, counted, projected])
def test_a_damaged_description_of_a_model_is_refused_in_one_line(tmp_path, kind):
    read = kind(str(tmp_path))
    read()
    optional = {"pairs", "source_lang", "target_lang"}
    # A layer can be counted from the last one.
    check_each(tmp_path / "about.json", read, ("layer = -1",), optional)


def test_a_damaged_header_of_a_fitted_aligner_is_refused_in_one_line(tmp_path):
    read = fitted(str(tmp_path))
    about = json.loads((tmp_path / "about.json").read_bytes())

    def with_its_hash():
        data = (tmp_path / hmm_files.HEADER).read_bytes()
        about["files"][hmm_files.HEADER] = hashlib.sha256(data).hexdigest()
        (tmp_path / "about.json").write_text(json.dumps(about))
        read()

    check_each(tmp_path / hmm_files.HEADER, with_its_hash, free=("fit", "files."))


def test_damaged_weights_of_a_score_are_refused_in_one_line(tmp_path):
    path = tmp_path / "weights.json"
    path.write_bytes(score.read_weights().to_json())
    check_each(path, lambda: score.read_weights(str(path)))


def test_a_damaged_profile_of_tags_is_refused_in_one_line(tmp_path):
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(learn_profile(["a <b>c</b> d", "<i>e</i> <b>f</b>"], XML)))
    read = lambda: read_profile(str(path))  # noqa: E731
    free = ("texts", "tagged_texts", "target", "tags ", "tags.", "tags left")
    check_each(path, read, free=free, optional={"names", "syntax"})


def refusal(read):
    """Return why something cannot be read; None if it can."""
    try:
        read()
    except ConfigError as error:
        return str(error)
    return None


def check_each(path, read, free=(), optional=frozenset()):
    """Damage each field of a file, and read it each time: only an error in one line will do."""
    document, whole, accepted = json.loads(path.read_bytes()), path.read_bytes(), []
    read()
    every = [(what, json.dumps(result).encode()) for what, result in damaged_json.damaged(document)]
    for what, data in [*damaged_json.texts(document), *every]:
        path.write_bytes(data)
        said = refusal(read)
        if said is None:
            accepted.append(what)
        else:
            assert "\n" not in said, what
            assert path.name in said or str(path.parent) in said, what
    path.write_bytes(whole)
    accepted = [what for what in accepted if not what.startswith(free)]
    # An entry of a mapping or of a list may be missing, and what is optional.
    left_out = {f"{name} left out" for name in document if name not in optional}
    assert not left_out & set(accepted)
    fine = [what for what in accepted if what.endswith(("left out", "= null"))]
    assert [what for what in accepted if what not in fine and "= 7" not in what] == []
