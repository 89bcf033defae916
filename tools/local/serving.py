"""A web application on a thread of its own, so that the steps of a start can stay plain, blocking code."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aiohttp import web

from tools.local.refusals import ProblemHandler

_SHUTDOWN_SECONDS = 1.0


@contextmanager
def serving(application: web.Application, listener: socket.socket, *, log: Path) -> Iterator[None]:
    """Serves `application` on `listener` until the block ends; closes the listener."""
    loop = asyncio.new_event_loop()
    runner = web.AppRunner(application, shutdown_timeout=_SHUTDOWN_SECONDS)
    with _logged(log):
        server = loop.run_until_complete(_start(runner, listener))
        thread = threading.Thread(target=loop.run_forever, name="thumbline-front", daemon=True)
        thread.start()
        try:
            yield
        finally:
            asyncio.run_coroutine_threadsafe(_stop(runner, server), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()
            listener.close()


async def _start(runner: web.AppRunner, listener: socket.socket) -> asyncio.Server:
    """Without a site of aiohttp's, which would make a handler of its own for each connection."""
    await runner.setup()
    manager = runner.server
    assert manager is not None
    loop = asyncio.get_running_loop()
    return await loop.create_server(
        lambda: ProblemHandler(manager, loop=loop, auto_decompress=False), sock=listener
    )


async def _stop(runner: web.AppRunner, server: asyncio.Server) -> None:
    server.close()
    await runner.cleanup()
    # Whoever still waits for an answer that cannot come any more.
    abandoned = asyncio.all_tasks() - {asyncio.current_task()}
    for task in abandoned:
        task.cancel()
    await asyncio.gather(*abandoned, return_exceptions=True)


@contextmanager
def _logged(log: Path) -> Iterator[None]:
    """What the front and aiohttp have to say goes to `log`, not between the lines of a terminal."""
    handler = logging.FileHandler(log, mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    loggers = [logging.getLogger("thumbline.front"), logging.getLogger("aiohttp")]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
            logger.propagate = True
        handler.close()
