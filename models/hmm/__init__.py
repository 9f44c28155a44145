"""The statistical word aligner, its files and its phrase table."""
