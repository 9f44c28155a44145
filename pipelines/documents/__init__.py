"""Reading the document pairs of the job ``bitext``, and aligning their sentences."""
