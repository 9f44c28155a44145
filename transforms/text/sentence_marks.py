"""Marks beyond ASCII that end or divide sentences, the same for tags, projection and rules."""

FULL_STOPS = (
    "\u3002\uff0e\uff61"  # Chinese and Japanese
    "\u0964\u06d4\u0589"  # Devanagari, Urdu, Armenian
    "\u104b\u1362\u17d4\u17d5"  # Burmese, Ethiopic, Khmer
)
QUESTIONS = "\uff1f\u061f\u1367"  # full-width, Arabic, Ethiopic
EXCLAMATIONS = "\uff01"
COMMAS = "\uff0c\u3001\uff64\u060c\u104a\u1363"  # Chinese and Japanese, Arabic, Burmese, Ethiopic
SEMICOLONS = "\uff1b\u061b\u1364"  # full-width, Arabic, Ethiopic
COLONS = "\uff1a\u1365"  # full-width, Ethiopic
