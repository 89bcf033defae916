"""From what a file is to how it is decoded."""

from __future__ import annotations

from thumbline.adapters.pillow.formats import SOURCE_FORMATS, SourceFormat
from thumbline.domain.signatures import recognise

_BY_NAME = {source_format.name: source_format for source_format in SOURCE_FORMATS}


def identify(data: bytes) -> SourceFormat:
    """The format to decode with. Raises PermanentError: empty, unsupported_type or not_an_image."""
    return _BY_NAME[recognise(data).name]
