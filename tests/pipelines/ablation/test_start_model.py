"""The model that all units start from is the one of the directory."""

import pytest

from pairweave.pipelines.ablation.ablation_config import Ablation
from pairweave.pipelines.ablation.prepared import prepare
from pairweave.pipelines.ablation.start_model import start_weights
from pairweave.transforms.errors import ConfigError
from tests.makers.ablations import configuration, write_pairs

torch = pytest.importorskip("torch", reason="needs the extra `ablate`")
weights = pytest.importorskip("pairweave.models.translation.translation_weights")


def test_weights_that_went_on_from_something_else_are_refused(tmp_path):
    data = write_pairs(tmp_path, "start", range(3_000, 3_040), tagged=False)
    start = {"data": [{**data, "tags": "strip"}], "steps": 5}
    made = prepare(Ablation.model_validate(configuration(tmp_path, start=start)), tmp_path / "made")
    path = made.directory / "start" / "weights.safetensors"
    weights.write_weights(path, torch.nn.Linear(2, 2), {"made_of": "other"})
    with pytest.raises(ConfigError, match=f"{path}: was trained with other data"):
        start_weights(made, machine=None)
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(ConfigError, match=f"{path}: is damaged"):
        start_weights(made, machine=None)
