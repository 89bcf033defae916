"""Which AWS errors mean "later", decided by code and type, never by message text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from thumbline.domain.errors import DependencyUnavailableError

_OUR_BUGS = frozenset({"ValidationException", "InvalidParameterValue", "InvalidRequest", "MalformedXML"})
"""Retrying such a request later cannot help; it must surface."""


_ANSWERS = frozenset({"ConditionalCheckFailedException", "TransactionCanceledException"})
"""Not failures: the caller reads them."""


def error_code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", "Unknown"))


@contextmanager
def unavailable_when_failing(dependency: str) -> Iterator[None]:
    """Turns every failure that time or an operator can mend into DependencyUnavailableError.

    Throttling, 5xx, time-outs and lost connections, but also a refused permission or a missing table: a
    broken deployment must not fail a job.
    """
    try:
        yield
    except ParamValidationError:
        raise
    except ClientError as error:
        if error_code(error) in _OUR_BUGS | _ANSWERS:
            raise
        raise DependencyUnavailableError(dependency, error_code(error)) from error
    except BotoCoreError as error:
        raise DependencyUnavailableError(dependency, type(error).__name__) from error
