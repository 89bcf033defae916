"""Names of tables' keys and indexes: read by the adapters that use them and the stack that makes them."""

JOBS_KEY = "job_id"
JOBS_TTL = "expires_at"

DUE_INDEX = "due"
"""Sparse: only rows with a due check carry both keys. Keys only, so that heartbeats never write it."""
DUE_INDEX_SHARD = "check_shard"
DUE_INDEX_TIME = "next_check_at"
DUE_SHARDS = 8
"""How many partitions each phase of a job has in the due index; a reconciler pass queries each."""

OWNER_INDEX = "by_owner"
"""Listing, newest first: job ids sort by time."""
OWNER_INDEX_OWNER = "owner"
OWNER_INDEX_ATTRIBUTES = ("status", "created_at", "finished_at", "deleted_at")

IDEMPOTENCY_KEY = "record_id"
IDEMPOTENCY_TTL = "expires_at"

ORIGINALS_PREFIX = "originals/"
THUMBNAILS_PREFIX = "thumbnails/"
