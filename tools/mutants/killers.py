"""The files whose tests kill mutants; a name in front of each, since node ids are long."""

from __future__ import annotations

ACCEPT_IMAGE = "tests/unit/service/test_accept_image.py::"
BAD_MESSAGES = "tests/unit/service/test_bad_messages.py::"
HEARTBEAT = "tests/unit/service/test_heartbeat.py::"
PROCESS_BATCH = "tests/unit/service/test_process_batch.py::"
RECONCILE = "tests/unit/service/test_reconcile.py::"
RECONCILE_LEFTOVERS = "tests/unit/service/test_reconcile_leftovers.py::"
REDRIVE_AND_DELETE = "tests/unit/service/test_redrive_and_delete.py::"
RELAY_OUTBOX = "tests/unit/service/test_relay_outbox.py::"
STILL_SO = "tests/simulation/test_still_so.py::"
TRANSITIONS = "tests/unit/domain/test_transitions.py::"
UNDER_LOAD = "tests/unit/service/test_reconcile_under_load.py::"
