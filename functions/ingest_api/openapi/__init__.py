"""The API's description, built from what the handler itself uses: problem types, patterns, limits."""
