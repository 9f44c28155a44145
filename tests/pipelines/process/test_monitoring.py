"""Messages to monitoring servers: what goes wrong is one line, without anything secret."""

import base64
import time

import pytest

from pairweave.pipelines.process import monitoring
from pairweave.transforms.errors import ConfigError
from tests.makers import odd_servers

SECRET = "PASSW0RD"


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    monkeypatch.setattr(monitoring, "SECONDS", 0.5)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def sent(url):
    monitoring.check_place("--lineage", url)
    monitoring.send("--lineage", url, b"{}", {"Content-Type": "text/x"}, "POST")


def test_a_message_arrives_with_its_method_and_headers(capsys):
    with odd_servers.answering("well") as (port, requests):
        sent(f"http://me:{SECRET}%20x@127.0.0.1:{port}/a%20b?token={SECRET}")
    assert capsys.readouterr().err == ""
    (request,) = requests
    lines = request.decode().split("\r\n")
    assert lines[0] == f"POST /a%20b?token={SECRET} HTTP/1.1"
    assert f"Host: 127.0.0.1:{port}" in lines
    coded = base64.b64encode(f"me:{SECRET} x".encode()).decode()
    assert f"Authorization: Basic {coded}" in lines
    assert lines[-1] == "{}"


@pytest.mark.parametrize(
    "kind",
    [
        *(kind for kind in odd_servers.ANSWERS if kind != "well"),
        *(odd_servers.HANGS, odd_servers.DRIPS),
    ],
)
def test_a_server_that_answers_oddly_is_a_warning_of_one_line(kind, capsys):
    began = time.monotonic()
    with odd_servers.answering(kind) as (port, requests):
        sent(f"http://me:{SECRET}@127.0.0.1:{port}/x?token={SECRET}")
        assert time.monotonic() - began < 4
    error = capsys.readouterr().err
    shown = f"--lineage http://***@127.0.0.1:{port}/x?***: the server did not accept the message: "
    assert error.startswith(shown)
    assert len(error) > len(shown) + 5
    assert (error.count("\n"), SECRET in error, "\x1b" in error) == (1, False, False)
    assert len(requests) == 1  # no redirection is followed


@pytest.mark.parametrize(
    "host", ["127.0.0.1:1", "no-such-host.invalid", "[::1]:1", "a..b", f"{'x' * 70}.invalid"]
)
def test_a_server_that_cannot_be_reached_is_a_warning_of_one_line(host, capsys):
    sent(f"http://me:{SECRET}@{host}/x")
    error = capsys.readouterr().err
    assert error.startswith(f"--lineage http://***@{host}/x: the server did not accept the message")
    assert (error.count("\n"), SECRET in error) == (1, False)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (f"file:///{SECRET}", "file:// is not the address of a server; give a file, or an address"),
        (f"ftp://me:{SECRET}@host/x", "ftp:// is not the address of a server"),
        ("s3://bucket/x", "s3:// is not the address of a server"),
        (f"http://host/a {SECRET}", "the address has a space"),
        (f"http://host/a\n{SECRET}", "the address has a space, a control character"),
        (f"http://host/ä{SECRET}", "a letter outside ASCII"),
        (f"http://me:{SECRET}@host:99999/x", "expected an address such as http://HOST:PORT/PATH"),
        (f"http://me:{SECRET}@host:0/x", "with a port from 1 to 65535"),
        (f"http://host:{SECRET}/x", "with a port from 1 to 65535"),
        (f"http:///x?{SECRET}", "expected an address such as"),
        (f"http://[::1/{SECRET}", "expected an address such as"),
    ],
)
def test_an_address_that_can_never_work_is_refused_without_what_it_hides(place, message):
    with pytest.raises(ConfigError) as refused:
        monitoring.check_place("--metrics", place)
    assert str(refused.value).startswith("--metrics: ")
    assert message in str(refused.value)
    assert SECRET not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "place", ["events.jsonl", "/a b/c", "http:x", "HTTPS://host", "http://host:9091/metrics/job/x"]
)
def test_files_and_addresses_pass(place):
    monitoring.check_place("--lineage", place)


def test_metrics_may_be_a_file_in_a_store():
    monitoring.check_place("--metrics", "gs://bucket/x", ("gs", "s3"))
