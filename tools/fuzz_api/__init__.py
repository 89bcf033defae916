"""Schemathesis against the local stack, from the committed description alone."""
