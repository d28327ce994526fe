"""Facts about scenarios that were frozen: what was added to them, and what was looked at again."""

from harness_executor.kernel.amending import Dispute, Ruling, Shortfall
from harness_executor.kernel.events import Fact
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.offering import Offer
from harness_executor.kernel.scenario import Scenario


@frozen
class ScenariosDisputed(Fact):
    """The verifier is to look again at scenarios that fail on the change; written before it is asked."""

    missed: tuple[Shortfall, ...]
    disputes: tuple[Dispute, ...] = ()
    """What the executor said."""


@frozen
class ScenariosAmended(Fact):
    """The verifier ruled on the disputed scenarios; what it did not amend stands."""

    original: str
    """The digest they were frozen with."""
    digest: str
    """The digest they have now."""
    rulings: tuple[Ruling, ...]


@frozen
class ScenariosRequested(Fact):
    """The verifier is to write more scenarios, for what no frozen one touches; written before it is asked."""

    untouched: tuple[Offer, ...]
    """What the change offers besides."""


@frozen
class ScenariosAdded(Fact):
    """The verifier wrote scenarios that are asked for beside the frozen ones, which stay as they are."""

    scenarios: tuple[Scenario, ...]
    digest: str
    """The digest of those that were added."""
    whole: str
    """The digest of all of them, the frozen ones first."""
    remark: str = ""
    """Why there is none, where the answer could not be used."""
