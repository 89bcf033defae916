"""How much of what a job uses, and a month without jobs. Counted from the code; each line says where."""

from __future__ import annotations

from tools.cost.prices import Item

ORIGINAL_BYTES = 2_000_000
"""A phone's photo, scaled for the web."""
THUMBNAIL_BYTES = 15_000
POLLS = 2
"""A client that waits as Retry-After says."""
RENDER_SECONDS = 0.6
"""Download, decode, encode and put of such a photo, on one vCPU."""
MINUTES_A_MONTH = 43_800
LOG_BYTES = 600
"""One line an invocation, Lambda's own two included."""
GIGABYTE = 1e9
POLLS_A_MINUTE = 15
"""Five pollers of Lambda, each waiting 20 s for a message."""

WORKER_GB, RECONCILER_GB, FUNCTION_GB = 1.769, 1.0, 0.5


def a_job() -> list[Item]:
    """One picture: accepted, polled, rendered, fetched once."""
    requests = 1 + POLLS + 1
    return [
        Item("api_gateway_request", requests, "POST, the polls, GET of the thumbnail"),
        Item("lambda_request", requests + 2, "those, one relay and one worker (batches make it less)"),
        Item("lambda_arm64_gb_second", requests * 0.05 * FUNCTION_GB, "ingest_api, 50 ms a request"),
        Item("lambda_arm64_gb_second", 0.03 * FUNCTION_GB, "outbox_relay"),
        Item("lambda_arm64_gb_second", RENDER_SECONDS * WORKER_GB, "thumbnail_worker"),
        Item("dynamodb_write_unit", 4, "the transaction: two items, twice the price"),
        Item("dynamodb_write_unit", 2, "the new row in both indexes"),
        Item("dynamodb_write_unit", 4, "claim: the row, its due check moved, its status for listing"),
        Item("dynamodb_write_unit", 5, "complete: the row with its results (2), and both indexes"),
        Item("dynamodb_write_unit", 8, "end of retention: retired, then purged, in table and indexes"),
        Item("dynamodb_write_unit", 1, "the idempotency record goes by TTL, free; one lease extension"),
        Item("dynamodb_read_unit", 1 + POLLS + 1, "consistent reads: the key, the polls, the thumbnail"),
        Item("s3_put_or_list", 2, "the original and one thumbnail"),
        Item("s3_put_or_list", 2, "end of retention: two listings; deletes are free"),
        Item("s3_get", 2, "the worker reads the original, the client the thumbnail"),
        Item("sqs_request", 3, "send, receive, delete"),
        Item("sqs_request", 2, "visibility set at the claim and once more"),
        Item("cloudwatch_log_gb", (requests + 2) * LOG_BYTES / GIGABYTE, "a line an invocation"),
        Item("cloudwatch_log_gb", requests * 500 / GIGABYTE, "the access log"),
        Item("xray_trace", 0.05, "X-Ray's default rule samples one in twenty"),
        Item("transfer_out_gb", THUMBNAIL_BYTES / GIGABYTE, "the thumbnail"),
    ]


def a_stored_month() -> list[Item]:
    """Keeping one job's row and objects for a month, after its end."""
    return [
        Item("s3_gb_month", (ORIGINAL_BYTES + THUMBNAIL_BYTES) / GIGABYTE, "original and thumbnail"),
        Item("dynamodb_gb_month", 1_500 / GIGABYTE, "the row and its indexes"),
        Item("dynamodb_recovery_gb_month", 1_200 / GIGABYTE, "point-in-time recovery"),
    ]


def an_idle_month() -> list[Item]:
    """A deployed stage that nobody calls."""
    return [
        Item("lambda_request", MINUTES_A_MONTH, "the reconciler, each minute"),
        Item("lambda_arm64_gb_second", MINUTES_A_MONTH * 0.5 * RECONCILER_GB, "0.5 s a pass"),
        Item("dynamodb_read_unit", MINUTES_A_MONTH * 26, "24 shards of the due index, the snapshot"),
        Item("dynamodb_write_unit", MINUTES_A_MONTH, "the snapshot"),
        Item("s3_put_or_list", MINUTES_A_MONTH, "the sweep for orphans"),
        Item("sqs_request", MINUTES_A_MONTH * 3, "two receives and the work queue's depth"),
        Item("sqs_request", MINUTES_A_MONTH * POLLS_A_MINUTE, "Lambda polls the work queue"),
        Item("cloudwatch_alarm_metric_month", 21, "14 alarms; one on an expression counts each metric"),
        Item("cloudwatch_custom_metric_month", 10, "what the reconciler emits in each pass"),
        Item("cloudwatch_dashboard_month", 1, "the dashboard"),
        Item("cloudwatch_log_gb", MINUTES_A_MONTH * 2 * LOG_BYTES / GIGABYTE, "the reconciler's lines"),
        Item("kms_key_month", 1, "the key of the alarm topic"),
    ]
