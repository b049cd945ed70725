"""Evaluates a formula as it stands in LaTeX; what is written side by side is multiplied."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil, log2, sqrt
from typing import Any

SPACING = r"\\(?:left|right|big|Big|bigl|bigr|,|;|!)(?![A-Za-z])|\s+"
TOKEN = re.compile(
    r"\d+(?:\.\d+)?"
    r"|\\mathrm\{[A-Za-z]+\}"
    r"|(?:\\[A-Za-z]+|[A-Za-z])(?:_(?:\{[^{}]*\}|\w))?"
    r"|[-+/^()\[\]{}]"
)
PRODUCTS = {r"\odot", r"\cdot", r"\times"}
ENDS = {")", "]", "}", r"\rceil", "+", "-", ""}
FUNCTIONS: dict[str, Callable] = {
    r"\sqrt": lambda x: x.sqrt() if hasattr(x, "sqrt") else sqrt(x),
    r"\log_2": log2,
    r"\tanh": lambda x: x.tanh(),
}


def evaluate(formula: str, values: Mapping[str, Any]) -> Any:
    """The value of a formula; a name that is not among the values raises a KeyError."""
    text = re.sub(SPACING, " ", formula)
    tokens = TOKEN.findall(text)
    if "".join(tokens) != text.replace(" ", ""):
        raise ValueError(f"formula={formula!r}: expected only {TOKEN.pattern}")
    reader = _Reader([*tokens, ""], values)
    value = reader.sum()
    if reader.tokens != [""]:
        raise ValueError(f"formula={formula!r}: expected an end before {' '.join(reader.tokens)}")
    return value


def times(left: Any, right: Any) -> Any:
    """A matrix before a vector is applied to it; everything else is multiplied, units one by one."""
    return left @ right if getattr(left, "ndim", 0) == 2 else left * right


def over(above: Any, below: Any) -> Any:
    """A quotient, exact between whole numbers."""
    exact = isinstance(above, int | Fraction) and isinstance(below, int | Fraction)
    return Fraction(above, below) if exact else above / below


class _Reader:
    def __init__(self, tokens: list[str], values: Mapping[str, Any]):
        self.tokens, self.values = tokens, values

    def take(self, expected: str = "") -> str:
        token = self.tokens.pop(0)
        if expected and token != expected:
            raise ValueError(f"{token!r}: expected {expected!r}")
        return token

    def sum(self) -> Any:
        sign = -1 if self.tokens[0] == "-" and self.take() else 1
        value = sign * self.product()
        while self.tokens[0] in {"+", "-"}:
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value

    def product(self) -> Any:
        value = self.power()
        while self.tokens[0] not in ENDS:
            if self.tokens[0] == "/":
                self.take()
                value = over(value, self.power())
                continue
            if self.tokens[0] in PRODUCTS:
                self.take()
            value = times(value, self.power())
        return value

    def power(self) -> Any:
        value = self.atom()
        if self.tokens[0] == "^":
            self.take()
            value = value ** self.atom()
        return value

    def atom(self) -> Any:
        token = self.take()
        if not token:
            raise ValueError("the formula ends too early")
        if token in {"(", "[", "{"}:
            value = self.sum()
            self.take({"(": ")", "[": "]", "{": "}"}[token])
            return value
        if token in {r"\frac", r"\dfrac", r"\tfrac"}:
            return over(self.atom(), self.atom())
        if token == r"\lceil":
            value = self.sum()
            self.take(r"\rceil")
            return ceil(value)
        if token in FUNCTIONS:
            return FUNCTIONS[token](self.atom())
        if token[0].isdigit():
            return float(token) if "." in token else int(token)
        value = self.values[token]
        return value(self.atom()) if callable(value) else value
