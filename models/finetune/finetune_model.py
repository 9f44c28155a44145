"""An encoder in training: all its layers, its language-model head, and inner layers' outputs."""

import dataclasses
from typing import Any, TypeAlias

import numpy as np
import torch
import transformers

from pairweave.models.encoder.encoder import Encoder, list_of_layers, load_encoder
from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.encoder_family import NO_LAST_NORM
from pairweave.models.finetune.finetune_config import FinetuneConfig
from pairweave.models.finetune.finetune_objectives import ParallelHead
from pairweave.models.weights.transformers_weights import is_no_pooler, load_model
from pairweave.models.weights.weights import ModelFiles, find_model
from pairweave.transforms.errors import ConfigError

Tensor: TypeAlias = torch.Tensor


class _Reached(BaseException):
    """Carries the output of an inner layer out of the forward pass; not an error."""

    def __init__(self, output: Tensor) -> None:
        super().__init__()
        self.output = output


class Trainee(torch.nn.Module):  # type: ignore[misc]
    """An encoder in training.

    Attributes:
        whole: The model that is saved, with a language-model head if the family has one.
        parallel_head: The head of parallel sentence identification, None if not trained.
    """

    def __init__(self, whole: Any, parallel_head: ParallelHead | None) -> None:  # noqa: ANN401
        """Keep the parts and hook the layers."""
        super().__init__()
        self.whole = whole
        self.parallel_head = parallel_head
        base = whole.base_model
        self._count = int(whole.config.num_hidden_layers)
        self._wanted: int | None = None
        self._kept: tuple[Tensor, Tensor] | None = None
        # A family without a norm after its last layer may share its layers' modules, or not keep
        # them in one list.
        self._has_list = whole.config.model_type not in NO_LAST_NORM
        if self._has_list:
            for number, layer in enumerate(list_of_layers(base, self._count), 1):
                layer.register_forward_hook(self._leave_after(number))
        base.register_forward_hook(self._keep_places)

    def hidden(self, ids: Tensor, mask: Tensor, layer: int) -> Tensor:
        """Return the output of a layer, as `models.encoder.encoder.Encoder.encode` does.

        Layers above it are skipped if the family keeps its layers in a list.

        Args:
            ids: Pieces including special pieces, padded ``[row, piece]``.
            mask: True for pieces, False for padding ``[row, piece]``.
            layer: Number of the layer, from 1 at the input.

        Returns:
            Vectors ``[row, piece, hidden]``.
        """
        if not self._has_list:
            output = self.whole.base_model(
                input_ids=ids, attention_mask=mask, output_hidden_states=True
            )
            return output.hidden_states[layer]
        if layer < self._count:
            self._wanted = layer
            try:
                self.whole.base_model(input_ids=ids, attention_mask=mask)
            except _Reached as reached:
                return reached.output
            finally:
                self._wanted = None
        return self.whole.base_model(input_ids=ids, attention_mask=mask).last_hidden_state

    def vocabulary_scores(self, ids: Tensor, mask: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        """Return the scores of the vocabulary at the given positions.

        The head computes these positions only: the product with the vocabulary is the most
        expensive operation of the model.

        Args:
            ids: Pieces including special pieces, padded ``[row, piece]``.
            mask: True for pieces, False for padding ``[row, piece]``.
            rows: Row of each position ``[position]``.
            columns: Column of each position ``[position]``.

        Returns:
            Scores ``[position, vocabulary]``.
        """
        self._kept = rows, columns
        try:
            return self.whole(input_ids=ids, attention_mask=mask).logits[0]
        finally:
            self._kept = None

    def _leave_after(self, number: int) -> Any:  # noqa: ANN401 - a hook
        def hook(module: Any, inputs: Any, output: Any) -> None:  # noqa: ANN401, ARG001
            if self._wanted == number:
                raise _Reached(output[0] if isinstance(output, tuple) else output)

        return hook

    def _keep_places(self, module: Any, inputs: Any, output: Any) -> Any:  # noqa: ANN401, ARG002
        if self._kept is not None:
            output.last_hidden_state = output.last_hidden_state[self._kept][None]
        return output


@dataclasses.dataclass(frozen=True)
class Loaded:
    """The parts that training starts from.

    Attributes:
        encoder: Tokenizer, special pieces and limits; its truncated model is dropped.
        trainee: The model to train, in fp32, on the device.
        files: The encoder's files.
        mask: The mask piece, None if no language model is trained.
    """

    encoder: Encoder
    trainee: Trainee
    files: ModelFiles
    mask: int | None


def load_trainee(model: str, revision: str | None, config: FinetuneConfig) -> Loaded:
    """Load an encoder with all its layers; new heads are initialized from the seed.

    Raises:
        ConfigError: See `models.encoder.encoder.load_encoder`; or the model lacks a part that an
            objective needs.
    """
    encoder = load_encoder(
        EncoderConfig(model=model, layer=config.layer, device=config.device, revision=revision)
    )
    encoder = dataclasses.replace(encoder, model=None)
    if encoder.layer < 1:
        raise ConfigError(
            f"layer {config.layer}: the embeddings alone cannot be tuned; choose 1 or higher"
        )
    files = find_model(model, revision)
    guesses = bool({"mlm", "tlm"} & set(config.objectives))
    mask = _mask_piece(files, model) if guesses else None
    if "psi" in config.objectives and not len(encoder.prefix):
        raise ConfigError(
            f"{model}: objective psi reads the special piece before a text, but this model's "
            "tokenizer adds none; leave psi out"
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        whole = _load_whole(files, guesses=guesses)
        spread = float(getattr(whole.config, "initializer_range", 0.02))
        head = ParallelHead(encoder.hidden_size, spread) if "psi" in config.objectives else None
    return Loaded(encoder, Trainee(whole, head).to(encoder.device), files, mask)


def _mask_piece(files: ModelFiles, model: str) -> int:
    tokenizer = transformers.AutoTokenizer.from_pretrained(
        files.directory, trust_remote_code=False, local_files_only=True
    )
    if tokenizer.mask_token_id is None:
        raise ConfigError(
            f"{model}: objectives mlm and tlm need a mask token, but this model's tokenizer has "
            "none; leave them out"
        )
    return int(tokenizer.mask_token_id)


def _load_whole(files: ModelFiles, *, guesses: bool) -> Any:  # noqa: ANN401
    """Load the model with its language-model head, or with a new one tied to the embeddings."""
    config = transformers.AutoConfig.from_pretrained(
        files.directory, trust_remote_code=False, local_files_only=True
    )
    known = type(config) in transformers.MODEL_FOR_MASKED_LM_MAPPING
    if guesses and not known:
        raise ConfigError(
            f"{files.directory}: transformers has no masked language model for "
            f"{config.model_type}; leave the objectives mlm and tlm out"
        )
    if not known:
        return load_model(transformers.AutoModel, files.directory, torch.float32, is_no_pooler)
    prefix = f"{transformers.MODEL_FOR_MASKED_LM_MAPPING[type(config)].base_model_prefix}."
    return load_model(
        transformers.AutoModelForMaskedLM,
        files.directory,
        torch.float32,
        lambda name: name.startswith(prefix) and is_no_pooler(name.removeprefix(prefix)),
    )


def pad_rows(
    ids: np.ndarray, offsets: np.ndarray, members: np.ndarray, encoder: Encoder
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Add special pieces to the selected rows and pad them.

    Args:
        ids: Pieces ``[piece]``.
        offsets: Offsets of the rows' pieces ``[row + 1]``.
        members: The selected rows.
        encoder: Supplies the special pieces and the padding.

    Returns:
        Pieces ``[member, column]``; the mask, True for pieces ``[member, column]``; and each
        piece's index in ``ids``, -1 for special pieces and padding ``[member, column]``.
    """
    before, after = len(encoder.prefix), len(encoder.suffix)
    lengths = np.diff(offsets)[members]
    ends = (lengths + before + after)[:, None]
    width = int(-(-ends.max() // encoder.multiple) * encoder.multiple)
    columns = np.arange(width)
    inside = (columns >= before) & (columns < ends - after)
    places = np.where(inside, offsets[:-1][members][:, None] + columns - before, -1)
    padded = np.where(inside, ids[np.where(inside, places, 0)], encoder.padding)
    padded[:, :before] = encoder.prefix
    for place, special in enumerate(encoder.suffix):
        np.put_along_axis(padded, ends - after + place, special, axis=1)
    return padded.astype(np.int64), columns < ends, places
