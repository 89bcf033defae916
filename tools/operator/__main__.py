"""`thumbline`: one command in, one answer out. The exit statuses are documented in docs/operator.md."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from thumbline.domain.errors import DependencyUnavailableError, FailureCode
from tools.local.paths import Paths
from tools.operator.arguments import parse
from tools.operator.console import Console, ask_on_terminal
from tools.operator.dead_letters import discard_copies, list_copies, show_copy
from tools.operator.errors import NotConfirmedError, OperatorError
from tools.operator.jobs import explain, list_jobs, show_job
from tools.operator.reconcile import preview
from tools.operator.redrive import Wanted, redrive
from tools.operator.stage import Stage, open_deployed, open_local
from tools.operator.tokens import create_token, list_tokens, revoke

NOT_DONE, NOT_CONFIRMED, INTERRUPTED = 1, 3, 130


def main(arguments: list[str] | None = None, *, state_file: Path | None = None) -> int:
    options = parse(arguments)
    console = Console(
        say=print,
        ask=ask_on_terminal if sys.stdin is not None and sys.stdin.isatty() else None,
        as_json=bool(options.json),
        agreed=getattr(options, "yes", False),
    )
    try:
        run(options, _open(options, state_file or Paths.default().state_file), console)
    except NotConfirmedError as error:
        print(error, file=sys.stderr)
        return NOT_CONFIRMED
    except OperatorError as error:
        print(error, file=sys.stderr)
        return NOT_DONE
    except DependencyUnavailableError as error:
        print(f"AWS did not do its part ({error}): try again, or check your permissions.", file=sys.stderr)
        return NOT_DONE
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return INTERRUPTED
    return 0


def _open(options: argparse.Namespace, state_file: Path) -> Stage:
    return open_local(state_file) if options.local else open_deployed(options.stage)


def run(options: argparse.Namespace, stage: Stage, console: Console) -> None:
    """Raises OperatorError, NotConfirmedError and DependencyUnavailableError."""
    match options.command, getattr(options, "action", None):
        case "jobs", "show":
            show_job(options.job_id, stage, console)
        case "jobs", "why":
            explain(options.job_id, stage, console)
        case "jobs", "list":
            list_jobs(options.status, options.limit, stage, console)
        case "dlq", "list":
            list_copies(options.limit, stage, console)
        case "dlq", "show":
            show_copy(options.name, options.limit, stage, console)
        case "dlq", "discard":
            discard_copies(options.names, options.limit, stage, console)
        case "redrive", _:
            redrive(
                Wanted(
                    job_ids=options.job_ids,
                    code=None if options.code is None else FailureCode(options.code),
                    older_than_seconds=options.older_than,
                ),
                stage,
                console,
                dry_run=options.dry_run,
                per_second=options.pace,
            )
        case "tokens", "create":
            create_token(options.owner, stage, console)
        case "tokens", "list":
            list_tokens(stage, console)
        case "tokens", "revoke":
            revoke(options.token_id, stage, console)
        case "reconcile", _:
            preview(stage, console)


if __name__ == "__main__":
    sys.exit(main())
