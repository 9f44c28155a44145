"""Text with inline markup: its elements, which of them match within a pair, and their tags."""
