"""The use cases, one a file, as plain functions over ports."""
