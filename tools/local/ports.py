"""Loopback ports: the one that was asked for, the preferred one, or any that is free."""

from __future__ import annotations

import socket

from tools.local.errors import LocalStackError, PortTakenError

LOOPBACK = "127.0.0.1"
PREFERRED_FRONT_PORT = 8080
PORT_VARIABLE = "THUMBLINE_PORT"


def bind_front(requested: str | None) -> socket.socket:
    """A bound, listening socket: `requested` (the text of THUMBLINE_PORT), else 8080, else any free port.

    Raises PortTakenError when the requested port is in use and LocalStackError when it is not a port number.
    """
    if requested:
        return _bind_requested(requested)
    try:
        return _listen(PREFERRED_FRONT_PORT)
    except OSError:
        return bind_any()


def bind_any() -> socket.socket:
    """Bound and listening on any free port."""
    return _listen(0)


def free_port() -> int:
    """A port that nobody listens on right now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((LOOPBACK, 0))
        return port_of(probe)


def port_of(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])


def _bind_requested(requested: str) -> socket.socket:
    if not (requested.isascii() and requested.isdigit() and 1 <= int(requested) <= 65535):
        raise LocalStackError(f"{PORT_VARIABLE} must be a port number from 1 to 65535, not {requested!r}.")
    try:
        return _listen(int(requested))
    except PermissionError as error:
        raise PortTakenError(f"Port {requested} needs privileges: choose one above 1023.") from error
    except OSError as error:
        raise PortTakenError(
            f"Port {requested} on {LOOPBACK} is taken: stop what uses it or choose another {PORT_VARIABLE}."
        ) from error


def _listen(port: int) -> socket.socket:
    return socket.create_server((LOOPBACK, port), backlog=128)
