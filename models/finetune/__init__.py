"""Fine-tuning an encoder on pairs."""
