"""Marks beyond ASCII that end sentences, the same for tags and for the rules of `filter`."""

FULL_STOPS = (
    "\u3002\uff0e\uff61"  # Chinese and Japanese
    "\u0964\u06d4\u0589"  # Devanagari, Urdu, Armenian
    "\u104b\u1362\u17d4\u17d5"  # Burmese, Ethiopic, Khmer
)
QUESTIONS = "\uff1f\u061f\u1367"  # full-width, Arabic, Ethiopic
EXCLAMATIONS = "\uff01"
