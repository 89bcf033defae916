"""Many pictures from many clients at once, with workers killed meanwhile: nothing accepted may be lost."""
