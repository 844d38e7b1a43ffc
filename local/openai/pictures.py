"""Pictures in a chat request: checked as OpenAI does, and described as far as possible without seeing them."""

import base64
import binascii
import re
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from local.openai.errors import ModelApiError, invalid_type, invalid_value, missing_parameter

_PNG = b"\x89PNG\r\n\x1a\n"
_DATA_URL = re.compile(r"data:image/(png|jpeg|jpg|webp|gif);base64,(.*)", re.DOTALL)
_DETAILS = ("auto", "low", "high", "original")
_CAPTION = re.compile(r'"(.+)"', re.DOTALL)
_PATCH = 32  # pixels; one patch is one token (developers.openai.com, "Images and vision", read on 2026-11-23)
_MAX_PATCHES = 1_536


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture's size in pixels (0 where its format is not read here)."""

    width: int
    height: int

    @property
    def tokens(self) -> int:
        """About how many tokens it costs."""
        patches = -(-self.width // _PATCH) * -(-self.height // _PATCH)
        return min(max(1, patches), _MAX_PATCHES)


def pictures_in(messages: Sequence[Mapping[str, Any]]) -> Iterator[Picture]:
    """Yield the pictures of messages whose form was checked. Raises `ModelApiError` with OpenAI's message."""
    for position, message in enumerate(messages):
        content = message.get("content")
        for number, part in enumerate(content if isinstance(content, list) else ()):
            if isinstance(part, dict) and part.get("type") == "image_url":
                yield _picture(part.get("image_url"), f"messages[{position}].content[{number}].image_url")


def description(texts: Sequence[str], pictures: Sequence[Picture]) -> str:
    """Say what is known about pictures without seeing them: their size, and the caption in the prompt."""
    sizes = ", ".join(f"{picture.width} by {picture.height} pixels" for picture in pictures)
    caption = _CAPTION.search(texts[-1]) if texts else None
    about = f" Its caption says: {caption[1]}" if caption else ""
    return f"A picture of {sizes}. The laptop's model does not see; a vision model would say what is shown.{about}"


def _picture(value: object, path: str) -> Picture:
    if not isinstance(value, dict):
        raise invalid_type(path, "an object", value)
    url, detail = value.get("url"), value.get("detail", "auto")
    if url is None:
        raise missing_parameter(f"{path}.url")
    if detail not in _DETAILS:
        raise invalid_value(f"{path}.detail", f"Invalid value: '{detail}'. Supported values are: 'auto', 'low', …")
    found = _DATA_URL.fullmatch(url) if isinstance(url, str) else None
    if found is None:
        message = "Invalid image URL: the emulator takes data URLs of PNG, JPEG, GIF and WebP only."
        raise ModelApiError(400, message, param=f"{path}.url", code="invalid_image_url")
    try:
        data = base64.b64decode(found[2], validate=True)
    except binascii.Error:
        data = b""
    if found[1] == "png":
        return _png(data, path)
    if not data:
        raise _not_an_image(path)
    return Picture(0, 0)


def _png(data: bytes, path: str) -> Picture:
    """Read a PNG's size, after checking every chunk's sum and that its pixels are all there."""
    at, pixels, size = len(_PNG), b"", (0, 0)
    if not data.startswith(_PNG):
        raise _not_an_image(path)
    try:
        while at < len(data):
            (length,) = struct.unpack_from(">I", data, at)
            kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
            (checksum,) = struct.unpack_from(">I", data, at + 8 + length)
            if zlib.crc32(kind + body) != checksum:
                raise _not_an_image(path)
            if kind == b"IHDR":
                size = struct.unpack_from(">II", body)
            pixels += body if kind == b"IDAT" else b""
            at += 12 + length
        is_whole = len(zlib.decompress(pixels)) > size[0] * size[1] // 8
    except (struct.error, zlib.error):
        is_whole = False
    if not is_whole or not all(size):
        raise _not_an_image(path)
    return Picture(*size)


def _not_an_image(path: str) -> ModelApiError:
    message = "You uploaded an unsupported image. Please make sure your image is valid."
    return ModelApiError(400, message, param=f"{path}.url", code="invalid_image_format")
