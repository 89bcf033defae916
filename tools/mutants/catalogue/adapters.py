"""What is asked of AWS and made of its answers, and what the handlers report."""

from __future__ import annotations

from tools.mutants.killers import (
    FAILURES,
    OBJECT_REQUESTS,
    QUEUE_ANSWERS,
    QUEUE_HANDLERS,
    TABLE_REQUESTS,
    UPLOAD_REQUESTS,
)
from tools.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        name="an entry in Failed[] counts as sent",
        module="adapters.aws.queue",
        passage="unconfirmed.extend(position for position in positions if position not in confirmed)",
        replacement="unconfirmed.extend(())",
        killed_by=QUEUE_ANSWERS + "test_each_entry_that_was_not_sent_is_reported_by_its_position",
    ),
    Mutant(
        name="a batch that was not answered counts as sent",
        module="adapters.aws.queue",
        passage="                unconfirmed.extend(positions)\n",
        replacement="                continue\n",
        killed_by=QUEUE_ANSWERS + "test_a_batch_that_was_not_answered_was_not_sent_and_the_next_one_is",
    ),
    Mutant(
        name="a timer in Failed[] counts as set",
        module="adapters.aws.queue",
        passage="unchanged.extend(position for position in positions if position not in changed)",
        replacement="unchanged.extend(())",
        killed_by=QUEUE_ANSWERS + "test_each_timer_that_was_not_set_is_reported_by_its_position",
    ),
    Mutant(
        name="a timer that SQS refuses ends the heartbeat",
        module="adapters.aws.queue",
        passage="            except (DependencyUnavailableError, ClientError):\n",
        replacement="            except DependencyUnavailableError:\n",
        killed_by=QUEUE_ANSWERS + "test_a_batch_of_timers_that_was_refused_was_not_set_and_the_next_one_is",
    ),
    Mutant(
        name="decide on a stale row",
        module="adapters.aws.jobs",
        passage='Key={JOBS_KEY: {"S": job_id}}, ConsistentRead=True',
        replacement='Key={JOBS_KEY: {"S": job_id}}',
        killed_by=TABLE_REQUESTS + "test_what_is_decided_upon_is_read_consistently",
    ),
    Mutant(
        name="look for a key in a stale table",
        module="adapters.aws.acceptance",
        passage="                ConsistentRead=True,\n",
        replacement="",
        killed_by=TABLE_REQUESTS + "test_what_is_decided_upon_is_read_consistently",
    ),
    Mutant(
        name="a refused transition does not show the row",
        module="adapters.aws.jobs",
        passage='                    ReturnValuesOnConditionCheckFailure="ALL_OLD",\n',
        replacement="",
        killed_by=TABLE_REQUESTS + "test_a_transition_asks_for_both_images",
    ),
    Mutant(
        name="lose against one's own first write in the table",
        module="adapters.aws.jobs",
        passage="    if job is None or job.write_id != transition.write_id:\n",
        replacement="    if job is None or job.write_id:\n",
        killed_by=TABLE_REQUESTS + "test_a_transition_asks_for_both_images",
    ),
    Mutant(
        name="accept without a token",
        module="adapters.aws.acceptance",
        passage="            ClientRequestToken=job.write_id,\n",
        replacement="",
        killed_by=TABLE_REQUESTS + "test_an_acceptance_is_one_transaction_under_the_jobs_own_token",
    ),
    Mutant(
        name="accept over a row that is there",
        module="adapters.aws.acceptance",
        passage=(
            '                        "ConditionExpression": "attribute_not_exists(#key)",\n'
            '                        "ExpressionAttributeNames": {"#key": JOBS_KEY},\n'
        ),
        replacement="",
        killed_by=TABLE_REQUESTS + "test_an_acceptance_is_one_transaction_under_the_jobs_own_token",
    ),
    Mutant(
        name="a refused acceptance does not show who holds the key",
        module="adapters.aws.acceptance",
        passage='                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",\n',
        replacement="",
        killed_by=TABLE_REQUESTS + "test_an_acceptance_is_one_transaction_under_the_jobs_own_token",
    ),
    Mutant(
        name="overwrite an original",
        module="adapters.aws.objects",
        passage='                    IfNoneMatch="*",\n',
        replacement="",
        killed_by=OBJECT_REQUESTS + "test_an_original_is_verified_by_s3_and_never_overwritten",
    ),
    Mutant(
        name="store an original unverified",
        module="adapters.aws.objects",
        passage=("                    ChecksumSHA256=base64.b64encode(bytes.fromhex(sha256)).decode(),\n"),
        replacement="",
        killed_by=OBJECT_REQUESTS + "test_an_original_is_verified_by_s3_and_never_overwritten",
    ),
    Mutant(
        name="leave the second page of a deleted job's objects",
        module="adapters.aws.objects",
        passage="                    removed += 1\n",
        replacement="                    removed += 1\n                break\n",
        killed_by=OBJECT_REQUESTS + "test_everything_under_a_prefix_is_removed_however_many_pages_it_fills",
    ),
    Mutant(
        name="copy an upload that has changed",
        module="adapters.aws.uploads",
        passage="                    CopySourceIfMatch=version,\n",
        replacement="",
        killed_by=UPLOAD_REQUESTS + "test_a_copy_is_of_the_version_that_was_looked_at_and_overwrites_nothing",
    ),
    Mutant(
        name="copy an upload over an original",
        module="adapters.aws.uploads",
        passage='                    IfNoneMatch="*",\n',
        replacement="",
        killed_by=UPLOAD_REQUESTS + "test_a_copy_is_of_the_version_that_was_looked_at_and_overwrites_nothing",
    ),
    Mutant(
        name="throttling is our own bug",
        module="adapters.aws.failures",
        passage='frozenset({"ValidationException",',
        replacement='frozenset({"ThrottlingException", "ValidationException",',
        killed_by=FAILURES + "test_what_time_or_an_operator_mends_costs_no_attempt",
    ),
    Mutant(
        name="a bug of ours is waited for",
        module="adapters.aws.failures",
        passage="        if error_code(error) in _OUR_BUGS | _ANSWERS:\n",
        replacement="        if error_code(error) in _ANSWERS:\n",
        killed_by=FAILURES + "test_what_no_waiting_mends_and_what_is_an_answer_is_left_as_it_is",
    ),
    Mutant(
        name="Lambda deletes what was not acknowledged",
        module="functions.thumbnail_worker.handler",
        passage='[{"itemIdentifier": message} for message in report.unacknowledged]',
        replacement="[]",
        killed_by=QUEUE_HANDLERS + "test_the_worker_reports_exactly_what_is_to_come_again",
    ),
    Mutant(
        name="the stream goes on past what was not published",
        module="functions.outbox_relay.handler",
        passage='[{"itemIdentifier": number} for number in report.failed]',
        replacement="[]",
        killed_by=QUEUE_HANDLERS + "test_the_relay_reports_exactly_what_was_not_confirmed",
    ),
)
