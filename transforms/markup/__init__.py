"""Text with inline markup: its elements, which of them are the same in a pair, and their tags."""
