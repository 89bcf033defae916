"""One key, one job: whatever a client repeats."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor

from tests.e2e.conftest import CLIENTS, Sender
from tests.e2e.pictures import transparent_png
from tools.client import ImageApi
from tools.demo.pictures import SAMPLE


def test_a_replay_gives_the_same_answer_and_says_so(api: ImageApi, sender: Sender) -> None:
    key = f"e2e-{uuid.uuid4()}"
    first = sender.post(SAMPLE.read_bytes(), key=key)
    replay = api.post_image(SAMPLE.read_bytes(), key=f'"{key}"', content_type="image/jpeg")

    assert replay.status == 202
    assert replay.location == first
    assert replay.headers["Idempotency-Replayed"] == "true"


def test_another_picture_with_the_same_key_is_refused_and_changes_nothing(
    api: ImageApi, sender: Sender
) -> None:
    key = f"e2e-{uuid.uuid4()}"
    url = sender.post(SAMPLE.read_bytes(), key=key)
    answer = api.post_image(transparent_png(), key=key, content_type="image/png")

    assert answer.status == 422
    assert answer.problem is not None
    assert answer.problem.code == "idempotency_key_reused"
    assert sender.follow(url).document["byte_length"] == SAMPLE.stat().st_size


def test_one_key_many_times_at_once_is_one_job(sender: Sender) -> None:
    key = f"e2e-{uuid.uuid4()}"
    picture = SAMPLE.read_bytes()
    with ThreadPoolExecutor(CLIENTS) as clients:
        urls = set(clients.map(lambda _: sender.post(picture, key=key), range(CLIENTS)))

    (url,) = urls
    assert sender.follow(url).status == "SUCCEEDED"
