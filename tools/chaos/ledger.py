"""Watches every write and holds it against the invariants; counts what the run reports.

The invariants are numbered as in docs/chaos.md. A violation is a sentence with the virtual second in it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from thumbline.adapters.memory.jobs import MemoryTables, StreamRecord
from thumbline.adapters.memory.objects import MemoryObjects, StoredObject
from thumbline.domain.dead_letters import DeadLetter
from thumbline.domain.errors import FailureCode
from thumbline.domain.keys import created_at_of, original_key
from thumbline.domain.messages import BadMessageError, parse_request
from thumbline.domain.row import Row
from thumbline.domain.schema import JOBS_KEY, ORIGINALS_PREFIX, THUMBNAILS_PREFIX
from thumbline.domain.timings import Timings
from thumbline.ports.queue import ReceivedMessage
from tools.chaos import row_rules
from tools.chaos.days import Day
from tools.chaos.debts import Debts, Life
from tools.chaos.ownership import Ownership
from tools.chaos.pictures import Kind, is_made_from, kind_of
from tools.chaos.row_rules import OPEN, Finding
from tools.chaos.scheduler import Scheduler

_DAY_MS = 86_400_000
_PASS_MS = (2 * 60 + 55) * 1000
"""A pass that a clock's error kept from seeing a due row, the next one a minute later, and its run."""


