"""How good the thumbnails are, and what they cost: measured, so that settings are chosen and not guessed."""
