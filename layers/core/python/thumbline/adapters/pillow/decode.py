"""The only place where a decoder touches an original's bytes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from io import BytesIO

from PIL import Image

from thumbline.adapters.pillow.admission import needed_memory_bytes
from thumbline.adapters.pillow.formats import SourceFormat
from thumbline.adapters.pillow.framing import Size
from thumbline.adapters.pillow.sandbox import near_memory_limit
from thumbline.adapters.pillow.source import Source
from thumbline.domain.errors import FailureCode, PermanentError

_SUSPICIOUS_SHARE = 0.75
"""A decoder out of memory may call the data broken: above this share of the limit it is not believed."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """`width` and `height` are the exact extent of the source in the decoded pixels.

    A JPEG shrunk while decoding is rounded up to whole pixels, so its extent is a fraction smaller than
    the image; resizing by whole sizes instead would shift the picture and leave a line at its edge.
    """

    image: Image.Image
    width: float
    height: float


def limit_pixels(max_pixels: int) -> None:
    """Sets Pillow's own guard, which is global and by itself only warns, to refuse above `max_pixels`."""
    Image.MAX_IMAGE_PIXELS = max_pixels
    warnings.simplefilter("error", Image.DecompressionBombWarning)


def decoded_pixels(source_format: SourceFormat, source: Source, wanted: Size) -> int:
    """How many pixels `decode` will make of it for a target of `wanted` pixels."""
    divisor = _shrink(source, wanted) if source_format.shrinks_while_decoding else 1
    width, height = _coded_size(source)
    return -(-width // divisor) * -(-height // divisor)


def decode(source_format: SourceFormat, source: Source, wanted: Size, memory_bytes: int) -> Decoded:
    """Decodes the whole picture, shrunk by the decoder itself where it can, no smaller than `wanted`.

    Raises PermanentError: corrupt, or too_complex where the data may only seem broken for want of memory.
    """
    try:
        image = _open(source_format, source)
        drafted = image.draft(None, wanted)
        with warnings.catch_warnings():
            # Odd values in tags that do not matter; what matters was checked, or fails.
            warnings.simplefilter("ignore", UserWarning)
            image.load()
        check = source_format.is_complete
        complete = check is None or check(source.essence, image)
    except PermanentError:
        raise
    except MemoryError:
        raise _out_of_memory(source_format) from None
    except Exception as error:
        # Decoders raise whatever the damage provokes: OSError, SyntaxError, IndexError, struct.error …
        needed_bytes = needed_memory_bytes(source, decoded_pixels(source_format, source, wanted))
        if needed_bytes > _SUSPICIOUS_SHARE * memory_bytes or near_memory_limit(memory_bytes):
            raise _out_of_memory(source_format) from error
        raise _corrupt(source_format) from error
    if not complete:
        detail = f"The {source_format.label} is truncated: rows of the picture are missing."
        raise PermanentError(FailureCode.TRUNCATED, detail)
    if source.crop is not None:
        image = image.crop(source.crop)
    _, box = drafted or (None, (0, 0, *image.size))
    return Decoded(image, box[2], box[3])


def _open(source_format: SourceFormat, source: Source) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            image = Image.open(BytesIO(source.essence), formats=(source_format.pillow_name,))
    except (OSError, NotImplementedError) as error:
        if source_format.code_when_not_opened is FailureCode.CORRUPT:
            raise
        detail = f"The {source_format.label} stores its pixels in a way that is not supported."
        raise PermanentError(source_format.code_when_not_opened, detail) from error
    if image.size != _coded_size(source):
        raise _corrupt(source_format)
    return image


def _coded_size(source: Source) -> Size:
    if source.decoded_size is not None:
        return source.decoded_size
    if source.frame_box is None:
        return source.width, source.height
    left, top, right, bottom = source.frame_box
    return right - left, bottom - top


def _shrink(source: Source, wanted: Size) -> int:
    """libjpeg's own steps, chosen as `Image.draft` chooses them."""
    factor = min(source.width // wanted[0], source.height // wanted[1])
    return next(step for step in (8, 4, 2, 1) if factor >= step)


def _corrupt(source_format: SourceFormat) -> PermanentError:
    detail = f"The {source_format.label} is corrupt and cannot be decoded."
    return PermanentError(FailureCode.CORRUPT, detail)


def _out_of_memory(source_format: SourceFormat) -> PermanentError:
    detail = f"Decoding this {source_format.label} needs more memory than one picture may use."
    return PermanentError(FailureCode.TOO_COMPLEX, detail)
