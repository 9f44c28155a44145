"""The timetables of `refresh` and its dashboard."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

pytest.importorskip("deltalake", reason="needs the extra refresh")

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands.refresh import refresh_command
from pairweave.pipelines.refresh.refresh_options import RefreshOptions
from tests.makers import nightly

DEPLOY = Path(__file__).parents[2] / "deploy"
NIGHTLY = DEPLOY / "nightly"


def options_of(words):
    """Read the options of a command line as the command does."""
    options = flags.parse(RefreshOptions, "pairweave refresh", "", words, beam=True)[0]
    assert options.config == "nightly.yaml"
    return options


def test_the_commands_of_the_timetables_are_valid():
    service = (NIGHTLY / "pairweave-refresh.service").read_text()
    (line,) = re.findall(r"^ExecStart=\S+/pairweave refresh (.*)$", service, re.M)
    assert options_of(shlex.split(line)).output == "tables"
    cron = (NIGHTLY / "crontab").read_text()
    (line,) = re.findall(r"pairweave refresh (.*) >>", cron)
    assert options_of(shlex.split(line)).output == "tables"
    job = yaml.safe_load((NIGHTLY / "cronjob.yaml").read_text())
    pod = job["spec"]["jobTemplate"]["spec"]
    (container,) = pod["template"]["spec"]["containers"]
    assert container["args"][0] == "refresh"
    assert options_of(container["args"][1:]).output == "tables"
    (rule,) = pod["podFailurePolicy"]["rules"]
    assert rule["onExitCodes"]["containerName"] == container["name"]
    assert rule["onExitCodes"]["values"] == [2, refresh_command.GATE_FAILED]
    assert f"RestartPreventExitStatus=2 {refresh_command.GATE_FAILED}" in service


def test_the_unit_is_active_until_the_night_has_ended():
    # Of a unit of another type, TimeoutStartSec does not limit the night, and what is ordered after
    # it starts at once.
    service = (NIGHTLY / "pairweave-refresh.service").read_text()
    assert re.findall(r"^(Type|Restart|TimeoutStartSec)=(.*)$", service, re.M) == [
        ("Type", "oneshot"),
        ("Restart", "on-failure"),
        ("TimeoutStartSec", "8h"),
    ]


def test_systemd_accepts_the_units(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    service = (NIGHTLY / "pairweave-refresh.service").read_text()
    text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", service, flags=re.M)
    (tmp_path / "pairweave-refresh.service").write_text(text)
    shutil.copy(NIGHTLY / "pairweave-refresh.timer", tmp_path)
    units = [str(path) for path in sorted(tmp_path.iterdir())]
    done = subprocess.run(
        ["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False
    )
    own = [line for line in done.stderr.splitlines() if "pairweave-refresh" in line]
    assert not own
    wrong = text.replace("TimeoutStartSec", "TimeoutStrtSec")
    (tmp_path / "pairweave-refresh.service").write_text(wrong)
    done = subprocess.run(
        ["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False
    )
    assert "TimeoutStrtSec" in done.stderr


def test_the_dashboard_shows_metrics_that_exist(tmp_path):
    nightly.write_help(tmp_path, "one", range(20))
    nightly.write_config(tmp_path, of='corpora:\n- {corpus: help, input: "help/*.tsv"}\n')
    nightly.good_night(tmp_path, "--metrics", "m.prom")
    written = set(re.findall(r"^(pairweave_refresh_\w+)", (tmp_path / "m.prom").read_text(), re.M))
    panels = json.loads((NIGHTLY / "dashboard.json").read_text())["panels"]
    assert len(panels) == 8
    shown = {
        name
        for panel in panels
        for target in panel["targets"]
        for name in re.findall(r"pairweave_refresh_\w+(?![\w(.])", target["expr"])
    }
    assert shown - {"pairweave_refresh_mean_"} <= written
    assert written - shown <= {
        *("pairweave_refresh_night", "pairweave_refresh_new_pairs"),
        "pairweave_refresh_removed_pairs",
    }
