"""What killed processes left in a table."""

import subprocess
import sys

from pairweave.pipelines.refresh.chain import table_lock
from pairweave.transforms.storage import disk_files

KILLED = "import sys; from pairweave.transforms.storage import disk_files; {}".format(
    "print(disk_files.write_temporary(sys.argv[1], b'half'))"
)


def test_leftovers_of_killed_processes_go_and_those_of_living_ones_stay(tmp_path):
    final = str(tmp_path / "links" / "part.parquet")
    command = [sys.executable, "-c", KILLED, final]
    subprocess.run(command, check=True, capture_output=True)
    own = disk_files.write_temporary(final, b"half")
    assert len(list(own.parent.iterdir())) == 2
    table_lock.delete_leftovers(str(tmp_path))
    assert list(own.parent.iterdir()) == [own]
