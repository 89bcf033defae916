"""A row as both stores see it: a flat map of attributes, with conditions and changes as plain data.

The DynamoDB adapter compiles this data into one conditional update; the in-memory twin evaluates it here.
So there is one statement of every rule, and no copy of it that could drift.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Row = Mapping[str, Any]
"""Strings, whole numbers, booleans, lists and maps; what DynamoDB can hold."""

Operator = Literal["=", "<", "<=", ">="]


@dataclass(frozen=True, slots=True)
class Compare:
    """False when the attribute is absent, as in DynamoDB."""

    attribute: str
    operator: Operator
    value: str | int


@dataclass(frozen=True, slots=True)
class Differs:
    """The attribute exists and is not this value."""

    attribute: str
    value: str | int


@dataclass(frozen=True, slots=True)
class Present:
    attribute: str


@dataclass(frozen=True, slots=True)
class Absent:
    attribute: str


@dataclass(frozen=True, slots=True)
class AllOf:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    parts: tuple[Condition, ...]


Condition = Compare | Differs | Present | Absent | AllOf | AnyOf


@dataclass(frozen=True, slots=True)
class Set:
    attribute: str
    value: Any


@dataclass(frozen=True, slots=True)
class SetIfAbsent:
    attribute: str
    value: Any


@dataclass(frozen=True, slots=True)
class Add:
    attribute: str
    amount: int


@dataclass(frozen=True, slots=True)
class Append:
    """Appends to a list, which begins empty."""

    attribute: str
    value: Any


@dataclass(frozen=True, slots=True)
class Remove:
    attribute: str


Change = Set | SetIfAbsent | Add | Append | Remove


def all_of(*parts: Condition) -> AllOf:
    return AllOf(parts)


def any_of(*parts: Condition) -> AnyOf:
    return AnyOf(parts)


def holds(condition: Condition, row: Row) -> bool:
    """Evaluates a condition with DynamoDB's rules. An absent row is an empty one."""
    match condition:
        case Compare(attribute, operator, value):
            return attribute in row and _compare(row[attribute], operator, value)
        case Differs(attribute, value):
            return attribute in row and bool(row[attribute] != value)
        case Present(attribute):
            return attribute in row
        case Absent(attribute):
            return attribute not in row
        case AllOf(parts):
            return all(holds(part, row) for part in parts)
        case AnyOf(parts):
            return any(holds(part, row) for part in parts)


def changed(row: Row, changes: tuple[Change, ...]) -> dict[str, Any]:
    """The row after the changes; the given row is left as it was."""
    new = dict(row)
    for change in changes:
        match change:
            case Set(attribute, value):
                new[attribute] = value
            case SetIfAbsent(attribute, value):
                new.setdefault(attribute, value)
            case Add(attribute, amount):
                new[attribute] = new.get(attribute, 0) + amount
            case Append(attribute, value):
                new[attribute] = [*new.get(attribute, []), value]
            case Remove(attribute):
                new.pop(attribute, None)
    return new


def _compare(left: Any, operator: Operator, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    match operator:
        case "=":
            return bool(left == right)
        case "<":
            return bool(left < right)
        case "<=":
            return bool(left <= right)
        case ">=":
            return bool(left >= right)
