"""The whole stack on one machine: a pinned emulator, the real CDK app, and a front that models the gateway."""
