"""Every file of a folder through the real HTTP path, and what became of it, for people and programs."""
