"""Who owns which attempt, and what others may do to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from thumbline.domain.row import Row
from tools.chaos.row_rules import Finding, is_claim, of_release
from tools.chaos.scheduler import Process, Scheduler

_HELD = ("status", "fencing_token", "attempts", "lease_expires_at")


@dataclass(slots=True)
class Ownership:
    scheduler: Scheduler
    _owners: dict[tuple[str, int], Process | None] = field(default_factory=dict)
    """Who claimed a job under a token."""

    def on_change(self, job_id: str, old: Row, new: Row) -> Iterator[Finding]:
        if is_claim(old, new):
            self._owners[job_id, new["fencing_token"]] = self.scheduler.process
        if old["status"] == "RUNNING" and "deleted_at" not in new:
            yield from self._of_attempt(job_id, old, new)

    def _of_attempt(self, job_id: str, old: Row, new: Row) -> Iterator[Finding]:
        """What happens to a RUNNING row: by its owner, or after its lease. A later check is no matter."""
        if all(old.get(name) == new.get(name) for name in _HELD):
            return
        token = old["fencing_token"]
        owner = self._owners.get((job_id, token))
        if owner is not None and owner is self.scheduler.process and not is_claim(old, new):
            if new["status"] == "QUEUED":
                yield from of_release(old, new)
            return
        truly_ends_at = old["lease_expires_at"] - (0 if owner is None else owner.clock_offset_ms)
        if truly_ends_at >= self.scheduler.now:
            yield "I7", f"its live attempt {token} was taken away"
        elif owner is not None and owner.is_well(self.scheduler.now):
            yield "I4", f"the lease of attempt {token} ran out while its worker was well"
        extended = new["status"] == "RUNNING" and new["fencing_token"] == token
        if extended or new["status"] == "SUCCEEDED":
            yield "I4", f"a stranger wrote under token {token}"
        if new["status"] == "QUEUED" and new["attempts"] != old["attempts"]:
            yield "I5", "a rescue changed its attempts"
