"""outbox_relay: turns the jobs table's stream into messages."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as event_sources
from constructs import Construct

from infra.parts.function import ANY_RESOURCE, FunctionFrame, PythonFunction, allow
from infra.parts.queues import Queues
from infra.parts.tables import Tables
from infra.topology import Topology
from thumbline.settings import RelaySettings

# Static patterns are all that a filter can do; the relay itself compares outbox_seq of both images.
PUBLISHABLE = lambda_.FilterCriteria.filter(
    {
        "eventName": lambda_.FilterRule.or_("INSERT", "MODIFY"),
        "dynamodb": {"NewImage": {"status": {"S": lambda_.FilterRule.or_("QUEUED", "FAILED")}}},
    }
)


class OutboxRelay(PythonFunction):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        frame: FunctionFrame,
        topology: Topology,
        tables: Tables,
        queues: Queues,
    ) -> None:
        environment = RelaySettings(
            work_queue_url=queues.work.queue_url,
            dead_letter_queue_url=queues.dead_letter.queue_url,
            stage=frame.settings.name,
        ).to_env()
        super().__init__(
            scope,
            construct_id,
            frame=frame,
            name="outbox_relay",
            environment=environment,
            statements=[
                allow(
                    ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"],
                    tables.jobs_stream_arn,
                ),
                # Lambda lists the streams before it reads one; the action has no resource to name.
                allow(["dynamodb:ListStreams"], "*"),
                allow(
                    ["sqs:SendMessage"],
                    queues.work.queue_arn,
                    queues.dead_letter.queue_arn,
                    queues.relay_failure.queue_arn,
                ),
            ],
            timeout_seconds=topology.relay_timeout_seconds,
            memory_mb=topology.function_memory_mb,
            wide_resources={
                ANY_RESOURCE: "dynamodb:ListStreams, which Lambda calls before it reads the one stream, has"
                " no resource to name; neither have X-Ray's two actions."
            },
            no_dead_letter_target="Its mapping reads the stream and sends what it gives up to a queue.",
        )
        self.function.add_event_source_mapping(
            "Outbox",
            event_source_arn=tables.jobs_stream_arn,
            # LATEST would skip what was accepted while the mapping was being made.
            starting_position=lambda_.StartingPosition.TRIM_HORIZON,
            batch_size=topology.relay_batch_size,
            filters=[PUBLISHABLE],
            report_batch_item_failures=True,
            bisect_batch_on_error=True,
            retry_attempts=topology.relay_retry_attempts,
            max_record_age=Duration.seconds(topology.relay_record_age_seconds),
            on_failure=event_sources.SqsDlq(queues.relay_failure),
        )
