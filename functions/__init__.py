"""The deployed functions: each handler parses, calls one use case and shapes the answer."""
