"""The main job on a deployed stage, with the caller's credentials."""
