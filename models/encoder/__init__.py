"""The neural word aligner: settings, encoders, their pieces and batches, alignment heads."""
