"""One pass over a file of attention: its digest and how many lines it has."""

from pairweave.transforms.errors import InputError
from pairweave.transforms.links.attention import Attention
from pairweave.transforms.planning.scan import Digests, Scan, stored_file
from pairweave.transforms.storage import files


def scan_attention(path: str, name: str) -> Scan:
    """Pass over a file of attention; it is no unit's own, each unit reads lines of it.

    Raises:
        InputError: ``unreadable`` or ``bad_attention``.
    """
    if files.is_uri(path):
        raise InputError("unreadable", name, "attention is read at places of a local file; copy it")
    digests = Digests()
    for _ in digests.pass_on(stored_file(path, name)):
        pass
    rows = len(Attention(files.on_disk(path)))
    return Scan(
        digests.size, digests.sha256.hexdigest(), rows, digests.cut(rows), digests.whole.hexdigest()
    )
