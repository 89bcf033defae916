"""The HTTP contract on the deployed stack, beyond one small picture."""

from __future__ import annotations

import hashlib
import json
import uuid
from concurrent.futures import ThreadPoolExecutor

from tests.described import DESCRIPTION
from tests.e2e.conftest import Sender
from tools.client import Answer, ImageApi
from tools.demo.pictures import SAMPLE
from tools.fuzz_api.run import fuzz, run_schemathesis
from tools.local.stack import Stack

DUPLICATES = 50
FUZZ_CASES = 300
SEED = 20_261_130


def test_the_description_that_is_served_is_the_committed_one(api: ImageApi) -> None:
    served = api.get(f"{api.base_url}/openapi.json")
    assert served.text == DESCRIPTION.read_text()


def test_the_page_of_a_problem_is_where_its_type_says(api: ImageApi) -> None:
    problem = api.get(f"{api.base_url}/jobs/nonsense")
    page = api.get(problem.link(problem.json()["type"]))
    assert (page.status, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "job_not_found" in page.text


def test_fifty_duplicates_at_once_are_one_job(stack: Stack, sender: Sender) -> None:
    key, picture = f"e2e-{uuid.uuid4()}", SAMPLE.read_bytes()
    with ImageApi(stack.url, connections=DUPLICATES) as crowd, ThreadPoolExecutor(DUPLICATES) as clients:
        patient = Sender(crowd)
        urls = set(clients.map(lambda _: patient.post(picture, key=key), range(DUPLICATES)))

    (url,) = urls
    assert sender.follow(url).status == "SUCCEEDED"


def test_a_deleted_job_is_gone_and_leaves_the_list(api: ImageApi, sender: Sender) -> None:
    url = sender.post(SAMPLE.read_bytes())
    job = sender.follow(url)
    image = url.replace("/jobs/", "/images/")
    assert api.request("DELETE", image).status == 204

    assert api.get(url).status == 410
    assert api.get(f"{image}/thumbnail").status == 410
    listed = api.get(f"{api.base_url}/jobs?limit=100").json()["jobs"]
    assert job.job_id not in {found["job_id"] for found in listed}


def test_head_and_options_reach_the_function(api: ImageApi) -> None:
    head = api.request("HEAD", f"{api.base_url}/jobs")
    options = api.request("OPTIONS", f"{api.base_url}/uploads")
    assert (head.status, head.body) == (200, b"")
    assert (options.status, options.headers["Allow"]) == (204, "POST, OPTIONS")


def test_a_form_takes_nothing_but_what_was_announced(api: ImageApi) -> None:
    """Size and key; the emulator checks no checksum, so the commit does."""
    announced, other = b"\x89PNG\r\n\x1a\n" + bytes(100), b"\x89PNG\r\n\x1a\n" + bytes(99) + b"x"
    document = {"byte_length": len(announced), "sha256": hashlib.sha256(announced).hexdigest()}
    begun = post_json(api, "uploads", document).json()

    assert send(api, begun["url"], begun["fields"], announced + b"x") == 400
    assert send(api, begun["url"], begun["fields"] | {"key": "uploads/other"}, announced) == 403
    assert send(api, begun["url"], begun["fields"], other) == 204
    refused = post_json(api, "images", {"upload_id": begun["upload_id"]})
    assert (refused.status, refused.json()["code"]) == (422, "upload_mismatch")


def test_no_case_that_schemathesis_makes_up_is_answered_otherwise_than_described(api: ImageApi) -> None:
    outcome = fuzz(api.base_url, FUZZ_CASES, SEED, run_schemathesis)

    assert outcome.failed is None, outcome.failed.output if outcome.failed else ""
    assert outcome.cases >= FUZZ_CASES


def post_json(api: ImageApi, path: str, document: object) -> Answer:
    headers = {"Content-Type": "application/json", "Idempotency-Key": f"e2e-{uuid.uuid4()}"}
    return api.request("POST", f"{api.base_url}/{path}", headers=headers, body=json.dumps(document).encode())


def send(api: ImageApi, url: str, fields: dict[str, str], body: bytes) -> int:
    """The status of a form sent as multipart/form-data, the file last."""
    boundary = uuid.uuid4().hex
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'.encode()
    whole = b"".join([*parts, head, body, f"\r\n--{boundary}--\r\n".encode()])
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    return api.request("POST", url, headers=headers, body=whole).status
