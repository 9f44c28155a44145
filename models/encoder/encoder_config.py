"""Settings of the neural aligner; importable without torch."""

import dataclasses
import re
from typing import Literal, get_args

from pairweave.transforms.errors import ConfigError

HeadName = Literal[
    "softmax", "entmax15", "argmax", "itermax", "match", "ot", "unbalanced_ot", "partial_ot"
]
CompareUnit = Literal["pieces", "words"]
TransportCost = Literal["cosine", "euclidean"]
TransportMass = Literal["uniform", "norm"]
Precision = Literal["fp32", "bf16", "fp16", "int8"]
LongPairs = Literal["windows", "reject"]

ACCELERATOR = r"^type:[\w.-]+;count:[1-9]\d*(;[\w.:-]+)*$"
"""Beam's way to write the accelerator that a step asks for."""

HEADS: tuple[str, ...] = get_args(HeadName)
PRECISIONS: tuple[str, ...] = get_args(Precision)
UNITS: tuple[str, ...] = get_args(CompareUnit)
TOKENS = ("given", "pieces")
LONG_PAIRS: tuple[str, ...] = get_args(LongPairs)

_DEFAULT_THRESHOLDS = {"softmax": 0.001, "ot": 0.3, "unbalanced_ot": 0.3, "partial_ot": 0.3}
_TRANSPORTS = ("ot", "unbalanced_ot", "partial_ot")
TRANSPORT_SETTINGS = {
    "cost": _TRANSPORTS,
    "mass": _TRANSPORTS,
    "regularization": _TRANSPORTS,
    "relaxation": ("unbalanced_ot",),
    "moved_mass": ("partial_ot",),
}
"""Settings of `HeadConfig` that apply only to some transports."""

_DEVICE = re.compile(r"auto|cpu|cuda(:\d+)?")


