"""The reconciler: one idempotent pass that closes the gaps which no broker can."""
