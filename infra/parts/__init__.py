"""The stack's parts, one construct a file."""
