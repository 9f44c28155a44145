"""Links from the attention of a translation model, read from a NumPy file.

NAIVE-ATT (Garg et al. 2019) links a target token with the source token that the step which writes
it attends to most; SHIFT-ATT (Chen et al. 2020) takes the step that has it as input, which is the
next one. Both as in Ryu et al. (2022), section 3.3.
"""

import zipfile
from pathlib import Path

import numpy as np

from transforms.choices import require_choice
from transforms.errors import InputError
from transforms.soft_links import SoftLinks

METHODS = {"naive": 0, "shift": 1}
"""By how many steps the attention of a target token is late."""


class Attention:
    """The attention matrices of a file, one for each line.

    ``.npz``: arrays ``arr_0``, ``arr_1`` and so on ``[target, source]``, as ``numpy.savez(file,
    *matrices)`` names them. ``.npy``: one array ``[line, target, source]``, padded with zeros.
    Rows are decoding steps, the last of them that of the end of the sentence; a column behind those
    of the source's tokens is the source's end, and what looks there most is linked to nothing.
    """

    def __init__(self, path: Path) -> None:
        """Open a file.

        Raises:
            InputError: It cannot be read, or does not hold such arrays.
        """
        self._path = path
        try:
            with path.open("rb") as file:
                packed = file.read(2) == b"PK"
            if packed and not zipfile.is_zipfile(path):
                raise zipfile.BadZipFile("the file is damaged or not whole")
            self._file = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(
                "bad_attention", str(path), f"expected numbers in .npz or .npy: {error}"
            ) from error
        if isinstance(self._file, np.ndarray) and self._file.ndim != 3:
            raise InputError(
                "bad_attention",
                str(path),
                f"expected an array [line, target, source], found {self._file.ndim} dimensions",
            )

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self._file)

    def links(self, line: int, source_tokens: int, target_tokens: int, method: str) -> SoftLinks:
        """Return the links of one line.

        Args:
            line: From 0.
            source_tokens: Number of tokens of the line's source.
            target_tokens: Number of tokens of its target.
            method: ``naive`` or ``shift``.

        Raises:
            ConfigError: There is no such method.
            InputError: The file has no such line, or its matrix is too small or no numbers.
        """
        require_choice("attention_method", method, METHODS)
        matrix = self._matrix(line)
        late = METHODS[method]
        rows = target_tokens + late
        if matrix.shape[0] < rows or matrix.shape[1] < source_tokens:
            raise self._error(
                line,
                f"attention {list(matrix.shape)} is too small for {target_tokens} target and "
                f"{source_tokens} source tokens; {method} needs [{rows}, {source_tokens}] or more",
            )
        part = matrix[late:rows, : source_tokens + 1]
        if not source_tokens or not target_tokens:
            return SoftLinks.certain([])
        if part.dtype.kind not in "fiu" or not np.isfinite(part).all():
            raise self._error(line, "attention holds what is no finite number")
        best = np.argmax(part, axis=1)
        return SoftLinks.certain(
            (int(source), target) for target, source in enumerate(best) if source < source_tokens
        )

    def _matrix(self, line: int) -> np.ndarray:
        if isinstance(self._file, np.ndarray):
            return self._file[line]
        try:
            matrix = self._file[f"arr_{line}"]
        except (KeyError, ValueError, zipfile.BadZipFile) as error:
            raise self._error(line, f"expected an array arr_{line} of numbers: {error}") from error
        if matrix.ndim != 2:
            raise self._error(line, f"arr_{line} has {matrix.ndim} dimensions, expected 2")
        return matrix

    def _error(self, line: int, message: str) -> InputError:
        return InputError("bad_attention", str(self._path), f"line {line + 1}: {message}")
