"""Values of Beam's options that the service would refuse later are refused at once, by name."""

import pytest

from pairweave.pipelines.engines.dataflow import option_forms
from pairweave.transforms.errors import ConfigError
from tests.makers import corpora, dataflow, runs

KEY = "projects/p/locations/europe-west4/keyRings/r/cryptoKeys/k"


@pytest.mark.parametrize(
    "words",
    [
        "--labels team=corpora --labels cost_centre=12-b --label empty --labels ärger=é",
        "--disk_size_gb 30",
        "--disk_size_gb 0",  # Beam's help: the default size
        "--machine_type n2-highmem-4",
        "--worker_machine_type custom-4-5120",
        "--worker_zone us-central1-ai1a",
        "--zone europe-west4-a",
        "--worker_region europe-west4",
        "--service_account_email a@b.iam.gserviceaccount.com",
        "--service_account_email 12-compute@developer.gserviceaccount.com",
        "--impersonate_service_account a@p.iam.gserviceaccount.com,b@p.iam.gserviceaccount.com",
        "--subnetwork regions/europe-west4/subnetworks/s",
        "--subnetwork https://www.googleapis.com/compute/v1/projects/p/regions/r/subnetworks/s",
        f"--dataflow_kms_key {KEY}",
        "--job_name a-job-2",
        "",
    ],
)
def test_good_values_pass(words):
    option_forms.check(words.split())


def test_labels_may_be_a_map():
    option_forms.check(["--labels", '{"team": "corpora", "count": "3"}'])
    for text in ('{"team"}', "{team: corpora}", "{"):
        with pytest.raises(ConfigError, match=r"--labels .* is not a map"):
            option_forms.check(["--labels", text])
    with pytest.raises(ConfigError, match="expected KEY=VALUE"):
        option_forms.check(["--labels", '{"Team": "corpora"}'])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--labels a=b --labels Team=corpora", "--labels Team=corpora: expected KEY=VALUE"),
        ("--labels a=b=c", "--labels a=b=c: expected KEY=VALUE"),
        ("--labels =x", "--labels =x: expected KEY=VALUE"),
        ("--labels 1a=x", "--labels 1a=x: expected KEY=VALUE"),
        ("--label a=" + "x" * 64, "expected KEY=VALUE, each of at most 63 lower-case letters"),
        ("--disk_size_gb=-5", "--disk_size_gb -5: expected 30 or more, for the workers' image"),
        ("--disk_size_gb 10", "--disk_size_gb 10: expected 30 or more, for the workers' image"),
        ("--machine_type banana", "--machine_type banana: expected a machine type such as"),
        ("--worker_machine_type N1-standard-1", "--machine_type N1-standard-1: expected a machine"),
        ("--worker_zone europe-west4", "--worker_zone europe-west4: expected a zone such as"),
        ("--worker_region europe-west4-a", "--worker_region europe-west4-a: expected a region"),
        ("--service_account_email me", "--service_account_email me: expected the address of a"),
        ("--service_account_email a@gmail.com", "expected the address of a service account"),
        ("--impersonate_service_account a", "--impersonate_service_account a: expected addresses"),
        ("--subnetwork s", "--subnetwork s: expected regions/REGION/subnetworks/NAME"),
        ("--dataflow_kms_key k", "--dataflow_kms_key k: expected projects/PROJECT/locations/REG"),
        ("--job_name 9_x", "--job_name 9_x: expected lower-case letters, digits and hyphens"),
        (" ".join(f"--labels a{n}=b" for n in range(65)), "--labels: a job has at most 64 labels"),
    ],
)
def test_others_are_refused_with_what_was_expected(words, message):
    with pytest.raises(ConfigError) as refused:
        option_forms.check(words.split())
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_job_is_refused_before_its_input_is_looked_for(tmp_path):
    corpora.write_corpus(tmp_path, 3)
    status, _, errors = runs.run_here(
        *("align", "--engine", "dataflow", "--region", dataflow.REGION, "--project", "a-project"),
        *("--input", "gs://bucket/in.tsv", "--source_lang", "en", "--target_lang", "de"),
        *("--output", "gs://bucket/out", "--temp_location", "gs://bucket/temp"),
        *("--sdk_container_image", dataflow.IMAGE, "--labels", "Team=corpora"),
        cwd=tmp_path,
    )
    assert status == 2
    assert errors.startswith("pairweave: --labels Team=corpora: expected KEY=VALUE")
