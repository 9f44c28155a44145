"""The encoder under Beam's `RunInference`."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import apache_beam as beam
from apache_beam.ml.inference.base import ModelHandler, ModelMetadata, RunInference

from pairweave.models.encoder.encoder_options import Hosting
from pairweave.models.encoder.hosting import shared_key
from pairweave.models.encoder.hosting.encoder_reference import EncoderReference
from pairweave.models.encoder.hosting.loaded_encoder import Alignment, LoadedEncoder
from pairweave.transforms.arrow.arrow_coder import from_stream, to_stream
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.shards.shard import Shard, Shards

shared_key.use()  # done in each process of a run, before it shares an encoder


class AlignerHandler(ModelHandler[Shard, Shard, LoadedEncoder]):
    """Loads the encoder on a worker and aligns shards with it, each a batch of its own."""

    def __init__(self, reference: EncoderReference, hosting: Hosting) -> None:
        """Keep the settings; the encoder is loaded when a worker needs it."""
        super().__init__(
            min_batch_size=1,
            max_batch_size=1,
            large_model=hosting.large_model,
            model_copies=hosting.model_copies,
        )
        self._reference = reference
        self._hosting = hosting

    def load_model(self) -> LoadedEncoder:
        """Load the encoder, on the worker."""
        return LoadedEncoder(self._reference)

    def run_inference(
        self,
        batch: Sequence[Shard],
        model: LoadedEncoder,
        inference_args: dict[str, Any] | None = None,  # noqa: ARG002 - Beam's signature
    ) -> list[Shard]:
        """Align shards; pairs that cannot be aligned move to their rejected rows.

        ``model`` is a proxy if processes share it; then tables are sent as Arrow streams, because
        anything else would be pickled.
        """
        aligned = []
        for shard in batch:
            if self.share_model_across_processes():
                stream, given_up, digest = model.align_stream(to_stream(shard.table).to_pybytes())
                alignment = Alignment(from_stream(stream), given_up, digest)
            else:
                alignment = model.align(shard.table)
            aligned.append(_with_alignment(shard, alignment))
        return aligned

    def get_num_bytes(self, batch: Sequence[Shard]) -> int:
        """Return the bytes of the shards' tables; Beam would pickle them to measure."""
        return sum(shard.nbytes for shard in batch)

    def get_metrics_namespace(self) -> str:
        """Name the metrics of this step."""
        return "pairweave"

    def get_resource_hints(self) -> dict[str, str]:
        """Request the accelerator; Beam passes this on only to the step that holds the model."""
        accelerator = self._hosting.accelerator
        return {} if accelerator is None else {"accelerator": accelerator}

    def update_model_path(self, model_path: str | None = None) -> None:
        """Load from the directory that a side input names from now on."""
        if model_path:
            config = self._reference.config.changed(model=model_path)
            self._reference = dataclasses.replace(self._reference, config=config, digest=None)


class AlignShards(beam.PTransform[Shards, Shards]):
    """Aligns the working table of every shard with an encoder that the workers hold."""

    def __init__(
        self,
        reference: EncoderReference,
        hosting: Hosting | None = None,
        metadata: beam.PCollection[ModelMetadata] | None = None,
    ) -> None:
        """Set the encoder, and how workers hold it.

        Args:
            reference: Reference to the encoder.
            hosting: How workers hold it.
            metadata: A side input that names the directory of the model in use, for a streaming
                graph; the model changes between shards. By default, the reference names the model.

        Raises:
            ConfigError: A side input names the model and processes are to share it: Beam would keep
                its own files next to the model's.
        """
        super().__init__()
        self._handler = AlignerHandler(reference, hosting or Hosting())
        self._metadata = metadata
        if metadata is not None and self._handler.share_model_across_processes():
            raise ConfigError(
                "a model that a side input names cannot be shared between processes; leave "
                "large_model and model_copies out"
            )

    def expand(self, shards: Shards) -> Shards:
        """Align each shard."""
        metadata = self._metadata
        inference = RunInference(self._handler, model_metadata_pcoll=metadata)  # type: ignore[arg-type]
        return shards | "RunInference" >> inference.with_output_types(Shard)


def _with_alignment(shard: Shard, alignment: Alignment) -> Shard:
    """Reject the failed pairs, and record which model made the links.

    Kept rows, rejected rows and working table stay in step.
    """
    aligned = shard.give_up(alignment.rejected).with_table(alignment.linked)
    return aligned.with_notes(model=alignment.digest)
