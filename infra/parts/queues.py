"""The work queue and the three queues behind it, each for another kind of trouble."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.parts.acknowledged import acknowledge
from infra.topology import Topology


class Queues(Construct):
    """All of them TLS only and encrypted.

    `undelivered` is where SQS gives up: lost messages, not failed jobs. `dead_letter` holds the annotated
    copies that a person must look at; nothing is redriven into it by SQS. `relay_failure` holds the metadata
    of stream records that the relay gave up on.
    """

    def __init__(self, scope: Construct, construct_id: str, *, topology: Topology) -> None:
        super().__init__(scope, construct_id)
        # A pass of the reconciler holds what it has received; what it leaves is seen again by a later one.
        held_for_a_pass = topology.reconciler_timeout_seconds
        self.undelivered = self._queue(
            "Undelivered",
            retention_seconds=topology.undelivered_retention_seconds,
            visibility_seconds=held_for_a_pass,
        )
        self.relay_failure = self._queue(
            "RelayFailure",
            retention_seconds=topology.undelivered_retention_seconds,
            visibility_seconds=held_for_a_pass,
        )
        self.dead_letter = self._queue("DeadLetter", retention_seconds=topology.dead_letter_retention_seconds)
        self.work = self._queue(
            "Work",
            retention_seconds=topology.work_retention_seconds,
            visibility_seconds=topology.visibility_seconds,
            redrive=sqs.DeadLetterQueue(queue=self.undelivered, max_receive_count=topology.max_receive_count),
        )
        self._acknowledge_ends()

    def _acknowledge_ends(self) -> None:
        read_by = {
            self.undelivered: "the reconciler, each minute",
            self.relay_failure: "the reconciler, each minute",
            self.dead_letter: "a person, whom the first copy calls",
        }
        for queue, reader in read_by.items():
            reason = f"Messages end here: the queue is read by {reader}, and nothing is sent on from it."
            acknowledge(queue, {"Serverless::Serverless-SQSRedrivePolicy": reason})
            if queue is not self.undelivered:
                # It is a redrive target itself, which this rule sees.
                acknowledge(queue, {"AwsSolutions::AwsSolutions-SQS3": reason})

    def _queue(
        self,
        construct_id: str,
        *,
        retention_seconds: int,
        visibility_seconds: int | None = None,
        redrive: sqs.DeadLetterQueue | None = None,
    ) -> sqs.Queue:
        return sqs.Queue(
            self,
            construct_id,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=Duration.seconds(retention_seconds),
            visibility_timeout=None if visibility_seconds is None else Duration.seconds(visibility_seconds),
            dead_letter_queue=redrive,
        )
