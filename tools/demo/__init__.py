"""The main job shown on real pictures: accepted, followed, and the thumbnails saved."""
