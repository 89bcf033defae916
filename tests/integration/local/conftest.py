"""The rig of everything that is asked of the front."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.local.front_rig import RESPONSES, Rig, Upstream
from tools.client import ImageApi
from tools.local.front import Front, Target
from tools.local.ports import port_of
from tools.local.serving import serving


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    upstream, front = Upstream(), Front()
    upstream_socket = socket.create_server(("127.0.0.1", 0))
    front_socket = socket.create_server(("127.0.0.1", 0))
    emulator_url = f"http://127.0.0.1:{port_of(upstream_socket)}"
    front.target = Target(emulator_url, "abc123", RESPONSES)
    with (
        serving(upstream.application(), upstream_socket, log=tmp_path / "upstream.log"),
        serving(front.application(), front_socket, log=tmp_path / "front.log"),
        ImageApi(f"http://127.0.0.1:{port_of(front_socket)}/v1") as api,
    ):
        yield Rig(upstream, front, api, port_of(front_socket))
