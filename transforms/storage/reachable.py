"""Checks within seconds that a server listens at an address, before a client's long retries."""

import errno
import socket
import time
import urllib.parse
import urllib.request

from pairweave.transforms.errors import ConfigError

ATTEMPTS = 2
"""Number of attempts to connect, so that one lost packet is not an error."""

SECONDS = 5.0
"""Time limit of each attempt, in seconds."""


def reach(host: str, port: int) -> str | None:
    """Return why a host and port cannot be reached; None if a server listens there."""
    fault: OSError | None = None
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(0.5)
        try:
            socket.create_connection((host, port), SECONDS).close()
        except TimeoutError:
            return f"it does not answer within {SECONDS:.0f} s"
        except socket.gaierror:
            return f"the host {host} is not known"
        except (OSError, OverflowError) as error:
            fault = error if isinstance(error, OSError) else OSError(errno.EINVAL, "no such port")
        else:
            return None
    return (fault.strerror or str(fault)) if fault else None


def require(store: str, url: str) -> None:
    """Check that the server of a store can be reached, unless there is a proxy in between.

    Args:
        store: The name of the store.
        url: The address that the store's client uses.

    Raises:
        ConfigError: The address is not one.
        OSError: Nothing listens there; says where.
    """
    scheme, host, port = split(store, url)
    proxies = urllib.request.getproxies()
    if scheme in proxies and not urllib.request.proxy_bypass(host):
        return
    fault = reach(host, port or (80 if scheme == "http" else 443))
    if fault:
        reason = f"{store} at {url} cannot be reached: {fault}"
        raise OSError(errno.EIO, reason, url)


def split(store: str, url: str) -> tuple[str, str, int | None]:
    """Return the scheme, the host and the port of an address; the host is "" if it has none.

    Raises:
        ConfigError: It is not an address.
    """
    try:
        address = urllib.parse.urlsplit(url if "://" in url else f"http://{url}")
        return address.scheme, address.hostname or "", address.port
    except ValueError as error:
        raise ConfigError(f"{store} at {url}: not an address of a server: {error}") from error
