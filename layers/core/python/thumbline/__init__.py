"""Thumbline: an asynchronous image-thumbnail service. This package holds every rule of it."""
