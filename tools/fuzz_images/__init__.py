"""Damaged pictures against the renderer: it may refuse them, it may not fall."""
