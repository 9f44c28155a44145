"""Directories that take seconds to make, made once in a run of the tests and read by all of it."""

import fcntl
import shutil


def made_once(factory, name, make):
    """Return a directory that the first caller makes, in whichever process of the tests it is.

    The processes of a run share the parent of their temporary directories. Where tests of a module
    run in several of them, or turn by turn with others, its fixtures are set up each time.

    Args:
        factory: The fixture `tmp_path_factory`.
        name: Of the directory, unlike all others.
        make: Called with the empty directory. Nothing changes it afterwards.
    """
    base = factory.getbasetemp()
    parent = base.parent if base.name.startswith("popen-") else base  # as xdist names them
    directory, whole = parent / name, parent / f"{name}.whole"
    with (parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir()
            make(directory)
            whole.touch()
    return directory