class Ledger:
    def __init__(self, scheduler: Scheduler, timings: Timings, day: Day) -> None:
        self._scheduler = scheduler
        self._timings = timings
        self._day = day
        self._born_at = scheduler.now
        self._ownership = Ownership(scheduler)
        self._kinds: dict[str, Kind] = {}
        self._to_be_deleted: set[str] = set()
        """What clients have announced; nothing else excuses a job that is gone before its retention."""
        self._badly_named: set[str] = set()
        """Jobs that a stranger's bad message may have failed."""
        self._told: set[Life] = set()
        """Lives of which a standing debt was reported; once is enough."""
        self.violations: list[str] = []
        self.answered: dict[str, tuple[str, str]] = {}
        """Each 202: its job's id, to the owner and the key it was answered to."""
        self.status: dict[str, str] = {}
        """The last status of every row that ever was, also of rows that are gone."""
        self.deleted: set[str] = set()
        """By clients."""
        self.retired: set[str] = set()
        """At the end of their retention."""
        self.purged: set[str] = set()
        self.exhausted: set[Life] = set()
        self.copied: set[Life] = set()
        """Lives of every dead-letter copy that was seen."""
        self.settled_at = 0
        """When the last open job became terminal."""
        self.counts: Counter[str] = Counter()

    def watch(self, tables: MemoryTables, objects: MemoryObjects, debts: Debts) -> None:
        self._tables = tables
        self._objects = objects
        self._debts = debts

    def violate(self, invariant: str, sentence: str) -> None:
        seconds = (self._scheduler.now - self._born_at) / 1000
        self.violations.append(f"{invariant} at {seconds:.3f} s: {sentence}")

    # What others announce.

    def announce_delete(self, job_id: str) -> None:
        """A client is about to delete its job."""
        self._to_be_deleted.add(job_id)

    def announce_bad_message(self, body: str, job_id: str) -> None:
        if job_id in body:
            self._badly_named.add(job_id)

    # What happens.

    def on_row(self, record: StreamRecord) -> None:
        old, new = record.old, record.new
        job_id = (new or old or {})[JOBS_KEY]
        now = self._scheduler.now
        if new is None:
            self.purged.add(job_id)
            self._violate_all(job_id, row_rules.of_purge(old or {}, now, self._timings))
            return
        self.status[job_id] = new["status"]
        if old is None:
            self._on_acceptance(job_id)
            return
        self._violate_all(job_id, row_rules.of_change(old, new, self._clock_read_at(), now, self._timings))
        self._violate_all(job_id, self._ownership.on_change(job_id, old, new))
        if "deleted_at" in new and "deleted_at" not in old:
            self._on_tombstone(job_id, new)
        if old["status"] in OPEN and new["status"] not in OPEN:
            self._on_ending(job_id, new)

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

    def on_ack(self, delivery: ReceivedMessage) -> None:
        """Just before an acknowledgement of the work queue. One with an old handle may delete as well."""
        try:
            job_id = parse_request(delivery.body).job_id
        except BadMessageError:
            return  # an extra message of ours; its job has another
        row = self._tables.rows.get(job_id)
        if row is None or row["status"] not in OPEN:
            return
        if job_id not in self._debts.kept_going(without=delivery.message_id):
            self.violate("I10", f"the last message of open job {job_id} was acknowledged")

    def on_success_delivered(self, job_id: str) -> None:
        """A message of a job that has succeeded. A redrive gives a job that expired a second message."""
        if self._day is Day.FAIR and self._tables.rows[job_id]["generation"] == 1:
            self.violate("I10", f"{job_id} was delivered again after its success on a fair day")

    def on_answer(self, job_id: str, owner: str, key: str) -> None:
        """A 202."""
        self.answered[job_id] = (owner, key)
        if job_id not in self.status:
            self.violate("I1", f"202 for {job_id}, which has no row")

    def on_delete_answered(self, job_id: str) -> None:
        """A 204, 404 or 410: the client's job is gone."""
        if job_id not in self.deleted:
            self.violate("I2", f"the delete of {job_id} was answered and left no tombstone")

    def on_copy(self, letter: DeadLetter) -> None:
        """A copy as an operator finds it."""
        if letter.code != "attempts_exhausted" or letter.job_id is None or letter.generation is None:
            return
        self.copied.add((letter.job_id, letter.generation))
        if (letter.job_id, letter.generation) not in self.exhausted:
            self.violate("I9", f"a copy of {letter.job_id} exists, which is not exhausted")

    def _on_acceptance(self, job_id: str) -> None:
        original = self._objects.objects.get(original_key(job_id))
        if original is None:
            self.violate("I12", f"{job_id} was accepted without its original")
            return
        self._kinds[job_id] = kind_of(original.data)

    def _on_tombstone(self, job_id: str, new: Row) -> None:
        if job_id in self._to_be_deleted:
            self.deleted.add(job_id)
        elif row_rules.is_retired(new, self._scheduler.now, self._timings):
            self.retired.add(job_id)
        else:
            self.violate("I2", f"{job_id} was deleted, and neither its client nor its retention wanted it")

    def _on_ending(self, job_id: str, new: Row) -> None:
        now = self._scheduler.now
        self.settled_at = now
        self._violate_all(job_id, row_rules.of_ending(new, self._clock_read_at(), now, self._timings))
        kind = self._kinds.get(job_id)
        if kind is None or job_id in self.deleted:
            return
        if new["status"] == "SUCCEEDED":
            self._violate_all(job_id, row_rules.of_success(new, kind))
            self._check_objects(job_id, new)
        else:
            named = job_id in self._badly_named
            findings = row_rules.of_failure(new, kind, now, self._timings, bad_message_sent=named)
            self._violate_all(job_id, findings)
        if new["status"] == "FAILED" and new["failure"]["code"] == FailureCode.ATTEMPTS_EXHAUSTED:
            self.exhausted.add((job_id, new["generation"]))
        if self._day is Day.FAIR and kind is Kind.GOOD and new["attempts"] > 1:
            self.violate("I8", f"good picture {job_id} took {new['attempts']} attempts on a fair day")

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
        for name, result in row["results"].items():
            stored = self._objects.objects.get(result["key"])
            if stored is None or hashlib.sha256(stored.data).hexdigest() != result["sha256"]:
                self.violate("I3", f"{job_id} is SUCCEEDED and {result['key']} is not right")
                continue
            original = self._objects.objects.get(original_key(job_id))
            if original is not None and not is_made_from(stored.data, name, original.data):
                self.violate("I3", f"{result['key']} shows another picture")

    def _clock_read_at(self) -> int:
        """When whoever writes now read its clock, at the earliest: one that froze may have long before."""
        process = self._scheduler.process
        return self._born_at if process is not None and process.struck else self._scheduler.now

    def _violate_all(self, job_id: str, findings: Iterable[Finding]) -> None:
        for invariant, sentence in findings:
            self.violate(invariant, f"{job_id}: {sentence}")

    # What is looked at now and then.

    def check_debts(self) -> None:
        """An open job always has a message or an owed publish, an exhausted one its copy or an owed one.

        The reconciler's scan of the rows counts for nothing here: it would hide a main path that is broken.
        """
        kept_going = self._debts.kept_going()
        copied: set[Life] | None = None
        for job_id, row in self._tables.rows.items():
            life = (job_id, row["generation"])
            if life in self._told or "deleted_at" in row:
                continue
            if row["status"] in OPEN:
                if job_id not in kept_going:
                    self._told.add(life)
                    self.violate("I10", f"open job {job_id} has no message, and none is owed")
            elif life in self.exhausted and life not in self.copied:
                copied = self._debts.copied() if copied is None else copied
                if life not in copied:
                    self._told.add(life)
                    self.violate("I9", f"exhausted {job_id}, generation {life[1]}, has no copy")

    def check_deadlines(self, steady_since: int) -> None:
        """`steady_since`: from when on nothing bad has happened and the reconciler has run."""
        slack_ms = self._timings.skew_seconds * 1000 + _PASS_MS
        for job_id, row in self._tables.rows.items():
            life = (job_id, row["generation"])
            if row["status"] not in OPEN or life in self._told:
                continue
            if self._scheduler.now > slack_ms + max(
                row["deadline_at"], row.get("lease_expires_at", 0), steady_since
            ):
                self._told.add(life)
                self.violate("I1", f"{job_id} is still {row['status']} after its deadline")

    def check_at_rest(self, submissions: int) -> None:
        """After the last open job has ended and the outbox is empty."""
        if len(self.status) != submissions:
            self.violate("I15", f"{submissions} submissions became {len(self.status)} jobs")
        rows = self._tables.rows
        for letter in self._debts.letters():
            self.on_copy(letter)
        self.check_debts()
        for job_id, row in rows.items():
            self._check_row_at_rest(job_id, row)
        if len(self.answered) != len(set(self.answered.values())):
            self.violate("I6", "one key was answered with two jobs")

    def _check_row_at_rest(self, job_id: str, row: Row) -> None:
        if "deleted_at" in row:
            return
        if original_key(job_id) not in self._objects.objects:
            self.violate("I12", f"the original of {job_id} is gone")
        if row["status"] == "SUCCEEDED":
            self._check_objects(job_id, row)

    def lost(self) -> int:
        """Accepted jobs without a row, though neither their client nor their retention wanted it."""
        excused = self.deleted | self.retired
        return sum(job not in self._tables.rows and job not in excused for job in self.answered)

    def stuck(self) -> int:
        return sum(status in OPEN for status in self.status.values())
