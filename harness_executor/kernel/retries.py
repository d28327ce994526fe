"""How often things are tried again."""

from harness_executor.kernel.frozen import frozen


@frozen
class Policy:
    """The caps of a run."""

    self_fix: int = 3
    """How often an executor may mend its own work before it must answer."""
    respawn: int = 2
    """How often a step that failed or was interrupted is started again."""
    validation: int = 2
    """How often failed checks send the work back."""
    verification: int = 2
    """How often failed scenarios send the work back."""
    attempts: int = 10
    """How often one model call is sent when the service fails."""
