"""How far what was seen can be trusted."""

from enum import StrEnum


class Assurance(StrEnum):
    """How far the evidence was out of the model's reach."""

    SANDBOXED = "sandboxed"
    UNSANDBOXED = "unsandboxed"
