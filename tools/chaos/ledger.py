"""Watches every write and holds it against the invariants; counts what the run reports.

The invariants are numbered as in docs/chaos.md. A violation is a sentence with the virtual second in it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from thumbline.adapters.memory.jobs import MemoryTables, StreamRecord
from thumbline.adapters.memory.objects import MemoryObjects, StoredObject
from thumbline.adapters.memory.queue import MemoryQueue
from thumbline.adapters.memory.stream_mapping import MemoryStreamMapping
from thumbline.domain.dead_letters import DeadLetter
from thumbline.domain.keys import created_at_of, original_key
from thumbline.domain.messages import BadMessageError, parse_request
from thumbline.domain.row import Row
from thumbline.domain.schema import JOBS_KEY, ORIGINALS_PREFIX, THUMBNAILS_PREFIX
from thumbline.domain.timings import Timings
from tools.chaos.scheduler import Process, Scheduler

_OPEN = ("QUEUED", "RUNNING")
_DAY_MS = 86_400_000


class Ledger:
    def __init__(self, scheduler: Scheduler, timings: Timings) -> None:
        self._scheduler = scheduler
        self._timings = timings
        self._born_at = scheduler.now
        self._owners: dict[tuple[str, int], Process | None] = {}
        """Who claimed a job under a token."""
        self.violations: list[str] = []
        self.answered: dict[str, tuple[str, str]] = {}
        """Each 202: its job's id, to the owner and the key it was answered to."""
        self.status: dict[str, str] = {}
        """The last status of every row that ever was, also of rows that are gone."""
        self.deleted: set[str] = set()
        self.purged: set[str] = set()
        self.exhausted: set[tuple[str, int]] = set()
        """Job and generation."""
        self.copied: set[tuple[str, int]] = set()
        """Job and generation of every dead-letter copy that was seen."""
        self.settled_at = 0
        """When the last open job became terminal."""
        self.deleted_by_clients = 0
        self.counts: Counter[str] = Counter()

    def watch(
        self,
        tables: MemoryTables,
        objects: MemoryObjects,
        queues: Sequence[MemoryQueue],
        mappings: Sequence[MemoryStreamMapping],
    ) -> None:
        self._tables = tables
        self._objects = objects
        self._work_queue, self._undelivered, self._dead_letters, self._relay_failures = queues
        self._mappings = mappings

    def violate(self, invariant: str, sentence: str) -> None:
        seconds = (self._scheduler.now - self._born_at) / 1000
        self.violations.append(f"{invariant} at {seconds:.3f} s: {sentence}")

    def on_row(self, record: StreamRecord) -> None:
        old, new = record.old, record.new
        job_id = (new or old or {})[JOBS_KEY]
        if new is None:
            self._on_purge(job_id, old or {})
            return
        self.status[job_id] = new["status"]
        if "deleted_at" in new:
            self.deleted.add(job_id)
        if old is not None:
            self._on_change(job_id, old, new)
        if new["status"] not in _OPEN:
            if old is not None and old["status"] in _OPEN:
                self.settled_at = self._scheduler.now
            if new["status"] == "FAILED" and new["failure"]["code"] == "attempts_exhausted":
                self.exhausted.add((job_id, new["generation"]))

    def on_object(self, key: str, stored: StoredObject | None) -> None:
        if stored is None:
            self._on_removal(key)
            return
        if not key.startswith(THUMBNAILS_PREFIX):
            return
        row = self._tables.rows.get(key.split("/")[1])
        if row is not None and row["status"] == "SUCCEEDED":
            digests = [result["sha256"] for result in row["results"].values() if result["key"] == key]
            if digests and digests != [hashlib.sha256(stored.data).hexdigest()]:
                self.violate("I13", f"{key} changed after its row pointed at it")

    def on_ack(self, body: str, receipt_handle: str) -> None:
        """Just before an acknowledgement of the work queue."""
        try:
            job_id = parse_request(body).job_id
        except BadMessageError:
            return  # an extra message of ours; its job has another
        row = self._tables.rows.get(job_id)
        if row is None or row["status"] not in _OPEN:
            return
        if not self._is_owed(job_id, except_handle=receipt_handle):
            self.violate("I10", f"the last message of open job {job_id} was acknowledged")

    def on_answer(self, job_id: str, owner: str, key: str) -> None:
        """A 202."""
        self.answered[job_id] = (owner, key)
        if job_id not in self.status:
            self.violate("I1", f"202 for {job_id}, which has no row")

    def on_copy(self, letter: DeadLetter) -> None:
        """A copy as an operator finds it."""
        if letter.code != "attempts_exhausted" or letter.job_id is None or letter.generation is None:
            return
        self.copied.add((letter.job_id, letter.generation))
        if (letter.job_id, letter.generation) not in self.exhausted:
            self.violate("I9", f"a copy of {letter.job_id} exists, which is not exhausted")

    def _on_purge(self, job_id: str, old: Row) -> None:
        self.purged.add(job_id)
        if "deleted_at" not in old:
            self.violate("I2", f"the row of {job_id} went without a tombstone")

    def _on_change(self, job_id: str, old: Row, new: Row) -> None:
        if new["fencing_token"] < old["fencing_token"]:
            self.violate("I5", f"the token of {job_id} fell")
        if new["attempts"] > self._timings.attempt_cap:
            self.violate("I5", f"{job_id} has {new['attempts']} attempts")
        if "deleted_at" in old:
            self.violate("I2", f"deleted job {job_id} changed")
        elif old["status"] not in _OPEN:
            self._on_terminal_change(job_id, old, new)
        if new["status"] == "RUNNING" and new["fencing_token"] > old["fencing_token"]:
            self._on_claim(job_id, old, new)
        if old["status"] == "RUNNING" and "deleted_at" not in new:
            self._on_leaving_attempt(job_id, old, new)
        if new["status"] == "SUCCEEDED" and old["status"] != "SUCCEEDED":
            self._check_objects(job_id, new)

    def _on_terminal_change(self, job_id: str, old: Row, new: Row) -> None:
        redriven = new["generation"] == old["generation"] + 1 and old["status"] == "FAILED"
        audited = len(new.get("trace", [])) == len(old.get("trace", [])) + 1
        owed_again = new["status"] == old["status"] and new["outbox_seq"] == old["outbox_seq"] + 1
        if "deleted_at" not in new and not (redriven and audited) and not owed_again:
            self.violate("I2", f"terminal job {job_id} changed")

    def _on_claim(self, job_id: str, old: Row, new: Row) -> None:
        self._owners[job_id, new["fencing_token"]] = self._scheduler.process
        margin_ms = 2 * self._timings.skew_seconds * 1000
        if old["available_at"] > self._scheduler.now + margin_ms:
            self.violate("I5", f"{job_id} was claimed before it was available")

    def _on_leaving_attempt(self, job_id: str, old: Row, new: Row) -> None:
        """What happens to a RUNNING row: by its owner, or after its lease. A later check is no matter."""
        held = ("status", "fencing_token", "attempts", "lease_expires_at")
        if all(old.get(name) == new.get(name) for name in held):
            return
        owner = self._owners.get((job_id, old["fencing_token"]))
        mine = owner is self._scheduler.process
        truly_ends_at = old["lease_expires_at"] - (0 if owner is None else owner.clock_offset_ms)
        if not mine and truly_ends_at >= self._scheduler.now:
            self.violate("I7", f"the live attempt {old['fencing_token']} of {job_id} was taken away")
        extended = new["status"] == "RUNNING" and new["fencing_token"] == old["fencing_token"]
        if not mine and (extended or new["status"] == "SUCCEEDED"):
            self.violate("I4", f"a stranger wrote under token {old['fencing_token']} of {job_id}")

    def _on_removal(self, key: str) -> None:
        job_id = key.removeprefix(ORIGINALS_PREFIX) if key.startswith(ORIGINALS_PREFIX) else key.split("/")[1]
        row = self._tables.rows.get(job_id)
        if row is not None and "deleted_at" not in row:
            self.violate("I12", f"{key} was removed and its job lives")
        if row is None and job_id not in self.purged:
            age_ms = self._scheduler.now - created_at_of(job_id)
            if age_ms < _DAY_MS - self._timings.skew_seconds * 1000:
                self.violate("I12", f"{key} was removed as an orphan after {age_ms} ms")

    def _check_objects(self, job_id: str, row: Row) -> None:
        for result in row["results"].values():
            stored = self._objects.objects.get(result["key"])
            if stored is None or hashlib.sha256(stored.data).hexdigest() != result["sha256"]:
                self.violate("I3", f"{job_id} is SUCCEEDED and {result['key']} is not right")

    def _is_owed(self, job_id: str, *, except_handle: str) -> bool:
        for queue in (self._work_queue, self._undelivered):
            for stored in queue.messages.values():
                if job_id in stored.message.body and stored.receipt_handle != except_handle:
                    return True
        pending = any(
            record.new is not None and record.new[JOBS_KEY] == job_id
            for mapping in self._mappings
            for _, record in mapping.pending
        )
        return pending or bool(self._relay_failures.messages)

    def check_at_rest(self, submissions: int) -> None:
        """After the last open job has ended and the outbox is empty."""
        if len(self.status) != submissions:
            self.violate("I15", f"{submissions} submissions became {len(self.status)} jobs")
        rows = self._tables.rows
        self.deleted_by_clients = len(self.deleted)
        for stored in self._dead_letters.messages.values():
            attributes = {name: str(value) for name, value in stored.message.attributes.items()}
            self.on_copy(DeadLetter.read(stored.message.body, attributes))
        for job_id, generation in self.exhausted - self.copied:
            # A redrive by id goes on without the copy; what the older generation owed is owed no more.
            if job_id not in self.deleted and rows[job_id]["generation"] == generation:
                self.violate("I9", f"exhausted {job_id}, generation {generation}, has no copy")
        for job_id in self.answered:
            if job_id not in rows and job_id not in self.deleted:
                self.violate("I1", f"accepted {job_id} has no row")
        for job_id, row in rows.items():
            self._check_row_at_rest(job_id, row)
        if len(self.answered) != len(set(self.answered.values())):
            self.violate("I6", "one key was answered with two jobs")

    def _check_row_at_rest(self, job_id: str, row: dict[str, Any]) -> None:
        if "deleted_at" in row:
            return
        if original_key(job_id) not in self._objects.objects:
            self.violate("I12", f"the original of {job_id} is gone")
        if row["status"] == "SUCCEEDED":
            self._check_objects(job_id, row)

    def lost(self) -> int:
        """Accepted jobs without a row, though nobody deleted them."""
        return sum(job not in self._tables.rows and job not in self.deleted for job in self.answered)

    def stuck(self) -> int:
        return sum(status in _OPEN for status in self.status.values())
