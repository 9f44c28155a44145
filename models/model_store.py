"""References to models, which are sent to workers, and the models that a process has loaded.

A model is a fitted aligner, a program, an encoder, a translator, counts or a map. When a job is
planned, its models are located, which gives references with their digests; workers load each model
once per process. Each kind of model has a class of references and a `ModelStore`, and defines how
to find and read such a model.
"""

import contextlib
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from pairweave.transforms.errors import ConfigError


class ModelReference:
    """The location of a model and its required digest: small, hashable, sent to workers.

    This is a class, not a protocol, because Beam checks arguments of steps against annotations.
    """

    if TYPE_CHECKING:

        @property
        def digest(self) -> str | None:
            """Return the digest that the loaded model must have; None where it may change."""

    def with_threads(self, threads: int) -> Self:  # noqa: ARG002 - some kinds use it
        """Return a reference to the same model that processes a number of batches at once."""
        return self


Reference = TypeVar("Reference", bound=ModelReference)
Model = TypeVar("Model")
Value = TypeVar("Value")


class LoadedOnce(dict[Hashable, Value], Generic[Value]):
    """Objects that a process has loaded, by digest or another key that identifies their bytes.

    Attributes:
        lock: Held during loading, so that threads do not load an object twice.
    """

    def __init__(self, loaded: dict[Hashable, Value] | None = None) -> None:
        """Begin with the objects that are already loaded."""
        super().__init__(loaded or {})
        self.lock = threading.RLock()

    def load(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the object with a key; make it first if it is missing."""
        with self.lock:
            if key not in self:
                self[key] = make()
            return self[key]


class ModelStore(Generic[Reference, Model]):
    """The models of one kind that a process has loaded, each once.

    Attributes:
        held: The models, by the digest of their references.
    """

    def __init__(
        self,
        read: Callable[[Reference], tuple[Model, str | None]],
        changed: Callable[[Reference], str],
    ) -> None:
        """Set how a model is loaded.

        Args:
            read: Loads a model; returns it with its digest, None where it may change.
            changed: Returns the message for a model that is not the planned one: its name, possible
                causes, and what to do.
        """
        self._read = read
        self._changed = changed
        self.held: LoadedOnce[Model] = LoadedOnce()

    def load(self, reference: Reference) -> Model:
        """Return a model, loaded once per process regardless of its directory and threads.

        Raises:
            ConfigError: It cannot be loaded, or is not the one that the run was planned with.
        """
        return self.held.load(reference.digest or reference, lambda: self.open(reference))

    def open(self, reference: Reference) -> Model:
        """Load a model that the caller keeps; raises the errors of `load`."""
        model, digest = self._read(reference)
        self.check(reference, digest)
        return model

    def check(self, reference: Reference, digest: str | None) -> None:
        """Check that a model is the one that the run was planned with.

        Raises:
            ConfigError: It is a different one.
        """
        if reference.digest is not None and digest != reference.digest:
            raise ConfigError(self._changed(reference))

    @contextlib.contextmanager
    def use(self, reference: Reference) -> Iterator[Model]:
        """Yield a model that serves one caller at a time; raises the errors of `load`."""
        with self.held.lock:
            yield self.load(reference)
