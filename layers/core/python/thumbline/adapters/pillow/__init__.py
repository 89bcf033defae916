"""The renderer on Pillow: `subprocess_renderer` is the parent's half, `child` the limited process's half.

Only the child imports PIL, and only the child ever parses an original.
"""
