"""Values of Beam's options that the service would refuse later are refused at once, by name."""

import pytest

from pairweave.pipelines.engines import engine_flags, option_forms
from pairweave.pipelines.engines.dataflow import checks
from pairweave.transforms.errors import ConfigError
from tests.makers import corpora, dataflow, runs

LABELS = "expected KEY=VALUE, each of at most 63 lower-case letters"
KEY = "projects/p/locations/europe-west4/keyRings/r/cryptoKeys/k"


@pytest.mark.parametrize(
    "words",
    [
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
        "--project a-project --region europe-west4",
        "--project example.com:a-project",
        f"--temp_location gs://bucket/temp --sdk_container_image {dataflow.IMAGE}",
        f"--staging_location gs://bucket --sdk_container_image gcr.io/p/i@sha256:{'0' * 64}",
        "",
    ],
)
def test_good_values_pass(words):
    option_forms.check_forms("dataflow", engine_flags.given_options(words.split()))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--disk_size_gb=-5", "--disk_size_gb -5: expected 30 or more, for the workers' image"),
        ("--disk_size_gb 29", "--disk_size_gb 29: expected 30 or more, for the workers' image"),
        ("--machine_type banana", "--machine_type banana: expected a machine type such as"),
        ("--worker_machine_type N1-s-1", "--worker_machine_type N1-s-1: expected a machine"),
        ("--worker_zone europe-west4", "--worker_zone europe-west4: expected a zone such as"),
        ("--worker_region europe-west4-a", "--worker_region europe-west4-a: expected a region"),
        ("--service_account_email me", "--service_account_email me: expected the address of a"),
        ("--service_account_email a@gmail.com", "expected the address of a service account"),
        ("--impersonate_service_account a", "--impersonate_service_account a: expected addresses"),
        ("--subnetwork s", "--subnetwork s: expected regions/REGION/subnetworks/NAME"),
        ("--dataflow_kms_key k", "--dataflow_kms_key k: expected projects/PROJECT/locations/REG"),
        ("--job_name 9_x", "--job_name 9_x: expected lower-case letters, digits and hyphens"),
        ("--project 1234567", "--project 1234567: expected the id of a project (6 to 30"),
        ("--project=Project", "--project Project: expected the id of a project (6 to 30"),
        ("--region europe-west4-a", "europe-west4-a: expected a region such as europe-west4, not"),
        ("--region Europe", "--region Europe: expected a region such as europe-west4"),
        ("--temp_location /tmp/x", "--temp_location /tmp/x: expected a place in a bucket, such"),
        ("--temp_location s3://bucket/x", "s3://bucket/x: expected a place in a bucket"),
        ("--temp_location gs://B/x", "--temp_location gs://B/x: expected a place in a bucket"),
        ("--temp_location gs:///x", "--temp_location gs:///x: expected a place in a bucket"),
        ("--staging_location staging", "--staging_location staging: expected a place in a bucket"),
        ("--sdk_container_image pairweave", "image pairweave: expected the name of an image in a"),
        ("--sdk_container_image gcr.io/p/i", "with a tag other than latest or a digest"),
        ("--sdk_container_image gcr.io/p/i:latest", "with a tag other than latest or a digest"),
    ],
)
def test_others_are_refused_with_what_was_expected(words, message):
    with pytest.raises(ConfigError) as refused:
        option_forms.check_forms("dataflow", engine_flags.given_options(words.split()))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_good_labels_pass():
    checks.check_labels(["team=corpora", "cost_centre=12-b", "empty", "ärger=é"])
    checks.check_labels(['{"team": "corpora", "count": "3"}'])  # Beam takes a map too


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a=b", "Team=corpora"], f"--labels Team=corpora: {LABELS}"),
        (["a=b=c"], f"--labels a=b=c: {LABELS}"),
        (["=x"], f"--labels =x: {LABELS}"),
        (["1a=x"], f"--labels 1a=x: {LABELS}"),
        (["a=" + "x" * 64], LABELS),
        (['{"Team": "corpora"}'], LABELS),
        (['{"team"}'], "expected KEY=VALUE, or a map such as"),
        (["{team: corpora}"], "expected KEY=VALUE, or a map such as"),
        (["{"], "expected KEY=VALUE, or a map such as"),
        ([f"a{n}=b" for n in range(65)], "--labels: expected at most 64 labels, got 65"),
    ],
)
def test_other_labels_are_refused(labels, message):
    with pytest.raises(ConfigError) as refused:
        checks.check_labels(labels)
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
