"""Short messages to a monitoring server, which never stop or fail the command that sends them."""

from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from pairweave.pipelines.process import http_client, terminal
from pairweave.transforms.errors import ConfigError

SECONDS = 10.0
"""Time limit for sending a message, from the lookup of the server's name to its answer."""

STOPPING_SECONDS = 0.3
"""The time limit while a command is being stopped, which may take a second in all
(`supervisor.ASKED_SECONDS`)."""


def is_url(place: str) -> bool:
    """Tell whether a place is the address of a server, and not a file."""
    return "://" in place


def check_place(option: str, place: str, stores: Collection[str] = ()) -> None:
    """Check that a place is a file or an address that a message can be sent to.

    Args:
        option: The option that names it, for messages.
        place: A file, or an address such as ``https://user:password@host:9091/path?token=x``.
        stores: Schemes of object stores in which the file may be.

    Raises:
        ConfigError: It is an address of another kind, or neither a file nor an address.
    """
    scheme = place.partition("://")[0].lower()
    if not is_url(place) or scheme in stores:
        return
    # Any part of the address may contain a password, so no message shows it yet.
    if scheme not in ("http", "https"):
        raise ConfigError(
            f"{option}: {scheme}:// is not the address of a server; give a file, or an address "
            "that begins with http:// or https://"
        )
    if not place.isascii() or any(mark <= " " or mark == "\x7f" for mark in place):
        raise ConfigError(
            f"{option}: the address has a space, a control character or a letter outside ASCII; "
            "write it in percent encoding, such as %20 for a space"
        )
    try:
        parts = urlsplit(place)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, 0
    if not host or port == 0:
        raise ConfigError(
            f"{option}: expected an address such as http://HOST:PORT/PATH, with a port from 1 to "
            "65535"
        )


def send(
    option: str,
    url: str,
    content: bytes,
    headers: Mapping[str, str],
    method: str,
    *,
    seconds: float | None = None,
) -> None:
    """Send a message to a server; every failure is a warning of one line.

    Args:
        option: The option that names the address, for the warning.
        url: The address, checked by `check_place`. User and password become basic authentication.
        content: The message.
        headers: Headers of HTTP.
        method: ``POST`` or ``PUT``.
        seconds: How long to wait for the answer, by default `SECONDS`.
    """
    try:
        http_client.post(url, content, headers, method, SECONDS if seconds is None else seconds)
    except http_client.ExchangeError as error:
        place = http_client.shown(url)
        terminal.warn(f"{option} {place}: the server did not accept the message: {error}")
