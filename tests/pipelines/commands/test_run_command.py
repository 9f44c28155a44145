"""The command that runs a recipe."""

import pytest

from pairweave.pipelines import cli
from pairweave.pipelines.commands import run_command
from pairweave.transforms.errors import ConfigError, FullError, MachineError, SetAsideError


@pytest.mark.parametrize(
    ("error", "status"),
    [(SetAsideError, 3), (ConfigError, 2), (FullError, 2), (MachineError, 1)],
)
def test_a_step_ends_the_recipe_with_its_own_exit_status(
    error, status, tmp_path, monkeypatch, capsys
):
    def fail(*_):
        raise error("shard 2: no")

    monkeypatch.setattr(run_command, "_start", fail)
    (tmp_path / "a.tsv").write_text("a b\tc d\n")
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(
        f"input: {tmp_path / 'a.tsv'}\nsource_lang: en\ntarget_lang: de\nsteps:\n  - job: fit\n"
    )
    words = ("run", "--config", str(recipe), "--output", str(tmp_path / "out"))
    assert cli.main(words) == status
    assert f"{recipe}: step fit: shard 2: no" in capsys.readouterr().err
