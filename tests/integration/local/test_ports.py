"""Which port the front gets."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from tools.local import ports
from tools.local.errors import LocalStackError, PortTakenError


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        yield ports.port_of(holder)


def test_the_preferred_port_is_taken_when_it_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    preferred = ports.free_port()
    monkeypatch.setattr(ports, "PREFERRED_FRONT_PORT", preferred)

    with closing(ports.bind_front(None)) as listener:
        assert listener.getsockname() == ("127.0.0.1", preferred)


def test_another_port_is_found_when_the_preferred_one_is_taken(
    monkeypatch: pytest.MonkeyPatch, taken_port: int
) -> None:
    monkeypatch.setattr(ports, "PREFERRED_FRONT_PORT", taken_port)

    with closing(ports.bind_front(None)) as listener:
        assert ports.port_of(listener) != taken_port


def test_a_requested_port_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    requested = ports.free_port()
    monkeypatch.setattr(ports, "PREFERRED_FRONT_PORT", ports.free_port())

    with closing(ports.bind_front(str(requested))) as listener:
        assert ports.port_of(listener) == requested


def test_a_requested_port_that_is_taken_is_reported(taken_port: int) -> None:
    with pytest.raises(PortTakenError, match=f"^Port {taken_port} on 127.0.0.1 is taken: .*THUMBLINE_PORT.$"):
        ports.bind_front(str(taken_port))


@pytest.mark.parametrize("text", ["0", "65536", "http", "-1", "8080 ", "\u0663"])
def test_what_is_no_port_number_is_reported(text: str) -> None:
    with pytest.raises(LocalStackError, match="must be a port number from 1 to 65535"):
        ports.bind_front(text)
