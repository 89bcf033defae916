"""Brings a finished small picture to sRGB: by its profile where it has a usable one."""

from __future__ import annotations

from io import BytesIO

from PIL import Image, ImageCms

_MODE_OF_PROFILE = {"GRAY": "L", "RGB ": "RGB", "CMYK": "CMYK"}
"""The profile's colour space signature → the mode of the pixels that it describes."""

IGNORED = "The colour profile could not be used and was ignored."


class ToSrgb:
    """One picture's conversion. `notes` tells what a person should know about it."""

    def __init__(self, profile: bytes | None, mode: str) -> None:
        """`mode`: L, RGB or CMYK, the pixels without their alpha."""
        self._transform: ImageCms.ImageCmsTransform | None = None
        self._profile_mode = mode
        self.notes: tuple[str, ...] = ()
        if profile is None:
            return
        try:
            self._use(profile, mode)
        except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
            # Little CMS refuses it: damaged, or for another colour space than the pixels have.
            self._transform = None
            self.notes = (IGNORED,)

    def _use(self, profile: bytes, mode: str) -> None:
        source = ImageCms.ImageCmsProfile(BytesIO(profile))
        space = source.profile.xcolor_space
        self._profile_mode = _MODE_OF_PROFILE.get(space, "")
        if not self._profile_mode or (self._profile_mode == "CMYK") != (mode == "CMYK"):
            raise ValueError(f"a profile for {space} does not describe {mode} pixels")
        self._transform = ImageCms.buildTransform(
            source,
            ImageCms.createProfile("sRGB"),
            self._profile_mode,
            "RGB",
            renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC,
            flags=ImageCms.Flags.BLACKPOINTCOMPENSATION,
        )

    def apply(self, image: Image.Image) -> Image.Image:
        """L, LA, RGB, RGBA or CMYK in; L, LA, RGB or RGBA out, in sRGB, alpha untouched."""
        if self._transform is None:
            return image.convert("RGB") if image.mode == "CMYK" else image
        alpha = image.getchannel("A") if image.mode in ("LA", "RGBA") else None
        pixels = image if image.mode == self._profile_mode else image.convert(self._profile_mode)
        converted = ImageCms.applyTransform(pixels, self._transform)
        assert converted is not None
        if self._profile_mode == "L":
            converted = converted.convert("L")
        if alpha is not None:
            converted.putalpha(alpha)
        return converted
