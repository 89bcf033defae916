"""Putting a stage into an AWS account, and taking it away again."""
