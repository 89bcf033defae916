"""Reads the boxes of a HEIF container (ISO/IEC 23008-12), which HEIC and AVIF share: items, no pixels."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

Property = tuple[bytes, bytes]
"""A property's kind and its body."""
Span = tuple[int, int]
"""First byte and end, as offsets in the file."""

_TO_SAMPLE_SIZES = frozenset({b"moov", b"trak", b"mdia", b"minf", b"stbl"})


class BrokenBoxError(Exception):
    """A box or a list in one is not as the standard has it."""


@dataclass(slots=True)
class Item:
    """`spans`: where its coded data lies; `parts`: the ids of the tiles that it is put together from."""

    kind: bytes = b""
    properties: list[Property] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)

    def first(self, kind: bytes) -> bytes | None:
        return next((body for found, body in self.properties if found == kind), None)


@dataclass(slots=True)
class Container:
    """`auxiliary`: the id of a picture → the ids of those that belong to it, such as its transparency.
    `frames`: the longest track's."""

    primary: int | None = None
    items: dict[int, Item] = field(default_factory=dict)
    auxiliary: dict[int, list[int]] = field(default_factory=dict)
    frames: int = 1
    has_tracks: bool = False
    is_cut: bool = False
    """The file ends inside the box that describes its items."""

    def item(self, item_id: int) -> Item:
        return self.items.setdefault(item_id, Item())


def read_container(data: bytes) -> Container:
    """Raises BrokenBoxError."""
    container = Container()
    try:
        for kind, start, end in _boxes(data, 0, len(data)):
            if kind == b"meta" and container.primary is None:
                container.is_cut = end > len(data)
                if not container.is_cut:
                    _read_meta(data, start + 4, end, container)
            elif kind == b"moov":
                container.has_tracks = True
                container.frames = max(1, _sample_count(data, start, min(end, len(data))))
    except (struct.error, IndexError) as error:
        raise BrokenBoxError("a box ends before its content") from error
    return container


def _boxes(data: bytes, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Kind, start and end of the body. The last box may reach beyond `end`."""
    position = start
    while position + 8 <= end:
        size, kind = struct.unpack_from(">I4s", data, position)
        header = 8
        if size == 1:
            (size,) = struct.unpack_from(">Q", data, position + 8)
            header = 16
        elif size == 0:
            size = end - position
        if size < header:
            # What follows is no box: junk at the end of a file is common.
            return
        yield kind, position + header, position + size
        position += size


def _read_meta(data: bytes, start: int, end: int, container: Container) -> None:
    inner: dict[bytes, Span] = {}
    for kind, body, stop in _boxes(data, start, end):
        inner.setdefault(kind, (body, min(stop, end)))
    if b"pitm" in inner:
        container.primary = _Reader(data, *inner[b"pitm"]).versioned_id()
    if b"iinf" in inner:
        _read_kinds(data, inner[b"iinf"], container)
    if b"iloc" in inner:
        _read_places(data, inner[b"iloc"], inner.get(b"idat", (0, 0))[0], container)
    if b"iprp" in inner:
        _read_properties(data, inner[b"iprp"], container)
    if b"iref" in inner:
        _read_references(data, inner[b"iref"], container)


class _Reader:
    """Big-endian numbers one after the other. Raises BrokenBoxError past the end."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self._data = data
        self._position = start
        self._end = end

    def number(self, length: int) -> int:
        stop = self._position + length
        if stop > self._end:
            raise BrokenBoxError("a list is longer than its box")
        value = int.from_bytes(self._data[self._position : stop], "big")
        self._position = stop
        return value

    def version_and_flags(self) -> tuple[int, int]:
        return self.number(1), self.number(3)

    def versioned_id(self) -> int:
        """The item id of a full box that holds nothing else first: 16 bits in version 0, else 32."""
        version, _ = self.version_and_flags()
        return self.number(2 if version == 0 else 4)

    @property
    def position(self) -> int:
        return self._position


def _read_kinds(data: bytes, span: Span, container: Container) -> None:
    reader = _Reader(data, *span)
    version, _ = reader.version_and_flags()
    reader.number(2 if version == 0 else 4)
    for kind, body, stop in _boxes(data, reader.position, span[1]):
        entry = _Reader(data, body, min(stop, span[1]))
        if kind != b"infe" or (entry_version := entry.version_and_flags()[0]) < 2:
            continue
        item = container.item(entry.number(2 if entry_version == 2 else 4))
        entry.number(2)
        item.kind = entry.number(4).to_bytes(4, "big")


def _read_places(data: bytes, span: Span, idat: int, container: Container) -> None:
    reader = _Reader(data, *span)
    version, _ = reader.version_and_flags()
    offset_bytes, length_bytes = divmod(reader.number(1), 16)
    base_bytes, index_bytes = divmod(reader.number(1), 16)
    for _ in range(reader.number(2 if version < 2 else 4)):
        item = container.item(reader.number(2 if version < 2 else 4))
        method = reader.number(2) & 15 if version in (1, 2) else 0
        reader.number(2)
        base = reader.number(base_bytes) + (idat if method == 1 else 0)
        for _ in range(reader.number(2)):
            if version in (1, 2):
                reader.number(index_bytes)
            start = base + reader.number(offset_bytes)
            length = reader.number(length_bytes)
            # Method 2 counts from another item's data; a length of 0 means the rest of the file.
            if method <= 1:
                item.spans.append((start, start + length if length else len(data)))


def _read_properties(data: bytes, span: Span, container: Container) -> None:
    properties: list[Property] = []
    for kind, body, stop in _boxes(data, *span):
        if kind == b"ipco":
            properties = [(name, data[first:last]) for name, first, last in _boxes(data, body, stop)]
    for kind, body, stop in _boxes(data, *span):
        if kind != b"ipma":
            continue
        reader = _Reader(data, body, min(stop, span[1]))
        version, flags = reader.version_and_flags()
        for _ in range(reader.number(4)):
            item = container.item(reader.number(2 if version == 0 else 4))
            for _ in range(reader.number(1)):
                index = reader.number(2) & 0x7FFF if flags & 1 else reader.number(1) & 0x7F
                if 0 < index <= len(properties):
                    item.properties.append(properties[index - 1])


def _read_references(data: bytes, span: Span, container: Container) -> None:
    id_bytes = 2 if data[span[0]] == 0 else 4
    for kind, body, stop in _boxes(data, span[0] + 4, span[1]):
        reader = _Reader(data, body, min(stop, span[1]))
        source = reader.number(id_bytes)
        targets = [reader.number(id_bytes) for _ in range(reader.number(2))]
        if kind == b"dimg":
            container.item(source).parts = targets
        elif kind == b"auxl":
            for target in targets:
                container.auxiliary.setdefault(target, []).append(source)


def _sample_count(data: bytes, start: int, end: int) -> int:
    """The largest number of frames that a track below this box has."""
    most = 0
    for kind, body, stop in _boxes(data, start, end):
        if kind in _TO_SAMPLE_SIZES:
            most = max(most, _sample_count(data, body, min(stop, end)))
        elif kind == b"stsz" and stop <= end:
            most = max(most, int.from_bytes(data[body + 8 : body + 12], "big"))
    return most
