"""Text: tokens, words, code points, and the pieces of subword models."""
