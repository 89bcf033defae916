"""Which AWS errors mean "later" and which are our own fault."""

from __future__ import annotations

import pytest
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ParamValidationError,
    ReadTimeoutError,
)

from thumbline.adapters.aws.failures import unavailable_when_failing
from thumbline.domain.errors import DependencyUnavailableError


def client_error(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code}}, "Operation")


LATER = [
    "ThrottlingException",
    "Throttling",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "SlowDown",
    "TransactionInProgressException",
    "InternalServerError",
    "ServiceUnavailable",
    "503",
    "AccessDeniedException",
    "ExpiredTokenException",
    "ResourceNotFoundException",
    "AWS.SimpleQueueService.NonExistentQueue",
    "NoSuchBucket",
    "a code of tomorrow",
]
OURS = ["ValidationException", "InvalidParameterValue", "InvalidRequest", "MalformedXML"]
ANSWERS = ["ConditionalCheckFailedException", "TransactionCanceledException"]
URL = "https://aws.example"


@pytest.mark.parametrize("code", LATER)
def test_what_time_or_an_operator_mends_costs_no_attempt(code: str) -> None:
    """Throttling above all: as our own fault it would fail a job, or break a whole pass."""
    with pytest.raises(DependencyUnavailableError) as failed, unavailable_when_failing("dynamodb"):
        raise client_error(code)
    assert (failed.value.dependency, failed.value.detail) == ("dynamodb", code)


@pytest.mark.parametrize("code", [*OURS, *ANSWERS])
def test_what_no_waiting_mends_and_what_is_an_answer_is_left_as_it_is(code: str) -> None:
    with pytest.raises(ClientError, match=code), unavailable_when_failing("dynamodb"):
        raise client_error(code)


@pytest.mark.parametrize(
    "error",
    [
        ConnectTimeoutError(endpoint_url=URL),
        ReadTimeoutError(endpoint_url=URL),
        EndpointConnectionError(endpoint_url=URL),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_call_that_was_not_answered_is_told_by_its_kind(error: BotoCoreError) -> None:
    with (
        pytest.raises(DependencyUnavailableError, match=type(error).__name__),
        unavailable_when_failing("s3"),
    ):
        raise error


def test_a_request_that_botocore_itself_refuses_is_our_own_fault() -> None:
    with pytest.raises(ParamValidationError), unavailable_when_failing("s3"):
        raise ParamValidationError(report="no such parameter")
