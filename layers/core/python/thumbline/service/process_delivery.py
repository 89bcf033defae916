"""One delivery, from message to outcome: understand it, claim its job, make the thumbnails, end the attempt.

The acknowledgement is never in here: the caller sends it last, for outcomes that allow it.
"""

from __future__ import annotations

from thumbline.domain.checkup import Delivery, explain_refused_claim
from thumbline.domain.errors import (
    DependencyUnavailableError,
    FailureCode,
    PermanentError,
    TransientError,
)
from thumbline.domain.job import Failure, Job
from thumbline.domain.messages import BadMessageError, parse_request, rejected_copy
from thumbline.domain.retry import backoff_seconds, bounce_seconds, unreadable_row_seconds
from thumbline.domain.transition import Moment, Transition, TransitionRefusedError
from thumbline.domain.transitions.attempt import claim, complete, exhaust, exhausted_failure, fail, release
from thumbline.domain.transitions.unleased import exhaust_abandoned, expire, reject_message
from thumbline.ports.clock import RemainingSeconds
from thumbline.ports.queue import ReceivedMessage, VisibilityChange
from thumbline.service.heartbeat import Heartbeat
from thumbline.service.make_thumbnails import make_thumbnails
from thumbline.service.worker import FINISHING_SECONDS, Outcome, Processed, Worker

_CLAIM_TRIES = 3
"""A row that changes between a refusal and the answer to it is looked at again, but not for ever."""


def process_delivery(
    delivery: ReceivedMessage, worker: Worker, heartbeat: Heartbeat, remaining_seconds: RemainingSeconds
) -> Processed:
    return _Process(delivery, worker, heartbeat, remaining_seconds).run()


