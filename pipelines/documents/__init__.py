"""Document pairs, of the job ``bitext``: reading them and aligning their sentences."""
