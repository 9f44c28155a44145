"""A tiny classifier in fastText's binary format (version 12): one vector a word, one a label."""

import struct

import numpy as np

MAGIC, VERSION = 793712314, 12
SOFTMAX, SUPERVISED = 3, 3


def write_model(path, words, labels):
    """Write a model.

    Args:
        path: Where to.
        words: Vectors by word.
        labels: Vectors by label. A text of known words has softmax(label · mean of its words).
    """
    inputs = np.array([*words.values(), [0.0] * len(next(iter(words.values())))], np.float32)
    outputs = np.array(list(labels.values()), np.float32)
    entries = [(word, 0) for word in (*words, "</s>")] + [(label, 1) for label in labels]
    settings = (inputs.shape[1], 5, 5, 1, 5, 1, SOFTMAX, SUPERVISED, 0, 0, 0, 100)
    with path.open("wb") as file:
        file.write(struct.pack("<2i12id", MAGIC, VERSION, *settings, 1e-4))
        file.write(struct.pack("<3i2q", len(entries), len(inputs), len(labels), 100, -1))
        for name, kind in entries:
            file.write(name.encode() + b"\0" + struct.pack("<qb", 10, kind))
        for matrix in (inputs, outputs):
            file.write(b"\0" + struct.pack("<2q", *matrix.shape) + matrix.tobytes())