class _Process:
    """The state of one delivery while it is processed."""

    def __init__(
        self,
        delivery: ReceivedMessage,
        worker: Worker,
        heartbeat: Heartbeat,
        remaining_seconds: RemainingSeconds,
    ) -> None:
        self._delivery = delivery
        self._worker = worker
        self._heartbeat = heartbeat
        self._remaining_seconds = remaining_seconds
        self._job_id: str | None = None

    def run(self) -> Processed:
        try:
            request = parse_request(self._delivery.body)
        except BadMessageError as error:
            self._job_id = error.job_id
            return self._reject(error)
        self._job_id = request.job_id
        try:
            return self._claim_and_attempt(request.job_id)
        except DependencyUnavailableError as error:
            return self._come_back_later(error)

    def _claim_and_attempt(self, job_id: str) -> Processed:
        for _ in range(_CLAIM_TRIES):
            try:
                claimed = self._worker.jobs.apply(job_id, claim(job_id, self._moment()))
            except TransitionRefusedError as refused:
                settled = self._settle_refused_claim(refused.job)
                if settled is not None:
                    return settled
            else:
                return self._attempt(claimed)
        return self._set_timer(Outcome.BOUNCED, 1, "the row kept changing")

    def _settle_refused_claim(self, job: Job | None) -> Processed | None:
        """None where the row is to be claimed or settled once more."""
        now = self._worker.clock.now()
        refused = explain_refused_claim(job, now, self._worker.timings)
        if job is None or refused.delivery is Delivery.SKIP:
            return self._done(Outcome.SKIPPED, "no row" if job is None else f"already {job.status}")
        match refused.delivery:
            case Delivery.BOUNCE:
                seconds = bounce_seconds(refused.retry_at, now, self._worker.jitter())
                return self._set_timer(Outcome.BOUNCED, seconds, "leased or not yet available")
            case Delivery.EXHAUST:
                failure = exhausted_failure(job.failure, job.attempts)
                return self._settle(exhaust_abandoned(job.job_id, failure, self._moment()), Outcome.EXHAUSTED)
            case Delivery.EXPIRE:
                return self._settle(expire(job.job_id, self._moment()), Outcome.EXPIRED)
        return None

    def _settle(self, transition: Transition, outcome: Outcome) -> Processed | None:
        assert self._job_id is not None
        try:
            self._worker.jobs.apply(self._job_id, transition)
        except TransitionRefusedError:
            return None
        return self._done(outcome)

    def _attempt(self, claimed: Job) -> Processed:
        self._heartbeat.begin(claimed)
        try:
            results = make_thumbnails(
                claimed,
                self._worker,
                wall_seconds=self._remaining_seconds() - FINISHING_SECONDS,
                is_lost=lambda: self._heartbeat.lost,
            )
        except PermanentError as error:
            failure = Failure(error.code, error.detail, retryable=False)
            return self._finish(fail(claimed.job_id, claimed.fencing_token, failure, self._moment()), failure)
        except TransientError as error:
            return self._retry_or_exhaust(claimed, Failure(error.code, error.detail, retryable=True))
        except DependencyUnavailableError as error:
            return self._give_attempt_back(claimed, error)
        if results is None:
            return self._lose()
        moment = self._moment()
        return self._finish(complete(claimed.job_id, claimed.fencing_token, results, moment), None)

    def _finish(self, transition: Transition, failure: Failure | None) -> Processed:
        """Ends the attempt in a terminal row; the message stays held until the batch is acknowledged."""
        self._heartbeat.end()
        ended = self._end_attempt(transition)
        if ended is not None:
            return ended
        if failure is None:
            return self._done(Outcome.SUCCEEDED)
        exhausted = failure.code is FailureCode.ATTEMPTS_EXHAUSTED
        return self._done(Outcome.EXHAUSTED if exhausted else Outcome.FAILED, failure.code)

    def _retry_or_exhaust(self, claimed: Job, failure: Failure) -> Processed:
        timings = self._worker.timings
        if claimed.attempts >= timings.attempt_cap:
            last = exhausted_failure(failure, claimed.attempts)
            moment = self._moment()
            return self._finish(exhaust(claimed.job_id, claimed.fencing_token, last, moment), last)
        return self._release(claimed, failure, tries=claimed.attempts, give_attempt_back=False)

    def _give_attempt_back(self, claimed: Job, error: DependencyUnavailableError) -> Processed:
        """Attempts do not grow while a dependency is down, so the delay grows with the deliveries."""
        failure = Failure(
            FailureCode.DEPENDENCY_UNAVAILABLE, f"{error.dependency} was unavailable", retryable=True
        )
        tries = max(claimed.attempts, self._delivery.receive_count)
        return self._release(claimed, failure, tries=tries, give_attempt_back=True)

    def _release(self, claimed: Job, failure: Failure, *, tries: int, give_attempt_back: bool) -> Processed:
        """The row goes back to QUEUED and the message sleeps until the same moment."""
        self._heartbeat.end()
        self._heartbeat.leave(self._delivery.receipt_handle)
        timings = self._worker.timings
        wait_seconds = backoff_seconds(
            tries,
            base_seconds=timings.backoff_base_seconds,
            ceiling_seconds=timings.backoff_ceiling_seconds,
            jitter=self._worker.jitter(),
        )
        moment = self._moment()
        transition = release(
            claimed,
            failure,
            available_at=moment.after(wait_seconds),
            give_attempt_back=give_attempt_back,
            moment=moment,
        )
        ended = self._end_attempt(transition)
        if ended is not None:
            return ended
        return self._set_timer(Outcome.RELEASED, max(1, round(wait_seconds + 0.5)), failure.code)

    def _end_attempt(self, transition: Transition) -> Processed | None:
        """Applies the last write of an attempt; what to report where it was refused."""
        assert self._job_id is not None
        try:
            self._worker.jobs.apply(self._job_id, transition)
        except TransitionRefusedError as refused:
            if refused.job is None or not refused.job.is_open:
                return self._done(Outcome.FENCED, "ended by another")
            return self._lose()
        return None

    def _lose(self) -> Processed:
        """Another delivery owns the job, perhaps of this very message: no ack, no timer, nothing written."""
        self._heartbeat.leave(self._delivery.receipt_handle)
        return self._done(Outcome.LOST)

    def _reject(self, error: BadMessageError) -> Processed:
        """A look at the row, a copy for a person, the row, and then the ack.

        The look keeps a message that cannot be acknowledged yet from leaving a copy at each of its bounces.
        """
        try:
            held = self._held_by_another(error.job_id)
            if held is not None:
                return self._bounce_rejected(held, error)
            copy = rejected_copy(self._delivery.body, error, self._worker.clock.now())
            if self._worker.dead_letters.send([copy]):
                return self._come_back_later(DependencyUnavailableError("sqs", "the copy was not confirmed"))
            return self._fail_rejected(error)
        except DependencyUnavailableError as unavailable:
            return self._come_back_later(unavailable)

    def _held_by_another(self, job_id: str | None) -> Job | None:
        job = None if job_id is None else self._worker.jobs.get(job_id)
        if job is None or not job.is_open:
            return None
        skew_seconds = self._worker.timings.skew_seconds
        return job if job.has_live_lease(self._worker.clock.now(), skew_seconds) else None

    def _fail_rejected(self, error: BadMessageError) -> Processed:
        """Its copy is in the dead-letter queue. Raises DependencyUnavailableError."""
        if error.job_id is not None:
            try:
                self._worker.jobs.apply(
                    error.job_id, reject_message(error.job_id, error.reason, self._moment())
                )
            except TransitionRefusedError as refused:
                if refused.job is not None and refused.job.is_open:
                    return self._bounce_rejected(refused.job, error)
        return self._done(Outcome.REJECTED, error.reason)

    def _bounce_rejected(self, job: Job, error: BadMessageError) -> Processed:
        """Another worker understands this message and holds the job: it may be the job's only one."""
        now = self._worker.clock.now()
        retry_at = explain_refused_claim(job, now, self._worker.timings).retry_at
        seconds = bounce_seconds(retry_at, now, self._worker.jitter())
        return self._set_timer(Outcome.BOUNCED, seconds, error.reason)

    def _come_back_later(self, error: DependencyUnavailableError) -> Processed:
        seconds = unreadable_row_seconds(self._delivery.receive_count, self._worker.jitter())
        return self._set_timer(Outcome.UNREADABLE, seconds, str(error))

    def _set_timer(self, outcome: Outcome, seconds: int, note: str) -> Processed:
        """The record leaves the heartbeat first, or a beat could overwrite its timer."""
        handle = self._delivery.receipt_handle
        self._heartbeat.leave(handle)
        self._worker.work_queue.change_visibility([VisibilityChange(handle, seconds)])
        return self._done(outcome, note)

    def _done(self, outcome: Outcome, note: str = "") -> Processed:
        return Processed(self._delivery.message_id, self._job_id, outcome, note)

    def _moment(self) -> Moment:
        return Moment(self._worker.clock.now(), self._worker.ids.write_id(), self._worker.timings)
