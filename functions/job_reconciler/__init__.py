"""Closes, each minute, the gaps that no broker can."""
