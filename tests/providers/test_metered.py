"""Every call is reserved before it is sent and settled after."""

from dataclasses import dataclass, field

import pytest

from harness_executor.errors import BudgetSpent, Fault, KeyRefused, ProviderError, ProviderFault
from harness_executor.providers.base import Reply, Request, Said, Usage
from harness_executor.providers.measure import bound
from harness_executor.providers.metered import Bill, Metered

REQUEST = Request("executor", "m", "guide", (Said("do it"),), max_tokens=500)


@dataclass
class Book:
    """A purse that writes everything down, and a provider that notices the order."""

    answer: Reply | ProviderError
    lines: list[str] = field(default_factory=list)
    bills: list[Bill] = field(default_factory=list)
    broke: bool = False

    def reserve(self, call: int, input_tokens: int, output_tokens: int) -> None:
        """Note a reservation."""
        if self.broke:
            raise BudgetSpent("no money")
        self.lines.append(f"reserve {call} {input_tokens} {output_tokens}")

    def settle(self, bill: Bill) -> None:
        """Note a bill."""
        self.lines.append(f"settle {bill.call}")
        self.bills.append(bill)

    def complete(self, request: Request) -> Reply:
        """Answer, or fail."""
        self.lines.append(f"send {len(request.turns)}")
        if isinstance(self.answer, ProviderError):
            raise self.answer
        return self.answer


def _metered(answer: Reply | ProviderError) -> tuple[Book, Metered]:
    book = Book(answer)
    return book, Metered(book, book)


def test_a_call_is_reserved_sent_and_settled_in_that_order() -> None:
    """Nothing is sent before the reservation."""
    book, metered = _metered(Reply("yes", usage=Usage(40, 3), id="req-1"))
    assert metered.complete(REQUEST).text == "yes"
    assert book.lines == [f"reserve 1 {bound(REQUEST)} 500", "send 1", "settle 1"]
    assert book.bills == [Bill(1, Usage(40, 3), request_id="req-1")]


def test_nothing_is_sent_without_a_grant() -> None:
    """A refused reservation ends the call before it begins."""
    book, metered = _metered(Reply("yes"))
    book.broke = True
    with pytest.raises(BudgetSpent):
        metered.complete(REQUEST)
    assert book.lines == []


@pytest.mark.parametrize(
    ("error", "usage"),
    [
        (ProviderFault("busy", said=Fault(429, "req-9")), Usage()),
        (ProviderFault("cut off", said=Fault(billed=True)), None),
        (KeyRefused("no"), Usage()),
    ],
)
def test_a_failed_call_is_settled_too(error: ProviderError, usage: Usage | None) -> None:
    """One that was turned away costs nothing; one that was cut off may have cost all that was reserved."""
    book, metered = _metered(error)
    with pytest.raises(type(error)):
        metered.complete(REQUEST)
    assert [(bill.usage, bill.failed) for bill in book.bills] == [(usage, True)]


@pytest.mark.parametrize("usage", [None, Usage(0, 0), Usage(0, 7)])
def test_a_service_that_does_not_count_is_not_free(usage: Usage | None) -> None:
    """No usage, and a request that took nothing to read, are both unknown."""
    book, metered = _metered(Reply("yes", usage=usage))
    metered.complete(REQUEST)
    assert book.bills[0].usage is None


def test_each_attempt_is_a_call_of_its_own() -> None:
    """Retries are counted and paid like first attempts."""
    book, metered = _metered(Reply("yes", usage=Usage(1, 1)))
    metered.complete(REQUEST)
    metered.complete(REQUEST)
    assert [bill.call for bill in book.bills] == [1, 2]
