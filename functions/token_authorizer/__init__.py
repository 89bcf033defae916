"""Tells API Gateway whose a bearer token is."""
