"""The programs of engines, Prism and Flink's job server: where they are on this machine."""

import mmap
import re
import shutil
from pathlib import Path

from pairweave.pipelines.engines.flink import job_server
from pairweave.transforms.errors import ConfigError

CHECKOUT = Path(__file__).resolve().parents[2]
JAR = Path("deploy", "flink", "target", "pairweave-flink-job-server.jar")
JAR_INSTALL = f"`{job_server.INSTALL}` (`make flink` in a checkout)"
PRISM = Path(".tools", "prism")
PRISM_INSTALL = (
    "GOBIN=$PWD/.tools go install github.com/apache/beam/sdks/v2/go/cmd/prism@v2.77.0 "
    "(`make prism` in a checkout)"
)


def require_job_server(location: str | None = None, option: str = "") -> str:
    """Return the job server's jar: the given path or URI, or the one that was built.

    Args:
        location: The given path or URI.
        option: The option that gives it, for the message; "" for a command without one.

    Raises:
        ConfigError: The jar is missing.
    """
    jar = location or str(find_job_server())
    if not re.match(r"\w+://", jar) and not Path(jar).is_file():
        other = f", or give {option}" if option else ""
        raise ConfigError(f"engine flink: no job server at {jar}; run {JAR_INSTALL}{other}")
    return jar


def find_job_server() -> Path:
    """Return the path of the job server's jar: the checkout's, or else the installed one's."""
    built = CHECKOUT / JAR
    return built if built.is_file() else job_server.installed_jar()


def find_prism() -> Path | None:
    """Return Beam's prism program: the checkout's, or else the one on `PATH`; None without one."""
    on_path = shutil.which("prism")
    for candidate in (CHECKOUT / PRISM, on_path and Path(on_path)):
        if candidate and candidate.is_file() and _is_beam_prism(candidate):
            return candidate
    return None


def _is_beam_prism(path: Path) -> bool:
    """Tell whether a program is Beam's prism and not another program of that name."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(b"apache/beam/sdks") >= 0
