"""Caps of money, tokens, turns and time, and what has been used of them."""

from dataclasses import field, fields, replace
from typing import Any

from harness_executor.kernel.frozen import frozen

ALERT = 0.8
"""The share of a cap from which a subagent is told to come to an end."""


@frozen
class Caps:
    """How much may be used at the most; nothing means that there is no cap."""

    micros: int | None = None
    """Millionths of a dollar."""
    tokens: int | None = None
    turns: int | None = None
    """Model calls."""
    seconds: float | None = None
    """Time at work."""

    def narrowed(self, other: "Caps") -> "Caps":
        """The lower of the two, cap by cap."""
        lower: dict[str, Any] = {
            name: _lower(mine, getattr(other, name)) for name, mine in _values(self).items()
        }
        return replace(self, **lower)

    def overridden(self, other: "Caps") -> "Caps":
        """The other one's caps where it has any."""
        return replace(self, **{name: value for name, value in _values(other).items() if value is not None})


@frozen
class Amount:
    """What was used, or is about to be."""

    micros: int = 0
    tokens: int = 0
    turns: int = 0
    seconds: float = 0.0
    unpriced: int = 0
    """Calls whose price nobody knows; only their tokens are counted."""

    def plus(self, other: "Amount") -> "Amount":
        """Both together."""
        return Amount(
            self.micros + other.micros,
            self.tokens + other.tokens,
            self.turns + other.turns,
            self.seconds + other.seconds,
            self.unpriced + other.unpriced,
        )

    def minus(self, other: "Amount") -> "Amount":
        """What is left without the other."""
        return Amount(
            self.micros - other.micros,
            self.tokens - other.tokens,
            self.turns - other.turns,
            self.seconds - other.seconds,
            self.unpriced - other.unpriced,
        )


@frozen
class Budget:
    """The caps of every span that money is counted over."""

    call: Caps = field(default_factory=Caps)
    task: Caps = field(default_factory=Caps)
    night: Caps = field(default_factory=Caps)
    day: Caps = field(default_factory=Caps)

    def narrowed(self, other: "Budget") -> "Budget":
        """The lower caps of the two."""
        return Budget(
            *(getattr(self, span.name).narrowed(getattr(other, span.name)) for span in fields(self))
        )

    def overridden(self, other: "Budget") -> "Budget":
        """The other one's caps where it has any."""
        return Budget(
            *(getattr(self, span.name).overridden(getattr(other, span.name)) for span in fields(self))
        )


def passed(caps: Caps, amount: Amount) -> str:
    """The cap this amount would pass, in words, or nothing."""
    if caps.micros is not None and caps.tokens is None and amount.unpriced:
        return f"{dollars(caps.micros)}, the price of the model is unknown, and no cap on tokens holds it"
    for name, cap in _values(caps).items():
        if cap is not None and getattr(amount, name) > cap:
            return f"{shown(name, cap)}, {shown(name, getattr(amount, name))} would be used"
    return ""


def share(caps: Caps, amount: Amount) -> float:
    """How much of the tightest cap is used, from 0 to 1 and more."""
    shares = [
        getattr(amount, name) / cap if cap else 1.0 for name, cap in _values(caps).items() if cap is not None
    ]
    return max(shares, default=0.0)


def shown(name: str, value: float) -> str:
    """An amount as people read it."""
    match name:
        case "micros":
            return dollars(int(value))
        case "seconds":
            return f"{value / 60:.0f} minutes" if value >= 60 else f"{value:.0f} seconds"
    return f"{value:,.0f} {name}"


def dollars(micros: int | None) -> str:
    """Money as people read it; what nobody knows is called unknown, never nothing."""
    if micros is None:
        return "unknown"
    return f"${micros / 1_000_000:.2f}" if micros >= 10_000 or micros == 0 else f"${micros / 1_000_000:.6f}"


def _values(value: Caps | Amount) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _lower(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
