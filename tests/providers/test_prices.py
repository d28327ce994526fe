"""What calls to a model cost, from data that is on this machine."""

import socket
import subprocess
import sys

import pytest
from genai_prices.data_snapshot import get_snapshot
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_executor.errors import ShapeError
from harness_executor.providers.base import Usage
from harness_executor.providers.prices import Price, price, window, worst
from harness_executor.shapes import read

MILLION = 1_000_000
SELLERS = {
    "anthropic": "anthropic",
    "openai": "openai",
    "bedrock": "aws",
    "vertex": "google",
    "azure": "azure",
    "openrouter": "openrouter",
}
OWN = {"chat:qwen3": Price(0.5, 1.5), "anthropic:claude-opus-5-5": Price(1.0, 2.0, 0.1, 1.25)}


def _listed() -> list[str]:
    sellers = {seller.id: seller for seller in get_snapshot().providers}
    return [f"{ours}:{model.id}" for ours, theirs in SELLERS.items() for model in sellers[theirs].models]


@pytest.mark.parametrize(
    ("model", "usage", "micros"),
    [
        ("anthropic:claude-opus-5-5", Usage(MILLION, 0), 4 * MILLION),
        ("anthropic:claude-opus-5-5", Usage(0, MILLION), 20 * MILLION),
        ("anthropic:claude-opus-5-5", Usage(MILLION, 0, cache_read=MILLION), 200_000),
        ("anthropic:claude-opus-5-5", Usage(MILLION, 0, cache_write=MILLION), 5 * MILLION),
        ("anthropic:claude-opus-5-5", Usage(1000, 500, 300, 200), 13_060),
        ("openai:gpt-5", Usage(1000, 500, 300), 5_913),
        ("bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0", Usage(1000, 500), 11_550),
        ("vertex:claude-sonnet-4-5@20250929", Usage(1000, 500), 10_500),
        ("azure:gpt-5", Usage(1000, 500), 6_250),
        ("anthropic/claude-opus-5-5", Usage(1000, 500), 14_000),
        ("openrouter:anthropic/claude-sonnet-4.5", Usage(1000, 500), 10_500),
    ],
)
def test_prices_are_those_of_the_sellers(model: str, usage: Usage, micros: int) -> None:
    """Input from a cache is part of the input and has its own price; the sum is rounded up."""
    assert price(model, usage, {}) == micros


def test_a_long_input_has_its_own_price() -> None:
    """Above a threshold all tokens cost more."""
    assert price("anthropic:claude-sonnet-4-5", Usage(200_000, 1000), {}) == 615_000
    assert price("anthropic:claude-sonnet-4-5", Usage(200_001, 1000), {}) == 1_222_506


@pytest.mark.parametrize(
    "model",
    [
        "anthropic:no-such-model",
        "openai:gpt-99",
        "openai:tts-1",
        "openai:text-embedding-3-large",
        "azure:my-deployment",
        "ollama:qwen3",
        "lmstudio:gpt-5",
        "vllm:claude-opus-5-5",
        "chat:gpt-5",
        "anthropic:",
        "anthropic",
        "",
    ],
)
def test_an_unknown_price_is_unknown(model: str) -> None:
    """A model without a price is never free: no number at all is given."""
    assert price(model, Usage(1000, 500), {}) is None
    assert worst(model, 1000, 500, {}) is None


@pytest.mark.parametrize("model", ["scripted:play.json", "replay:add-stats-20260309-abcdef"])
def test_what_asks_nobody_is_free(model: str) -> None:
    """A script and a recording cost nothing."""
    assert price(model, Usage(1000, 500), {}) == worst(model, 1000, 500, {}) == 0
    assert window(model) is None


def test_the_users_prices_win() -> None:
    """A price the user gives is used, also where another one is known."""
    assert price("chat:qwen3", Usage(1000, 500), OWN) == 1_250
    assert price("anthropic:claude-opus-5-5", Usage(1000, 500, 300, 200), OWN) == 500 + 30 + 250 + 1000
    assert price("chat:qwen3", Usage(1, 0), OWN) == 1
    assert price("scripted:x", Usage(1000, 0), {"scripted:x": Price(3, 15)}) == 3000


def test_a_price_without_a_cache_counts_it_as_input() -> None:
    """What the user did not say about a cache is not cheaper than anything else."""
    assert price("chat:qwen3", Usage(1000, 0, 300, 200), OWN) == 500
    assert worst("chat:qwen3", 1000, 500, OWN) == 1_250


def test_a_price_is_read_strictly() -> None:
    """A key nobody knows, or one that is missing, is refused."""
    assert read(Price, {"input": 0.5, "output": 1.5}) == OWN["chat:qwen3"]
    for wrong in ({"input": 1}, {"input": 1, "output": 1, "inptu": 1}, {"input": "1", "output": 1}):
        with pytest.raises(ShapeError):
            read(Price, wrong)


def test_a_service_that_counts_wrongly_does_no_harm() -> None:
    """More tokens from a cache than there was input are charged all the same."""
    assert price("anthropic:claude-opus-5-5", Usage(0, 0, cache_read=MILLION), {}) == 200_000
    assert price("chat:qwen3", Usage(0, 0, cache_read=1000), OWN) == 500


@pytest.mark.parametrize(
    ("model", "micros"),
    [("anthropic:claude-opus-5-5", 15_000), ("openai:gpt-5", 6_250), ("anthropic:claude-haiku-4-5", 3_750)],
)
def test_the_worst_way_to_be_billed_is_reserved(model: str, micros: int) -> None:
    """A reservation is for input that is all written to a cache, where that costs more."""
    assert worst(model, 1000, 500, {}) == micros


@settings(max_examples=400, deadline=None, database=None)
@given(
    st.sampled_from(_listed()),
    st.integers(0, 3 * MILLION),
    st.integers(0, 200_000),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_no_call_costs_more_than_was_reserved(
    model: str, sent: int, written: int, cached: float, read_part: float
) -> None:
    """For every model in the data, whatever part of the input a cache had, the bound holds."""
    from_cache = int(sent * cached)
    cache_read = int(from_cache * read_part)
    usage = Usage(sent, written, cache_read, from_cache - cache_read)
    cost, most = price(model, usage, {}), worst(model, sent, written, {})
    assert (cost is None) == (most is None)
    if cost is not None and most is not None:
        assert 0 <= cost <= most


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("anthropic:claude-opus-5-5", MILLION),
        ("openai:gpt-5", 400_000),
        ("ollama:qwen3", None),
        ("anthropic:x", None),
        ("", None),
    ],
)
def test_knows_the_window_of_a_model(model: str, tokens: int | None) -> None:
    """What a model can read at once is known for models in the data only."""
    assert window(model) == tokens


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices come from this machine: no socket is opened for them."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    assert price("openai:gpt-5", Usage(1000, 500), {}) == 6_250
    assert not get_snapshot().from_auto_update


def test_the_data_is_loaded_only_when_it_is_used() -> None:
    """Importing the module, or asking for a free model, loads no price data."""
    code = (
        "import sys; from harness_executor.providers import prices; from harness_executor.providers.base "
        "import Usage; prices.price('scripted:x', Usage(), {}); prices.price('ollama:x', Usage(), {});"
        "sys.exit('genai_prices' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
