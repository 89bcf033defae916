"""One stage as the operator's command sees it: the rules' own settings, read from what is deployed."""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from thumbline.adapters.aws.access import DynamoDBAccess
from thumbline.adapters.aws.dead_letters import SQSDeadLetters
from thumbline.adapters.aws.jobs import DynamoDBJobs
from thumbline.adapters.aws.objects import S3Objects
from thumbline.adapters.aws.outbox import DynamoDBOutbox
from thumbline.adapters.aws.queue import SQSQueue
from thumbline.adapters.aws.status_index import DynamoDBStatusIndex
from thumbline.adapters.system import RandomIds, SystemClock
from thumbline.bootstrap import clients
from thumbline.domain.errors import SettingsError
from thumbline.domain.patience import WORKING
from thumbline.ports.access import TokenStore
from thumbline.ports.queue import Backlog
from thumbline.ports.status_index import StatusIndex
from thumbline.service.browse_dead_letters import DeadLetterQueue
from thumbline.service.reconcile.reconciler import Reconciler
from thumbline.settings import ReconcilerSettings
from tools.deploy.account import caller_account, stack_name, stack_outputs
from tools.deploy.errors import DeployError
from tools.local.environment import ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY
from tools.local.errors import LocalStackError
from tools.local.state import StackState, ready_state
from tools.operator.errors import OperatorError

RECONCILER_OUTPUT = "JobReconcilerFunctionName"
DEAD_LETTERS_OUTPUT = "DeadLetterQueueUrl"
ACCESS_OUTPUT = "AccessTableName"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """`label` says where a change would happen; `operator` is who it is done by, for the audit entry.

    The reconciler is the function's own, put together here: it looks at everything that a person asks about.
    """

    label: str
    operator: str
    reconciler: Reconciler
    statuses: StatusIndex
    dead_letters: DeadLetterQueue
    undelivered: Backlog
    relay_failures: Backlog
    tokens: TokenStore


def open_deployed(name: str, session: boto3.Session | None = None) -> Stage:
    """Raises OperatorError where credentials, the stack, or a permission are missing."""
    try:
        session = session or boto3.Session()
        account = caller_account(session)
        outputs = stack_outputs(session, stack_name(name))
    except DeployError as error:
        raise OperatorError(str(error)) from error
    except BotoCoreError as error:
        raise OperatorError(f"AWS cannot be called: {error}") from error
    where = f"account {account.number}, {account.region}"
    if outputs is None:
        raise OperatorError(f"There is no stack {stack_name(name)} in {where}.")
    return _join(Clients(session), outputs, f"{stack_name(name)} ({where})", account.caller)


def open_local(state_file: Path) -> Stage:
    """Raises OperatorError where no local stack is ready."""
    try:
        state = ready_state(state_file)
    except LocalStackError as error:
        raise OperatorError(str(error)) from error
    return local_stage(state)


def local_stage(state: StackState) -> Stage:
    """Raises OperatorError where the emulator does not answer."""
    return _join(
        local_clients(state),
        state.outputs,
        f"the local stack ({state.url})",
        f"local:{_system_user()}",
    )


def local_clients(state: StackState) -> Clients:
    session = boto3.Session(ACCESS_KEY_ID, SECRET_ACCESS_KEY, region_name=REGION)
    return Clients(session, state.emulator_url)


class Clients:
    """Makes clients for a deployed stage, or for an emulator that no proxy may stand before."""

    def __init__(self, session: boto3.Session, endpoint_url: str | None = None) -> None:
        self._session: Any = session
        self._endpoint_url = endpoint_url
        self._config = clients.config_of(WORKING)
        if endpoint_url is not None:
            self._config = self._config.merge(Config(proxies={}))

    def make(self, service: str) -> Any:
        return self._session.client(service, endpoint_url=self._endpoint_url, config=self._config)


def _join(made_by: Clients, outputs: Any, label: str, operator: str) -> Stage:
    settings = _settings(made_by, outputs, label)
    dynamodb, sqs = made_by.make("dynamodb"), made_by.make("sqs")
    jobs = DynamoDBJobs(dynamodb, settings.jobs_table)
    undelivered = SQSQueue(sqs, settings.undelivered_queue_url)
    relay_failures = SQSQueue(sqs, settings.relay_failure_queue_url)
    reconciler = Reconciler(
        jobs=jobs,
        snapshots=jobs,
        outbox=DynamoDBOutbox(made_by.make("dynamodbstreams")),
        objects=S3Objects(made_by.make("s3"), settings.bucket),
        work_queue=SQSQueue(sqs, settings.work_queue_url),
        undelivered_queue=undelivered,
        relay_failure_queue=relay_failures,
        clock=SystemClock(),
        ids=RandomIds(),
        timings=settings.timings,
        max_jobs_per_run=settings.max_jobs_per_run,
    )
    return Stage(
        label=label,
        operator=operator,
        reconciler=reconciler,
        statuses=DynamoDBStatusIndex(dynamodb, settings.jobs_table),
        dead_letters=SQSDeadLetters(sqs, outputs[DEAD_LETTERS_OUTPUT]),
        undelivered=undelivered,
        relay_failures=relay_failures,
        tokens=DynamoDBAccess(dynamodb, outputs[ACCESS_OUTPUT]),
    )


def _settings(made_by: Clients, outputs: Any, label: str) -> ReconcilerSettings:
    """The deployed function's: its names and numbers are those by which the stage runs, whatever is here."""
    try:
        function = made_by.make("lambda").get_function_configuration(FunctionName=outputs[RECONCILER_OUTPUT])
        return ReconcilerSettings.from_env(function["Environment"]["Variables"])
    except (SettingsError, KeyError) as error:
        raise OperatorError(f"{label} runs another version than this one, or none: {error}.") from error
    except ClientError as error:
        code = error.response["Error"]["Code"]
        raise OperatorError(f"The reconciler's settings cannot be read from {label} ({code}).") from error
    except BotoCoreError as error:
        raise OperatorError(f"{label} does not answer: {error}") from error


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in a container
        return str(os.getuid())
