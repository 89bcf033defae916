"""What parent and child say to each other: one request, one answer, each a framed message.

A message is two lengths (header, body; 32 bits each), a JSON header, and a body of raw bytes. The parent
does not trust the child, which has parsed a stranger's file: lengths are bounded and every field is
checked, so that a taken-over child can at worst fail its own picture.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from thumbline.domain.errors import FailureCode, PermanentError
from thumbline.domain.presets import Preset
from thumbline.ports.renderer import Rendering, Thumbnail

LENGTHS = struct.Struct(">II")
MAX_HEADER_BYTES = 1 << 20
MAX_BODY_BYTES = 128 << 20


class ProtocolError(Exception):
    """A message that breaks the rules above: the other side can no longer be talked to."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Exactly one of the first three is set. `retiring`: the child takes no further picture."""

    rendering: Rendering | None = None
    refusal: PermanentError | None = None
    defect: str | None = None
    """The traceback of an error that nothing in a picture should be able to cause."""
    retiring: bool = False


def lengths(prefix: bytes) -> tuple[int, int]:
    """Header and body length in bytes. Raises ProtocolError beyond the bounds."""
    header_bytes, body_bytes = LENGTHS.unpack(prefix)
    if header_bytes > MAX_HEADER_BYTES or body_bytes > MAX_BODY_BYTES:
        raise ProtocolError(f"a message of {header_bytes} + {body_bytes} bytes is out of bounds")
    return header_bytes, body_bytes


def request_parts(original: bytes, presets: Sequence[Preset]) -> tuple[bytes, bytes]:
    return _parts([preset.to_record() for preset in presets], original)


def read_request(header: bytes) -> list[Preset]:
    return [Preset.from_record(record) for record in json.loads(header)]


def answer_parts(answer: Answer) -> tuple[bytes, bytes]:
    record: dict[str, Any] = {"retiring": answer.retiring}
    body = b""
    if answer.rendering is not None:
        record["rendering"] = {
            "source_format": answer.rendering.source_format,
            "width": answer.rendering.width,
            "height": answer.rendering.height,
            "dominant_colour": answer.rendering.dominant_colour,
            "placeholder": answer.rendering.placeholder,
            "notes": answer.rendering.notes,
            "thumbnails": [_thumbnail_record(thumbnail) for thumbnail in answer.rendering.thumbnails],
        }
        body = b"".join(thumbnail.data for thumbnail in answer.rendering.thumbnails)
    elif answer.refusal is not None:
        record["refusal"] = {"code": answer.refusal.code, "detail": answer.refusal.detail}
    else:
        record["defect"] = answer.defect
    return _parts(record, body)


def read_answer(header: bytes, body: bytes) -> Answer:
    """Raises ProtocolError for anything that `answer_parts` would not have written."""
    try:
        record = json.loads(header)
        retiring = bool(record["retiring"])
        if "rendering" in record:
            return Answer(rendering=_rendering(record["rendering"], body), retiring=retiring)
        if "refusal" in record:
            refusal = record["refusal"]
            code = FailureCode(refusal["code"])
            return Answer(refusal=PermanentError(code, str(refusal["detail"])), retiring=retiring)
        return Answer(defect=str(record["defect"]), retiring=retiring)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ProtocolError(f"an answer could not be read: {error!r}") from error


def _parts(header: object, body: bytes) -> tuple[bytes, bytes]:
    text = json.dumps(header, separators=(",", ":")).encode()
    return LENGTHS.pack(len(text), len(body)) + text, body


def _thumbnail_record(thumbnail: Thumbnail) -> dict[str, Any]:
    record = {name: value for name, value in asdict(thumbnail).items() if name not in ("data", "sha256")}
    return record | {"bytes": len(thumbnail.data)}


def _rendering(record: dict[str, Any], body: bytes) -> Rendering:
    thumbnails = []
    position = 0
    for item in record["thumbnails"]:
        data = body[position : position + int(item["bytes"])]
        position += len(data)
        if not data or len(data) != item["bytes"]:
            raise ValueError("the body is shorter than its thumbnails")
        thumbnails.append(
            Thumbnail(
                preset=str(item["preset"]),
                data=data,
                sha256=sha256(data).hexdigest(),
                width=int(item["width"]),
                height=int(item["height"]),
                content_type=str(item["content_type"]),
                extension=str(item["extension"]),
            )
        )
    if position != len(body):
        raise ValueError("the body is longer than its thumbnails")
    return Rendering(
        source_format=str(record["source_format"]),
        width=int(record["width"]),
        height=int(record["height"]),
        thumbnails=tuple(thumbnails),
        dominant_colour=str(record["dominant_colour"]),
        placeholder=str(record["placeholder"]),
        notes=tuple(str(note) for note in record["notes"]),
    )
