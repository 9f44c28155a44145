"""Text with inline markup: elements, their matches within a pair, and their tags."""
