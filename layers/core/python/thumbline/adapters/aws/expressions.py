"""Compiles a transition's conditions and changes into DynamoDB expressions.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boto3.dynamodb.types import TypeSerializer

from thumbline.domain.row import (
    Absent,
    Add,
    AllOf,
    AnyOf,
    Append,
    Change,
    Compare,
    Condition,
    Differs,
    Present,
    Remove,
    Set,
    SetIfAbsent,
)


class Expressions:
    """Collects placeholders while it compiles; one instance a request."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, Any] = {}
        self._serializer = TypeSerializer()

    def condition(self, condition: Condition) -> str:
        match condition:
            case Compare(attribute, operator, value):
                return f"{self._name(attribute)} {operator} {self._value(value)}"
            case Differs(attribute, value):
                name = self._name(attribute)
                return f"(attribute_exists({name}) AND {name} <> {self._value(value)})"
            case Present(attribute):
                return f"attribute_exists({self._name(attribute)})"
            case Absent(attribute):
                return f"attribute_not_exists({self._name(attribute)})"
            case AllOf(parts):
                return self._joined(parts, " AND ")
            case AnyOf(parts):
                return self._joined(parts, " OR ")

    def update(self, changes: Sequence[Change]) -> str:
        """One SET and one REMOVE clause. Numbers are added by SET, so that every change is in one clause."""
        sets = [self._set(change) for change in changes if not isinstance(change, Remove)]
        removes = [self._name(change.attribute) for change in changes if isinstance(change, Remove)]
        clauses = []
        if sets:
            clauses.append("SET " + ", ".join(sets))
        if removes:
            clauses.append("REMOVE " + ", ".join(removes))
        return " ".join(clauses)

    def _set(self, change: Set | SetIfAbsent | Add | Append) -> str:
        name = self._name(change.attribute)
        match change:
            case Set(_, value):
                return f"{name} = {self._value(value)}"
            case SetIfAbsent(_, value):
                return f"{name} = if_not_exists({name}, {self._value(value)})"
            case Add(_, amount):
                return f"{name} = if_not_exists({name}, {self._value(0)}) + {self._value(amount)}"
            case Append(_, value):
                return (
                    f"{name} = list_append(if_not_exists({name}, {self._value([])}), {self._value([value])})"
                )

    def _joined(self, parts: Sequence[Condition], operator: str) -> str:
        return "(" + operator.join(self.condition(part) for part in parts) + ")"

    def _name(self, attribute: str) -> str:
        placeholder = f"#{attribute}"
        self.names[placeholder] = attribute
        return placeholder

    def _value(self, value: Any) -> str:
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = self._serializer.serialize(value)
        return placeholder
