"""Short messages to a monitoring server, which never stop or fail the command that sends them."""

import base64
import contextlib
import http.client
import threading
import urllib.error
import urllib.request
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError

if TYPE_CHECKING:
    from email.message import Message
    from typing import IO

SECONDS = 10.0
"""How long a server may take to accept a message, from the search for its name to its answer."""

STOPPING_SECONDS = 0.3
"""The same while a command is being stopped, for which there is a second in all
(`supervisor.ASKED_SECONDS`)."""

_HIDDEN = "***"
_LONGEST_CAUSE = 200


def is_url(place: str) -> bool:
    """Tell whether a place is the address of a server, and not a file."""
    return "://" in place


def check(option: str, place: str, stores: Collection[str] = ()) -> None:
    """Check that a place is a file or an address that a message can be sent to.

    Args:
        option: The option that names it, for messages.
        place: A file, or an address such as ``https://user:password@host:9091/path?token=x``.
        stores: Schemes of object stores in which the file may be.

    Raises:
        ConfigError: It is an address of another kind, or none at all.
    """
    scheme = place.partition("://")[0].lower()
    if not is_url(place) or scheme in stores:
        return
    # The address itself may hold a password in any of its parts, so no message shows it yet.
    if scheme not in ("http", "https"):
        raise ConfigError(
            f"{option}: {scheme}:// is no address of a server; give a file, or an address that "
            "begins with http:// or https://"
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


def shown(url: str) -> str:
    """Return an address for messages: without user, password, query and fragment.

    >>> shown("http://me:secret@host:9091/path?token=x")
    'http://***@host:9091/path?***'
    """
    parts = urlsplit(url)
    user = f"{_HIDDEN}@" if "@" in parts.netloc else ""
    query = _HIDDEN if parts.query or parts.fragment else ""
    return urlunsplit((parts.scheme, user + _host(parts), parts.path, query, ""))


def send(
    option: str,
    url: str,
    content: bytes,
    headers: Mapping[str, str],
    method: str,
    *,
    seconds: float | None = None,
) -> None:
    """Send a message to a server; whatever goes wrong is a warning of one line.

    A redirection is not followed: it could lead to another host, or turn the message into a
    request without content.

    Args:
        option: The option that names the address, for the warning.
        url: The address, checked by `check`. User and password become basic authentication.
        content: The message.
        headers: Headers of HTTP.
        method: ``POST`` or ``PUT``.
        seconds: How long to wait for the answer, by default `SECONDS`.
    """
    seconds = SECONDS if seconds is None else seconds
    parts = urlsplit(url)
    bare = urlunsplit((parts.scheme, _host(parts), parts.path, parts.query, ""))
    request = urllib.request.Request(bare, data=content, headers=dict(headers), method=method)
    if "@" in parts.netloc:
        secret = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        coded = base64.b64encode(secret.encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {coded}")
    causes: list[str] = []
    # Sockets limit single operations only. A server that sends a byte now and then keeps the thread
    # waiting, which ends with the process.
    thread = threading.Thread(target=_exchange, args=(request, causes), daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        causes = [f"no answer within {seconds:g} seconds"]
    if causes:
        cause = " ".join(_without_secrets(causes[0], parts).split())[:_LONGEST_CAUSE]
        terminal.warn(f"{option} {shown(url)}: the server did not accept the message: {cause}")


def _exchange(request: urllib.request.Request, causes: list[str]) -> None:
    """Send a request; append what went wrong, if anything did."""
    opener = urllib.request.build_opener(_NoRedirection)
    try:
        with opener.open(request, timeout=SECONDS):
            pass
    except urllib.error.HTTPError as error:
        with contextlib.suppress(OSError), error:
            causes.append(_of_status(error))
    except urllib.error.URLError as error:
        causes.append(str(error.reason))
    except http.client.HTTPException as error:
        causes.append(f"it does not speak HTTP ({type(error).__name__})")
    except TimeoutError:
        causes.append(f"no answer within {SECONDS:g} seconds")
    except Exception as error:  # noqa: BLE001 - no mistake of a server may stop a night
        causes.append(str(error) or type(error).__name__)


def _of_status(error: urllib.error.HTTPError) -> str:
    if 300 <= error.code < 400:
        return f"status {error.code}, a redirection; give the address that it leads to"
    return f"status {error.code} {error.reason}"


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: "IO[bytes]",
        code: int,
        msg: str,
        headers: "Message",
        newurl: str,
    ) -> None:
        """Make no further request, so that the redirection becomes an error."""


def _host(parts: SplitResult) -> str:
    """Return host and port, without user and password."""
    return parts.netloc.rpartition("@")[2]


def _without_secrets(text: str, parts: SplitResult) -> str:
    """Return a text, perhaps a server's own, without what the address holds in secret."""
    for secret in (parts.password, unquote(parts.password or ""), parts.query, parts.fragment):
        if secret:
            text = text.replace(secret, _HIDDEN)
    return text
