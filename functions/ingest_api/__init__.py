"""Answers clients: accepts pictures, reports jobs, points at thumbnails."""