def check_number(name: str, value: object, least: float, most: float) -> None:
    """Refuse values that are not a number from ``least`` to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ConfigError(f"{name} must be a number, {least:g} to {most:g}, got {value!r}")


def check_whole(name: str, value: object, least: int, most: int) -> None:
    """Refuse values that are not a whole number from ``least`` to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ConfigError(f"{name} must be a whole number, {least} to {most}, got {value!r}")


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse values other than the choices."""
    if value not in choices:
        raise ConfigError(f"{name} must be one of {', '.join(choices)}, got {value!r}")


@dataclasses.dataclass(frozen=True, slots=True)
class HeadConfig:
    """Settings of extracting links from hidden states.

    Attributes:
        name: ``softmax`` and ``entmax15`` (Dou and Neubig 2021), ``argmax``, ``itermax`` and
            ``match`` (Jalili Sabet et al. 2020), ``ot``, ``unbalanced_ot`` and ``partial_ot``
            (Arase et al. 2023).
        threshold: A link's probability must exceed it, for ``softmax`` (0.001 in awesome-align)
            and for transport plans scaled to [0, 1] (0.3: the best of 0.1 to 0.9
            over all three transports and both gold sets of ``tests/benchmarks/README.md``; Arase
            et al. tune it for each data set). None for the head's default.
        distortion: Reduction of similarity off the diagonal, for SimAlign's heads and the
            transports (``kappa`` in Jalili Sabet et al., section 3.2).
        cost: ``cosine`` or ``euclidean``, for the transports.
        mass: ``uniform``, or ``norm``: the mass of a piece is the length of its vector.
        regularization: Weight of the entropy (0.1 in OTAlign).
        relaxation: Cost of mass that ``unbalanced_ot`` does not move (``tau``).
        moved_mass: Share of the lighter side's mass that ``partial_ot`` moves.
        max_iterations: Maximum number of scaling rounds (1000 in OTAlign).
        tolerance: Relative change of the scaling at which iteration ends.
    """

    name: str = "softmax"
    threshold: float | None = None
    distortion: float = 0.0
    cost: str = "cosine"
    mass: str = "uniform"
    regularization: float = 0.1
    relaxation: float = 0.5
    moved_mass: float = 0.8
    max_iterations: int = 1000
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        """Check every setting."""
        check_choice("head", self.name, HEADS)
        if self.threshold is not None:
            if self.name not in _DEFAULT_THRESHOLDS:
                raise ConfigError(f"head {self.name} has no threshold, got {self.threshold!r}")
            check_number("threshold", self.threshold, 0.0, 1.0)
        check_number("distortion", self.distortion, 0.0, 1.0)
        if self.distortion and self.name in ("softmax", "entmax15"):
            raise ConfigError(f"head {self.name} knows no distortion, got {self.distortion!r}")
        check_choice("cost", self.cost, get_args(TransportCost))
        check_choice("mass", self.mass, get_args(TransportMass))
        # Costs are in [0, 1]: below 0.005 the kernel exp(-1 / regularization) leaves float64.
        check_number("regularization", self.regularization, 0.005, 10.0)
        check_number("relaxation", self.relaxation, 1e-4, 1e4)
        check_number("moved_mass", self.moved_mass, 1e-3, 1.0)
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        for name, heads in TRANSPORT_SETTINGS.items():
            value = getattr(self, name)
            if self.name not in heads and value != defaults[name]:
                raise ConfigError(f"head {self.name} knows no {name}, got {value!r}")
        check_whole("max_iterations", self.max_iterations, 1, 1_000_000)
        check_number("tolerance", self.tolerance, 1e-15, 1e-2)

    @property
    def effective_threshold(self) -> float:
        """Return the threshold in use; 0 for a head without one."""
        if self.threshold is not None:
            return self.threshold
        return _DEFAULT_THRESHOLDS.get(self.name, 0.0)


@dataclasses.dataclass(frozen=True, slots=True)
class EncoderConfig:
    """Settings of an encoder.

    Attributes:
        model: A local directory, or a hub name such as
            ``google-bert/bert-base-multilingual-cased``.
        layer: Layer whose output is used: 8 is the eighth, 0 the embeddings, -8 the eighth from
            the back (-1 is the last).
        head: Settings of extracting links.
        precision: ``fp32``, ``bf16``, ``fp16`` (GPU only) or ``int8`` (CPU only: linear layers
            with weights quantised in advance and activations dynamically).
        unit: Units that are compared: ``pieces`` of the encoder, or ``words``, each the mean of
            its pieces.
        tokens: Tokens that are linked: the pairs' own (``given``), or the encoder's ``pieces``, for
            pairs without tokens.
        long_pairs: ``windows`` encodes a side over the encoder's limit in overlapping windows,
            ``reject`` rejects such pairs as ``too_long_for_encoder``.
        window_overlap: Pieces that neighbouring windows share.
        token_budget: Pieces in one batch, including padding; ``auto`` measures the device.
        device: ``auto`` (a GPU if there is one), ``cpu``, ``cuda`` or ``cuda:N``.
        revision: Branch, tag or commit of a hub model.
    """

    model: str
    layer: int = 8
    head: HeadConfig = HeadConfig()
    precision: str = "fp32"
    unit: str = "pieces"
    tokens: str = "given"
    long_pairs: str = "windows"
    window_overlap: int = 128
    token_budget: int | str = "auto"
    device: str = "auto"
    revision: str | None = None

    def __post_init__(self) -> None:
        """Check every setting."""
        if not isinstance(self.model, str) or not self.model:
            raise ConfigError(f"model must be a directory or a hub name, got {self.model!r}")
        check_whole("layer", self.layer, -200, 200)
        check_choice("precision", self.precision, PRECISIONS)
        check_choice("unit", self.unit, UNITS)
        check_choice("tokens", self.tokens, TOKENS)
        check_choice("long_pairs", self.long_pairs, LONG_PAIRS)
        check_whole("window_overlap", self.window_overlap, 0, 4096)
        if self.token_budget != "auto":
            if not isinstance(self.token_budget, int):
                raise ConfigError(
                    f"token_budget must be auto or a whole number, got {self.token_budget!r}"
                )
            check_whole("token_budget", self.token_budget, 1, 1 << 24)
        if not isinstance(self.device, str) or not _DEVICE.fullmatch(self.device):
            raise ConfigError(f"device must be auto, cpu, cuda or cuda:N, got {self.device!r}")
