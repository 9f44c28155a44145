"""One pass over a file of attention: its digest and number of lines."""

from pairweave.transforms.errors import InputError
from pairweave.transforms.links.attention import Attention
from pairweave.transforms.reading.scan import Digests, Scan, ScanRequest, stored_file
from pairweave.transforms.storage import files


def scan_attention(file: ScanRequest) -> Scan:
    """Scan a file of attention; units share it, and each reads some of its lines.

    Raises:
        InputError: ``unreadable`` or ``bad_attention``.
    """
    if files.is_uri(file.path):
        raise InputError(
            "unreadable", file.name, "attention needs random access to a local file; copy it"
        )
    digests = Digests()
    for _ in digests.pass_on(stored_file(file.path, file.name)):
        pass
    return digests.scan(len(Attention(files.on_disk(file.path))))
