"""The routes: each calls one use case and shapes its answer."""

from __future__ import annotations

import json

from functions.ingest_api import collection_views, problems, requests, views
from functions.ingest_api.announcements import JSON as JSON_TYPE
from functions.ingest_api.announcements import announcement, committed_upload
from functions.ingest_api.answers import JSON, NO_STORE, Answer, etag_of, matches, revalidated
from functions.ingest_api.openapi.document import openapi_text
from functions.ingest_api.pages import MEDIA_TYPE as PAGE_TYPE
from functions.ingest_api.pages import problem_page
from functions.ingest_api.problem_types import PROBLEM_TYPES
from functions.ingest_api.problems import ProblemError
from functions.ingest_api.requests import Request
from functions.ingest_api.router import Route, Router
from thumbline.bootstrap.ingest_api import Ingest
from thumbline.domain.cursors import CursorError, seal, unseal
from thumbline.domain.job import Status
from thumbline.ports.objects import FetchMethod
from thumbline.service.accept_image import Submission, accept_image
from thumbline.service.accept_job import Accepted
from thumbline.service.begin_upload import begin_upload
from thumbline.service.commit_upload import UploadSubmission, commit_upload
from thumbline.service.delete_job import delete_job
from thumbline.service.list_jobs import list_jobs
from thumbline.service.read_job import find_thumbnail, read_job

CURSOR_SECRET = "cursors"
LARGEST_PAGE = 100
USUAL_PAGE = 25
_PUBLIC = {"Cache-Control": "public, max-age=3600"}
_REVALIDATE = {"Cache-Control": "private, no-cache"}


def post_image(request: Request, ingest: Ingest) -> Answer:
    """A picture, or the id of an upload. The cheapest checks come first."""
    committing = request.content_type() == JSON_TYPE
    declared = "" if committing else requests.picture_type(request)
    key = requests.idempotency_key(request)
    presets = requests.owed_presets(request, ingest.settings.presets)
    deadline = request.query_number("deadline_seconds", ingest.settings.timings.deadline_seconds)
    owner = _owner(request, ingest)
    if committing:
        upload = UploadSubmission(
            owner=owner,
            idempotency_key=key,
            upload_id=committed_upload(request),
            presets=presets,
            deadline_seconds=deadline,
        )
        limit_bytes = ingest.settings.upload_limit_bytes
        return _accepted(commit_upload(upload, ingest.acceptance, ingest.uploads, limit_bytes), ingest)
    submission = Submission(
        owner=owner,
        idempotency_key=key,
        content_type=declared,
        body=requests.picture(request, ingest.settings),
        presets=presets,
        deadline_seconds=deadline,
    )
    return _accepted(accept_image(submission, ingest.acceptance), ingest)


def post_upload(request: Request, ingest: Ingest) -> Answer:
    announced = announcement(request, ingest.settings.upload_limit_bytes)
    begun = begin_upload(
        announced,
        _owner(request, ingest),
        signer=ingest.uploads,
        clock=ingest.acceptance.clock,
        ids=ingest.acceptance.ids,
    )
    return Answer(201, JSON, json.dumps(collection_views.upload_document(begun)), NO_STORE)


def get_jobs(request: Request, ingest: Ingest) -> Answer:
    status = _status(request)
    limit = request.query_number("limit", LARGEST_PAGE) or USUAL_PAGE
    owner = _owner(request, ingest)
    cursor = request.query("cursor")
    secret = ingest.access.secret(CURSOR_SECRET)
    before = None
    if cursor is not None:
        try:
            before = unseal(cursor, owner=owner, status=status, secret=secret)
        except CursorError as error:
            raise ProblemError(problems.cursor_not_found()) from error
    page = list_jobs(owner, ingest.index, status=status, before=before, limit=limit)
    following = None
    if page.last is not None:
        following = seal(page.last, owner=owner, status=status, secret=secret)
    document = collection_views.listing_document(page, status=status, limit=limit, cursor=following)
    return Answer(200, JSON, json.dumps(document), NO_STORE)


def get_job(request: Request, ingest: Ingest) -> Answer:
    job = read_job(request.parameters["job_id"], _owner(request, ingest), ingest.acceptance.jobs)
    body = json.dumps(views.job_document(job))
    waiting = {"Retry-After": str(ingest.settings.retry_after_seconds)} if job.is_open else {}
    answer = Answer(200, JSON, body, _REVALIDATE | waiting)
    return revalidated(answer, etag_of(body), request.header("If-None-Match"))


def get_thumbnail(request: Request, ingest: Ingest) -> Answer:
    job_id, preset = request.parameters["job_id"], request.parameters["preset"]
    result = find_thumbnail(job_id, preset, _owner(request, ingest), ingest.acceptance.jobs)
    # Whoever keeps the redirect finds its link good for at least as long again.
    fresh_seconds = ingest.settings.signed_url_seconds // 2
    etag = f'"{result.sha256}"'
    headers = {"ETag": etag, "Cache-Control": f"private, max-age={fresh_seconds}"}
    if matches(request.header("If-None-Match"), etag):
        return Answer(304, headers=headers)
    # A signature holds for one method, and a redirected HEAD is a HEAD again.
    method: FetchMethod = "HEAD" if request.method == "HEAD" else "GET"
    url = ingest.signer.sign(result.key, result.type, ingest.settings.signed_url_seconds, method)
    return Answer(302, headers=headers | {"Location": url})


def delete_image(request: Request, ingest: Ingest) -> Answer:
    delete_job(request.parameters["job_id"], _owner(request, ingest), ingest.deletion)
    return Answer(204, headers=NO_STORE)


def get_openapi(request: Request, ingest: Ingest) -> Answer:
    text = openapi_text(ingest.settings)
    return revalidated(Answer(200, JSON, text, _PUBLIC), etag_of(text), request.header("If-None-Match"))


def get_problem(request: Request, _ingest: Ingest) -> Answer:
    code = request.parameters["code"]
    if code not in PROBLEM_TYPES:
        raise ProblemError(problems.route_not_found())
    page = problem_page(code, PROBLEM_TYPES[code])
    return revalidated(Answer(200, PAGE_TYPE, page, _PUBLIC), etag_of(page), request.header("If-None-Match"))


ROUTER = Router(
    (
        Route("POST", "/images", post_image),
        Route("GET", "/images/{job_id}/{preset}", get_thumbnail),
        Route("DELETE", "/images/{job_id}", delete_image),
        Route("POST", "/uploads", post_upload),
        Route("GET", "/jobs", get_jobs),
        Route("GET", "/jobs/{job_id}", get_job),
        Route("GET", "/openapi.json", get_openapi, metered=False),
        Route("GET", "/problems/{code}", get_problem, metered=False),
    )
)


def _owner(request: Request, ingest: Ingest) -> str:
    return request.owner(ingest.settings.owner_source)


def _status(request: Request) -> Status | None:
    text = request.query("status")
    if text is None:
        return None
    try:
        return Status(text)
    except ValueError as error:
        raise ProblemError(problems.bad_parameter("status", "one of " + ", ".join(Status))) from error


def _accepted(accepted: Accepted, ingest: Ingest) -> Answer:
    headers = {
        "Location": views.job_link(accepted.job_id),
        "Retry-After": str(ingest.settings.retry_after_seconds),
        **NO_STORE,
    }
    if accepted.replayed:
        headers["Idempotency-Replayed"] = "true"
    return Answer(202, JSON, json.dumps({"job_id": accepted.job_id, "status": Status.QUEUED.value}), headers)
