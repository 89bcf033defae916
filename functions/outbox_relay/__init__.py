"""Publishes what the jobs table's stream says is owed."""
