"""Every mutant, by the part of the protocol that it damages."""

from __future__ import annotations

from tools.mutants.catalogue import adapters, attempts, deliveries, lives, recovery, services

ALL_MUTANTS = (
    *attempts.MUTANTS,
    *recovery.MUTANTS,
    *lives.MUTANTS,
    *deliveries.MUTANTS,
    *services.MUTANTS,
    *adapters.MUTANTS,
)
