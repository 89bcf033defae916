"""What is deployed: stage settings, the numbers and their proofs, the stack and its parts."""

import os

# jsii prints a banner on Node releases that it no longer tests; we test ours. Read when aws_cdk is imported.
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20,22")
os.environ.setdefault("JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION", "1")
os.environ.setdefault("JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION", "1")
