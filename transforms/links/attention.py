"""Links from the attention of a translation model, read from a NumPy file.

NAIVE-ATT (Garg et al. 2019) links a target token with the source token that gets the most attention
in the step that writes it; SHIFT-ATT (Chen et al. 2020) takes the step that has the token as input,
which is the next one. Both follow Ryu et al. (2022), section 3.3. The heads of a layer are
averaged, as in their table 3, unless one head is chosen.
"""

import zipfile
from pathlib import Path

import numpy as np

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.links.soft_links import SoftLinks
from pairweave.transforms.option_values import require_choice

METHODS = {"naive": 0, "shift": 1}
"""The number of steps by which the attention of a target token is delayed."""


class Attention:
    """The attention in a file: for each line a matrix, or a matrix for each layer and head.

    ``.npz``: arrays ``arr_0``, ``arr_1`` and so on, as ``numpy.savez(file, *arrays)`` names them,
    each ``[target, source]``, ``[head, target, source]`` or ``[layer, head, target, source]``.
    ``.npy``: one array with an axis for the lines before these, padded with zeros. Rows are
    decoding steps; the last one is that of the end of the sentence. A column after those of the
    source's tokens is the end of the source; a token that attends to it most is linked to nothing.
    """

    def __init__(self, path: Path, layer: int | None = None, head: int | None = None) -> None:
        """Open a file.

        Args:
            path: The file.
            layer: Layer from 0, from the end if negative; None if there is only one.
            head: Head of the layer, counted in the same way; None for the mean over its heads.

        Raises:
            InputError: The file cannot be read, or does not hold such arrays.
        """
        self._path = path
        self._layer = layer
        self._head = head
        try:
            with path.open("rb") as file:
                start = file.read(6)
            if not start.startswith((b"PK", b"\x93NUMPY")):
                raise ValueError("the file is neither")
            if start.startswith(b"PK") and not zipfile.is_zipfile(path):
                raise zipfile.BadZipFile("the file is damaged or not whole")
            self._file = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(
                "bad_attention", str(path), f"expected numbers in .npz or .npy: {error}"
            ) from error
        if isinstance(self._file, np.ndarray) and self._file.ndim not in (3, 4, 5):
            raise InputError(
                "bad_attention",
                str(path),
                "expected an array [line, target, source], optionally with [head] or [layer, "
                f"head] after the line; found {self._file.ndim} dimensions",
            )

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self._file)

    def layers_and_heads(self) -> tuple[int | None, int | None]:
        """Return the first line's numbers of layers and heads; None for an axis that is missing.

        Raises:
            InputError: The first line is not such an array.
        """
        if not len(self):
            return None, None
        front = self._array(0).shape[:-2]
        heads = front[-1] if front else None
        return (front[0] if len(front) == 2 else None), heads

    def check(self) -> None:
        """Check that the file has the layer and the head, and that a layer is chosen if necessary.

        Raises:
            ConfigError: It lacks one of them, or none is chosen; says which layers and heads there
                are.
            InputError: See `layers_and_heads`.
        """
        if not len(self):
            return
        for name, wanted, existing in zip(
            ("layer", "head"),
            (self._layer, self._head),
            self.layers_and_heads(),
            strict=True,
        ):
            if wanted is None and name == "layer" and existing is not None and existing > 1:
                raise ConfigError(
                    f"{self._path}: has attention of {existing} layers; choose one, 0 to "
                    f"{existing - 1}, with --attention_layer, or in evaluate aligners with layer=N "
                    "or layer=all"
                )
            if wanted is not None and existing is None:
                raise ConfigError(
                    f"attention {name} {wanted}: {self._path} has no {name}s to choose from; "
                    f"its arrays have the shape {list(self._array(0).shape)}"
                )
            if wanted is not None and existing is not None and not -existing <= wanted < existing:
                raise ConfigError(
                    f"attention {name} {wanted}: {self._path} has {existing} {name}s, numbered "
                    f"from 0 to {existing - 1}"
                )

    def links(self, line: int, source_tokens: int, target_tokens: int, method: str) -> SoftLinks:
        """Return the links of one line.

        Args:
            line: The line, from 0.
            source_tokens: Number of tokens of the line's source.
            target_tokens: Number of tokens of its target.
            method: ``naive`` or ``shift``.

        Raises:
            ConfigError: There is no such method.
            InputError: The file has no such line, layer or head, or its matrix is too small or not
                numeric.
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
            raise self._error(line, "attention contains a value that is not a finite number")
        best = np.argmax(part, axis=1)
        return SoftLinks.certain(
            (int(source), target) for target, source in enumerate(best) if source < source_tokens
        )

    def _matrix(self, line: int) -> np.ndarray:
        """Return the matrix of the chosen layer and head, or the mean over its heads."""
        array = self._array(line)
        if array.ndim == 4:
            array = self._take(line, array, "layer", self._layer)
        if array.ndim == 2:
            return array
        if self._head is not None:
            return self._take(line, array, "head", self._head)
        if array.dtype.kind not in "fiu":
            raise self._error(line, "attention contains a value that is not a finite number")
        return np.asarray(np.mean(array, axis=0, dtype=np.float64))

    def _take(self, line: int, array: np.ndarray, axis: str, number: int | None) -> np.ndarray:
        if number is None and len(array) == 1:
            number = 0
        if number is None or not -len(array) <= number < len(array):
            raise self._error(line, f"there are {len(array)} {axis}s, no {axis} {number}")
        return array[number]

    def _array(self, line: int) -> np.ndarray:
        if isinstance(self._file, np.ndarray):
            return self._file[line]
        try:
            array = self._file[f"arr_{line}"]
        except (KeyError, ValueError, zipfile.BadZipFile) as error:
            raise self._error(line, f"expected an array arr_{line} of numbers: {error}") from error
        if not isinstance(array, np.ndarray):
            raise self._error(line, f"expected an array arr_{line} of numbers: it is no .npy file")
        if array.ndim not in (2, 3, 4):
            raise self._error(line, f"arr_{line} has {array.ndim} dimensions, expected 2, 3 or 4")
        return array

    def _error(self, line: int, message: str) -> InputError:
        return InputError("bad_attention", str(self._path), f"line {line + 1}: {message}")
