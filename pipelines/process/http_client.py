"""One exchange with a server over HTTP, with a time limit and errors that show no secret."""

import base64
import contextlib
import http.client
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from email.message import Message
from typing import IO
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

_HIDDEN = "***"
_LONGEST_CAUSE = 200


class ExchangeError(Exception):
    """An exchange that failed; its one-line message omits the secrets of the address."""


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Message,
        newurl: str,
    ) -> None:
        """Make no further request, so that the redirection becomes an error."""


def shown(url: str) -> str:
    """Return an address for messages: without user, password, query and fragment.

    >>> shown("http://me:secret@host:9091/path?token=x")
    'http://***@host:9091/path?***'
    """
    parts = urlsplit(url)
    user = f"{_HIDDEN}@" if "@" in parts.netloc else ""
    query = _HIDDEN if parts.query or parts.fragment else ""
    return urlunsplit((parts.scheme, user + _host(parts), parts.path, query, ""))


def post(url: str, content: bytes, headers: Mapping[str, str], method: str, seconds: float) -> None:
    """Send content to a server; of its answer, read only the status.

    Args:
        url: The address. User and password become basic authentication.
        content: The content.
        headers: Headers of HTTP.
        method: ``POST`` or ``PUT``.
        seconds: Time limit of the whole exchange, including the lookup of the server's name.

    Raises:
        ExchangeError: The server cannot be reached, does not answer in time, refuses, or answers
            with a redirection. Redirections are not followed: one could lead to another host, or
            turn the request into one without content.
    """
    parts = urlsplit(url)
    bare = urlunsplit((parts.scheme, _host(parts), parts.path, parts.query, ""))
    request = urllib.request.Request(bare, data=content, headers=dict(headers), method=method)
    if "@" in parts.netloc:
        secret = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        coded = base64.b64encode(secret.encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {coded}")
    try:
        _exchange(request, seconds, most_bytes=0)
    except ExchangeError as error:
        cause = " ".join(_without_secrets(str(error), parts).split())[:_LONGEST_CAUSE]
        raise ExchangeError(cause) from None  # the original error may show a secret


def ask_this_machine(url: str, seconds: float, most_bytes: int) -> bytes:
    """Return what a server on this machine answers, without any proxy.

    Args:
        url: The address, without user and password.
        seconds: Time limit of the whole exchange.
        most_bytes: Maximum length of the answer.

    Raises:
        ExchangeError: As for `post`; or the answer is too long, or ends early.
    """
    request = urllib.request.Request(url)
    return _exchange(request, seconds, most_bytes, urllib.request.ProxyHandler({}))


def _exchange(
    request: urllib.request.Request,
    seconds: float,
    most_bytes: int,
    *handlers: urllib.request.BaseHandler,
) -> bytes:
    """Send a request, and return the content of the answer if any bytes of it are wanted."""
    opener = urllib.request.build_opener(_NoRedirection, *handlers)
    answers: list[bytes | ExchangeError] = []

    def run() -> None:
        try:
            with opener.open(request, timeout=seconds) as answer:
                answers.append(_content(answer, most_bytes))
        except Exception as error:  # noqa: BLE001 - no mistake of a server may stop a command
            answers.append(ExchangeError(_cause(error, seconds)))

    # Sockets limit single operations only. A server that sends a byte now and then keeps the thread
    # waiting, which ends with the process.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    (answer,) = answers or [ExchangeError(_late(seconds))]
    if isinstance(answer, ExchangeError):
        raise answer
    return answer


def _content(answer: http.client.HTTPResponse, most_bytes: int) -> bytes:
    """Read the content of an answer if any bytes of it are wanted."""
    if not most_bytes:
        return b""
    content = answer.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ExchangeError(f"its answer is over {most_bytes:,} bytes")
    if answer.length:  # the announced bytes that are missing
        raise http.client.IncompleteRead(content, answer.length)
    return content


def _cause(error: Exception, seconds: float) -> str:
    """Say what went wrong."""
    if isinstance(error, urllib.error.HTTPError):
        with contextlib.suppress(OSError):
            error.close()
        if 300 <= error.code < 400:
            return f"status {error.code}, a redirection; give the address that it leads to"
        return f"status {error.code} {error.reason}"
    if isinstance(error, http.client.IncompleteRead):
        return "its answer ends early"
    if isinstance(error, http.client.HTTPException):
        return f"it does not speak HTTP ({type(error).__name__})"
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, TimeoutError):
        return _late(seconds)
    return str(reason) or type(reason).__name__


def _late(seconds: float) -> str:
    return f"no answer within {seconds:g} seconds"


def _host(parts: SplitResult) -> str:
    """Return host and port, without user and password."""
    return parts.netloc.rpartition("@")[2]


def _without_secrets(text: str, parts: SplitResult) -> str:
    """Return a text, perhaps a server's own, without the secrets of the address."""
    for secret in (parts.password, unquote(parts.password or ""), parts.query, parts.fragment):
        if secret:
            text = text.replace(secret, _HIDDEN)
    return text
