"""The way of a picture that is too large for a request's body: announce, send the signed form, commit."""

from __future__ import annotations

import hashlib
import json
from http import HTTPStatus

from urllib3.filepost import encode_multipart_formdata

from tools.client import Answer, ImageApi

_STORED = frozenset({HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.NO_CONTENT})
_JSON = {"Content-Type": "application/json"}


class UploadError(Exception):
    """The store did not take the form that the API had signed."""


def send_by_upload(api: ImageApi, picture: bytes, content_type: str, key: str) -> Answer:
    """The API's last answer: to the commit, or to the announcement where it refuses that already.

    Raises UploadError and NoAnswerError.
    """
    announcement = {
        "byte_length": len(picture),
        "sha256": hashlib.sha256(picture).hexdigest(),
        "content_type": content_type,
    }
    begun = api.request(
        "POST", f"{api.base_url}/uploads", headers=_JSON, body=json.dumps(announcement).encode()
    )
    if begun.status != HTTPStatus.CREATED:
        return begun
    document = begun.json()
    # The file comes last: a store ignores the fields behind it.
    form = [*document["fields"].items(), ("file", ("picture", picture, content_type))]
    body, form_type = encode_multipart_formdata(form)
    stored = api.request("POST", document["url"], headers={"Content-Type": form_type}, body=body)
    if stored.status not in _STORED:
        raise UploadError(f"the upload was answered with {stored.status}: {stored.text[:200]}")
    return api.request(
        "POST",
        f"{api.base_url}/images",
        headers=_JSON | {"Idempotency-Key": key},
        body=json.dumps({"upload_id": document["upload_id"]}).encode(),
    )
