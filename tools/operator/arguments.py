"""The command line. `--stage`, `--local` and `--json` may stand before or after the command."""

from __future__ import annotations

import argparse
import re
from typing import Any

from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Status
from thumbline.domain.keys import is_job_id
from tools.deploy.account import STAGES

_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
DEFAULT_PER_SECOND = 10.0
_REDRIVABLE = sorted(code.value for code in FailureCode if code is not FailureCode.DELETED)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Ends the process with status 2 and a sentence for what is no command."""
    parser = argparse.ArgumentParser(
        prog="thumbline",
        description="Look at jobs and dead letters, and give failed jobs another life.",
        epilog="Exit status: 0 done; 1 not done, or not all of it; 2 no such command; 3 not confirmed;"
        " 130 interrupted. More: docs/operator.md.",
    )
    _add_common(parser, None)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_jobs(commands)
    _add_dead_letters(commands)
    _add_redrive(commands)
    _add_tokens(commands)
    reconcile = _add(commands, "reconcile", "what a pass of the reconciler would do now")
    reconcile.add_argument(
        "--dry-run", action="store_true", required=True, help="the pass itself runs by itself, each minute"
    )
    options = parser.parse_args(arguments)
    if bool(options.stage) == bool(options.local):
        parser.error("say which stage: one of --stage NAME and --local")
    if options.command == "redrive":
        _check_redrive(parser, options)
    return options


def _add_jobs(commands: Any) -> None:
    jobs = commands.add_parser("jobs", help="jobs, one or many").add_subparsers(
        dest="action", required=True, metavar="ACTION"
    )
    _add(jobs, "show", "everything that a job's row says").add_argument("job_id", type=_job_id)
    _add(jobs, "why", "why a job is waiting").add_argument("job_id", type=_job_id)
    listing = _add(jobs, "list", "the newest jobs of a status, of all owners")
    listing.add_argument("--status", type=_status, required=True, help=", ".join(Status))
    listing.add_argument("--limit", type=_positive, default=50, help="how many at most (%(default)s)")


def _add_dead_letters(commands: Any) -> None:
    letters = commands.add_parser("dlq", help="copies in the dead-letter queue").add_subparsers(
        dest="action", required=True, metavar="ACTION"
    )
    _add_limit(_add(letters, "list", "the copies, with their reasons"))
    show = _add(letters, "show", "one copy, whole")
    show.add_argument("name", metavar="ID", help="a message id or a job id")
    discard = _add(letters, "discard", "delete copies; their jobs stay FAILED", changes=True)
    discard.add_argument("names", nargs="+", metavar="ID", help="message ids or job ids")
    for one in (show, discard):
        _add_limit(one)


def _add_redrive(commands: Any) -> None:
    redrive = _add(commands, "redrive", "give failed jobs another life", changes=True)
    redrive.add_argument("job_ids", nargs="*", type=_job_id, metavar="ID")
    redrive.add_argument("--code", choices=_REDRIVABLE, metavar="CODE", help=", ".join(_REDRIVABLE))
    redrive.add_argument(
        "--older-than",
        type=age_seconds,
        metavar="AGE",
        help="only jobs that failed at least this long ago, as 90s, 15m, 2h or 3d; without --code, only those"
        " whose attempts were exhausted",
    )
    redrive.add_argument(
        "--pace", type=per_second, default=DEFAULT_PER_SECOND, metavar="N/s", help="(%(default)g/s)"
    )
    redrive.add_argument("--dry-run", action="store_true", help="name the jobs and change nothing")


def _add_tokens(commands: Any) -> None:
    tokens = commands.add_parser("tokens", help="bearer tokens of clients").add_subparsers(
        dest="action", required=True, metavar="ACTION"
    )
    _add(tokens, "create", "make a token; it is shown once").add_argument("owner", help="whose it is")
    _add(tokens, "list", "the tokens, without their secrets")
    ending = _add(tokens, "revoke", "end a token; the gateway forgets it within minutes", changes=True)
    ending.add_argument("token_id", metavar="ID")


def _check_redrive(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    by_rule = options.code is not None or options.older_than is not None
    if bool(options.job_ids) == by_rule:
        parser.error("redrive what? Give job ids, or --code and --older-than")


def _add(commands: Any, name: str, text: str, *, changes: bool = False) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    _add_common(command, argparse.SUPPRESS)
    if changes:
        command.add_argument("--yes", action="store_true", help="change without asking")
    return command


def _add_common(parser: argparse.ArgumentParser, default: Any) -> None:
    """Twice, so that both places work: the inner one must not undo what the outer one has read."""
    parser.add_argument("--stage", choices=STAGES, default=default, help="a stage that is deployed")
    parser.add_argument("--local", action="store_true", default=default, help="the stack of `make local`")
    parser.add_argument(
        "--json", action="store_true", default=default, help="one JSON document, for programs"
    )


def _add_limit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--limit", type=_positive, default=200, help="how many copies to look at (%(default)s)"
    )


def age_seconds(text: str) -> int:
    matched = re.fullmatch(r"([0-9]{1,6})([smhd])", text)
    if matched is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no age: write 90s, 15m, 2h or 3d")
    return int(matched[1]) * _UNIT_SECONDS[matched[2]]


def per_second(text: str) -> float:
    matched = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(?:/s)?", text)
    if matched is None or float(matched[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no pace: write 5/s or 0.5/s")
    return float(matched[1])


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def _job_id(text: str) -> str:
    if not is_job_id(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no job's id: they look like img_01J…")
    return text


def _status(text: str) -> Status:
    try:
        return Status(text.upper())
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no status: {', '.join(Status)}") from None
