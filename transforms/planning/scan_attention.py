"""One pass over a file of attention: its digest and how many lines it has."""

from pairweave.transforms.errors import InputError
from pairweave.transforms.links.attention import Attention
from pairweave.transforms.reading.scan import Digests, Scan, ScanRequest, stored_file
from pairweave.transforms.storage import files


def scan_attention(file: ScanRequest) -> Scan:
    """Pass over a file of attention; it is no unit's own, each unit reads lines of it.

    Raises:
        InputError: ``unreadable`` or ``bad_attention``.
    """
    if files.is_uri(file.path):
        raise InputError(
            "unreadable", file.name, "attention is read at places of a local file; copy it"
        )
    digests = Digests()
    for _ in digests.pass_on(stored_file(file.path, file.name)):
        pass
    return digests.scan(len(Attention(files.on_disk(file.path))))
