"""Every problem type that this API answers, once: what its page, its documents and the OpenAPI text say.

The gateway in front of the function and the front of the local stack answer some of them by themselves; their
pages are here too, since a `type` URI must resolve whoever has sent it.
"""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "/v1/problems/"


@dataclass(frozen=True, slots=True)
class ProblemType:
    """`status` is the usual one; `meaning` and `remedy` are whole sentences for the client's developer."""

    status: int
    title: str
    meaning: str
    remedy: str


_REQUEST = {
    "bad_idempotency_key": ProblemType(
        400,
        "Missing or malformed Idempotency-Key",
        "The header Idempotency-Key is missing, empty, longer than 255 characters, or neither one bare token"
        " nor one quoted string.",
        "Send one key of 1 to 255 printable ASCII characters, a fresh UUID for each new picture.",
    ),
    "bad_parameter": ProblemType(
        400,
        "Bad query parameter",
        "A query parameter has a value that it cannot have, or was given twice.",
        "Correct the parameter that the detail names.",
    ),
    "malformed_body": ProblemType(
        400,
        "Malformed body",
        "The body is not the JSON document that this request takes.",
        "Send the document that the OpenAPI description shows, as application/json.",
    ),
    "unknown_preset": ProblemType(
        400,
        "Unknown preset",
        "The parameter presets names one that this stage does not define.",
        "Ask for presets that the detail lists, or for none: the default thumbnail is always made.",
    ),
    "too_large": ProblemType(
        413,
        "Too large",
        "The picture has more bytes than this way of sending it takes.",
        "Send a picture above the inline limit by way of POST /v1/uploads; nothing takes one above the limit"
        " of uploads.",
    ),
    "unsupported_type": ProblemType(
        415,
        "Unsupported type",
        "The declared type is none of a picture, or the content is of a kind that is not decoded.",
        "Send a picture of a kind that the detail lists, as image/*, as application/octet-stream or without a"
        " type.",
    ),
    "idempotency_key_reused": ProblemType(
        422,
        "Idempotency-Key reused",
        "The key was used within its lifetime for another picture, type, set of presets or deadline.",
        "Send a fresh key for another request; repeat the very same request under the same key.",
    ),
    "bad_request": ProblemType(
        400,
        "Bad request",
        "The gateway in front of the service refused the request.",
        "Correct the request as the detail says.",
    ),
}
_ACCESS = {
    "invalid_token": ProblemType(
        401,
        "Not authenticated",
        "The request carries no bearer token, or one that is unknown or revoked.",
        "Send `Authorization: Bearer TOKEN` with a token that the service's operator gave you.",
    ),
    "unauthenticated": ProblemType(
        403,
        "Not authenticated",
        "The request is not signed.",
        "Sign it with AWS Signature Version 4 for the service execute-api.",
    ),
    "invalid_signature": ProblemType(
        403,
        "Invalid signature",
        "The request's signature does not match.",
        "Check the secret key, the region and the clock.",
    ),
    "expired_token": ProblemType(
        403,
        "Expired credentials",
        "The credentials that signed the request have expired.",
        "Get new ones and sign the request again.",
    ),
    "access_denied": ProblemType(
        403,
        "Access denied",
        "The caller is known but may not call this API.",
        "Ask the operator for access (execute-api:Invoke).",
    ),
    "too_many_requests": ProblemType(
        429,
        "Too many requests",
        "You, or all callers together, have sent more requests than are admitted for now.",
        "Wait for as long as Retry-After says and send the same request again; RateLimit tells what is left.",
    ),
    "too_many_open_jobs": ProblemType(
        429,
        "Too many open jobs",
        "So many of your jobs are still open that no new one is accepted.",
        "Wait until some of them have finished, then send the same request again.",
    ),
}
_RESOURCES = {
    "route_not_found": ProblemType(
        404,
        "No such resource",
        "Nothing is served at this path.",
        "Follow the links that answers give, or see /v1/openapi.json.",
    ),
    "job_not_found": ProblemType(
        404,
        "No such job",
        "No job of yours has this id; another owner's job looks the same.",
        "Use the Location of the answer that accepted the picture.",
    ),
    "preset_not_found": ProblemType(
        404,
        "No such thumbnail",
        "The job owes no thumbnail of this name.",
        "Use the links in the job's results.",
    ),
    "upload_not_found": ProblemType(
        404,
        "No such upload",
        "No upload of yours has this id, its picture has not arrived, or it was left uncommitted for a day.",
        "Send the picture with the form that POST /v1/uploads gave you, or begin another upload.",
    ),
    "cursor_not_found": ProblemType(
        404,
        "No such place in the list",
        "The cursor was changed, or was given to another owner or for another status.",
        "Use the link next as it is, or begin at the first page without a cursor.",
    ),
    "method_not_allowed": ProblemType(
        405, "Method not allowed", "The resource does not know this method.", "Use one that Allow lists."
    ),
    "not_ready": ProblemType(
        409,
        "No thumbnail yet",
        "The job is still open, or has failed.",
        "See the job's state at the link job; while it is open, try again after Retry-After.",
    ),
    "upload_changed": ProblemType(
        409,
        "The upload changed",
        "The upload was replaced while it was being committed.",
        "Send the picture once for each upload, then repeat the request under the same key.",
    ),
    "upload_mismatch": ProblemType(
        422,
        "Not what was announced",
        "The content of the upload does not have the announced SHA-256.",
        "Begin another upload, with the checksum of the bytes that you send.",
    ),
    "job_gone": ProblemType(
        410,
        "Deleted",
        "The job and its thumbnails were deleted, by you or at the end of their retention.",
        "Submit the picture again under a fresh key if you need it.",
    ),
}
_PICTURES = {
    "empty": ProblemType(422, "Empty picture", "There are no bytes.", "Send the picture's bytes."),
    "not_an_image": ProblemType(
        422, "Not an image", "The content is no picture of any known kind.", "Send a picture."
    ),
    "too_many_pixels": ProblemType(
        422, "Too many pixels", "The picture has more pixels than are decoded.", "Send a smaller version."
    ),
    "too_many_frames": ProblemType(
        422, "Too many frames", "The animation has more frames than are read.", "Send a shorter one."
    ),
    "too_complex": ProblemType(
        422,
        "Too costly to decode",
        "Decoding the picture takes more time or memory than one picture may.",
        "Save it again in a simpler form, such as a baseline JPEG.",
    ),
    "truncated": ProblemType(422, "Truncated image", "The picture ends too early.", "Send the whole file."),
    "corrupt": ProblemType(
        422, "Corrupt image", "The picture is damaged.", "Save it again from its source and send that."
    ),
    "original_missing": ProblemType(
        500,
        "Original missing",
        "The stored picture was gone when its turn came.",
        "Submit the picture again under a fresh key.",
    ),
    "bad_message": ProblemType(
        500,
        "Internal message rejected",
        "The service could not read its own order for this job.",
        "Nothing is wrong with the picture; the operator has been told. Submit it again under a fresh key.",
    ),
    "attempts_exhausted": ProblemType(
        500,
        "Attempts exhausted",
        "Every attempt at the picture ended in a fault of the service.",
        "The operator has been told and can run the job again; it keeps its id.",
    ),
    "expired": ProblemType(
        504, "Deadline passed", "The job's deadline passed before it was done.", "Submit the picture again."
    ),
    "deleted": ProblemType(
        410, "Deleted", "You deleted the job.", "Submit the picture again if you need it."
    ),
}
_SERVICE = {
    "internal": ProblemType(
        500,
        "Internal error",
        "Something went wrong on the service's side; what came of the request is unknown.",
        "Send the same request under the same Idempotency-Key again: it gives one job at most.",
    ),
    "unavailable": ProblemType(
        503,
        "Temporarily unavailable",
        "Something that the service depends on does not answer; what came of the request is unknown.",
        "Send the same request under the same Idempotency-Key again after Retry-After.",
    ),
    "gateway_timeout": ProblemType(
        504,
        "Gateway timeout",
        "The service did not answer the gateway in time; what came of the request is unknown.",
        "Send the same request under the same Idempotency-Key again.",
    ),
    "gateway_failure": ProblemType(
        504,
        "Gateway failure",
        "The gateway could not reach the service; what came of the request is unknown.",
        "Send the same request under the same Idempotency-Key again.",
    ),
}
_LOCAL = {
    "starting": ProblemType(503, "Starting", "The local stack is still starting.", "Try again in a moment."),
    "not_found": ProblemType(
        404, "Not found", "The local stack answers below /v1/ only.", "Correct the path."
    ),
    "emulator_unavailable": ProblemType(
        503,
        "Emulator unavailable",
        "The local stack's emulator does not answer; what came of the request is unknown.",
        "See whether the local stack runs, and send the same request again.",
    ),
}
PROBLEM_SECTIONS = {
    "The request": _REQUEST,
    "Access": _ACCESS,
    "Resources": _RESOURCES,
    "Pictures": _PICTURES,
    "The service": _SERVICE,
    "The local stack alone": _LOCAL,
}
PROBLEM_TYPES = {code: found for section in PROBLEM_SECTIONS.values() for code, found in section.items()}
