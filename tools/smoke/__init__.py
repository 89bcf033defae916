"""The main job on a deployed stage, with the caller's credentials or a bearer token."""
