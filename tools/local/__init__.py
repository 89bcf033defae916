"""The whole stack on one machine: a pinned emulator, the real CDK app, a front like the gateway."""
