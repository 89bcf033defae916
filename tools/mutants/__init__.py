"""Bugs put into the protocol one at a time, each of which a named test must find."""
