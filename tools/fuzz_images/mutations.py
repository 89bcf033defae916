"""Ways to damage a file, each decided by a random generator alone, so that a seed repeats a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

Mutation = Callable[[bytearray, Random, Sequence[bytes]], None]

_BOUNDARIES = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF)
_HEADER_BYTES = 600
"""Most of what decides about size and layout stands here."""
_MOST_BLOCK_BYTES = 4096


def mutated(seeds: Sequence[bytes], chance: Random) -> bytes:
    """One of the seeds with one to six damages."""
    data = bytearray(chance.choice(seeds))
    for _ in range(chance.randint(1, 6)):
        if data:
            chance.choice(MUTATIONS)(data, chance, seeds)
    return bytes(data)


def _position(data: bytearray, chance: Random) -> int:
    """Half of all damage strikes the header."""
    end = min(len(data), _HEADER_BYTES) if chance.random() < 0.5 else len(data)
    return chance.randrange(end)


def _block(data: bytearray, chance: Random) -> tuple[int, int]:
    start = _position(data, chance)
    return start, min(len(data), start + chance.randint(1, _MOST_BLOCK_BYTES))


def flip_bits(data: bytearray, chance: Random, _seeds: Sequence[bytes]) -> None:
    for _ in range(chance.randint(1, 16)):
        data[_position(data, chance)] ^= 1 << chance.randrange(8)


def set_bytes(data: bytearray, chance: Random, _seeds: Sequence[bytes]) -> None:
    for _ in range(chance.randint(1, 8)):
        data[_position(data, chance)] = chance.randrange(256)


def set_number(data: bytearray, chance: Random, _seeds: Sequence[bytes]) -> None:
    """A number at the edge of its range: sizes, counts and offsets lie."""
    length = chance.choice((1, 2, 4))
    start = _position(data, chance)
    value = chance.choice(_BOUNDARIES) & ((1 << 8 * length) - 1)
    data[start : start + length] = value.to_bytes(length, chance.choice(("little", "big")))


def cut_end(data: bytearray, chance: Random, _seeds: Sequence[bytes]) -> None:
    del data[chance.randrange(len(data)) :]


def remove_block(data: bytearray, chance: Random, _seeds: Sequence[bytes]) -> None:
    start, end = _block(data, chance)
    del data[start:end]


def repeat_block(data: bytearray, chance: Random, _seeds: Sequence[bytes]) -> None:
    start, end = _block(data, chance)
    data[end:end] = data[start:end] * chance.randint(1, 20)


def blank_block(data: bytearray, chance: Random, _seeds: Sequence[bytes]) -> None:
    start, end = _block(data, chance)
    data[start:end] = bytes((chance.choice((0, 255)),)) * (end - start)


def insert_foreign_block(data: bytearray, chance: Random, seeds: Sequence[bytes]) -> None:
    other = bytearray(chance.choice(seeds))
    start, end = _block(other, chance)
    place = _position(data, chance)
    data[place:place] = other[start:end]


MUTATIONS: tuple[Mutation, ...] = (
    flip_bits,
    set_bytes,
    set_number,
    cut_end,
    remove_block,
    repeat_block,
    blank_block,
    insert_foreign_block,
)
