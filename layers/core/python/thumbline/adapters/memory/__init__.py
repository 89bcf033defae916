"""In-memory twins of the adapters; the conformance suite holds them to the same behaviour."""
