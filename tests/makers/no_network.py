"""The command line as a program that the kernel gives no Internet socket.

python -m tests.makers.no_network NOTES ARGUMENTS... adds to the file NOTES what its Python code
tries all the same, also in processes forked from it.
"""

import ctypes
import errno
import os
import platform
import runpy
import socket
import struct
import sys

FAMILIES = (socket.AF_INET, socket.AF_INET6)
NAMES = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.bind")

# linux/audit.h, and the number of socket(2) on each kind of machine.
_CALLS = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}

_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06  # linux/bpf_common.h
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # linux/seccomp.h: struct seccomp_data
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2  # linux/prctl.h


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def forbid():
    """Make every later call for an Internet socket fail, in this process and those it starts.

    Raises:
        OSError: The system does not allow a filter.
    """
    architecture, call = _CALLS[platform.machine()]
    steps = (
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 0, 5, architecture),
        (_LOAD, 0, 0, _NUMBER),
        (_EQUAL, 0, 3, call),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 2, 0, FAMILIES[0]),
        (_EQUAL, 1, 0, FAMILIES[1]),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _FAIL | errno.EACCES),
    )
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    program = _Program(len(steps), code)
    libc = ctypes.CDLL(None, use_errno=True)
    for words in ((_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (_SECCOMP, _FILTER, ctypes.byref(program))):
        if libc.prctl(*words):
            raise OSError(ctypes.get_errno(), "no filter for system calls")


def note_attempts(path):
    """Add a line to a file whenever Python code looks a host up or connects to one."""
    notes = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.set_inheritable(notes, True)

    def hear(event, arguments):
        opens = event == "socket.__new__" and arguments[1] in FAMILIES
        if opens or (event in NAMES and not _is_unix(arguments)):
            caller = sys._getframe(2 if opens else 1).f_code
            os.write(notes, f"{event} in {caller.co_name}, {caller.co_filename}\n".encode())

    sys.addaudithook(hear)


def _is_unix(arguments):
    return isinstance(arguments[0], socket.socket) and arguments[0].family == socket.AF_UNIX


if __name__ == "__main__":
    forbid()
    note_attempts(sys.argv.pop(1))
    runpy.run_module("pairweave.pipelines.cli", run_name="__main__")
