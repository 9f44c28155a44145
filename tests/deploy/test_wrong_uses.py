"""Wrong uses of engines and stores, each of which is told in one line, before anything is read.

`deploy/WRONG_USES.md` shows what they say; `--update_golden` writes it again.
"""

import re
import socket
import time
from pathlib import Path

import pytest

pytest.importorskip("boto3", reason="needs the extra `aws`")
pytest.importorskip("google.cloud.dataflow_v1beta3", reason="needs the extra `gcp`")

from pairweave.pipelines.engines import engine_flags
from pairweave.transforms.storage import object_stores
from tests.makers import corpora, runs

PAGE = Path(__file__).resolve().parents[2] / "deploy" / "WRONG_USES.md"
SECONDS = 60.0
"""Most that a refusal may take on a machine with other work; they take one or two by themselves."""

CLOUD = (
    "--engine dataflow --project a-project --region europe-west4 --temp_location gs://bucket/temp "
    "--sdk_container_image gcr.io/a-project/pairweave:1"
)
WRONG = (
    "--engine spark",
    "--runner DirectRunner",
    "--runner DataflowRunner",
    "--runner PrismRunner",
    "--flink_master localhost:PORT",
    "--engine local --direct_num_workers many",
    "--engine prism --prism_location /no/such/prism",
    "--engine prism --memory 4GiB",
    "--engine flink --wait false",
    "--engine flink --parallelism 0",
    "--engine flink --job_endpoint localhost:PORT",
    "--engine flink --job_endpoint localhost",
    "--engine flink --flink_master localhost:PORT",
    "--engine flink --flink_master no-such-host.invalid:8081",
    "--engine flink --output_executable_path job.jar",
    "--engine local --output_executable_path job.jar",
    "--engine dataflow",
    f"{CLOUD} --workers 8",
    CLOUD,
    CLOUD.replace("europe-west4", "europe-west4-a"),
    CLOUD.replace("pairweave:1", "pairweave:latest"),
    CLOUD.replace("gs://bucket/temp", "/tmp/temp"),
    "--output gs://bucket/out",
    "--output s3://bucket/out",
    "--output s3:///out",
    "--output ftp://host/out",
)


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Return what each wrong use says, its exit status and its seconds, by the use."""
    directory = tmp_path_factory.mktemp("wrong")
    corpora.write_corpus(directory, 5)
    # Bound and never listening: nothing else can take the port meanwhile.
    with socket.socket() as closed, pytest.MonkeyPatch.context() as patch:
        closed.bind(("127.0.0.1", 0))
        port = str(closed.getsockname()[1])
        patch.setenv("STORAGE_EMULATOR_HOST", f"http://localhost:{port}")
        patch.setenv("AWS_ENDPOINT_URL", f"http://localhost:{port}")
        patch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
        result = {wrong: _say(directory, wrong.replace("PORT", port), port) for wrong in WRONG}
    object_stores.use_beam_flags([])
    return result


def _say(directory, wrong, port):
    output = () if "--output " in wrong else ("--output", "out")
    began = time.monotonic()
    status, _, errors = runs.run_here(
        *("align", "--source_input", "corpus.en", "--target_input", "corpus.de"),
        *("--source_lang", "en", "--target_lang", "de", *output, *wrong.split()),
        cwd=directory,
    )
    left = sorted(path.name for path in directory.iterdir())
    assert left == ["corpus.de", "corpus.en"], (wrong, left)
    return status, errors.replace(port, "PORT"), time.monotonic() - began


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_use_is_told_in_one_line_within_seconds(said, wrong):
    status, errors, seconds = said[wrong]
    assert status == 2, errors
    lines = errors.splitlines()
    assert len(lines) == 1, errors
    assert lines[0].startswith("pairweave: ")
    assert seconds < SECONDS


def test_the_page_shows_what_they_say(said, request):
    rows = [f"| `{wrong}` | {_cell(said[wrong][1])} |" for wrong in WRONG]
    text = "\n".join(
        [
            "# Wrong uses of engines and stores, and what they say",
            "",
            "The table shows the message for each wrong option or combination of options, added to "
            "`pairweave align --source_input",
            "corpus.en …`. The exit status is always 2, and nothing is read or written. Nothing "
            "listens at `PORT`; `STORAGE_EMULATOR_HOST`",
            "and `AWS_ENDPOINT_URL` also point there. "
            "`pytest tests/deploy/test_wrong_uses.py --update_golden` writes this page.",
            "",
            "| options | message |",
            "| --- | --- |",
            *rows,
            "",
        ]
    )
    if request.config.getoption("update_golden"):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text


def _cell(errors):
    told = errors.strip().removeprefix("pairweave: ")
    return re.sub(r"([|<>*_])", r"\\\1", told)


def test_missing_credentials_of_s3_are_told_with_where_to_put_them(tmp_path, monkeypatch):
    corpora.write_corpus(tmp_path, 5)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://localhost:{server.getsockname()[1]}")
        status, errors, seconds = _say(tmp_path, "--output s3://bucket/out", "no port")
    assert status == 2
    assert "no AWS credentials were found: set AWS_ACCESS_KEY_ID and" in errors
    assert seconds < SECONDS
    object_stores.use_beam_flags([])


def test_flags_of_servers_that_listen_are_taken():
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = f"localhost:{server.getsockname()[1]}"
        for name in engine_flags.ENDPOINTS:
            engine_flags.check_flags("flink", {name: place})
        engine_flags.check_flags("flink", {"flink_master": f"http://{place}/"})
    engine_flags.check_flags("flink", {"flink_master": "[auto]", "parallelism": "4"})
    engine_flags.check_flags("prism", {"prism_location": "https://host/prism.zip"})
