"""The trial of a box: what it asks for, and what it makes of the answers."""

import pytest

from harness_executor.sandbox.bubblewrap import Bubblewrap
from harness_executor.sandbox.trial import Layer, _layers, try_box
from harness_executor.sandbox.trying import LAYERS
from tests.sandbox.subjects import PRIVATE, bubblewrap


@pytest.mark.parametrize("name", PRIVATE)
def test_every_layer_of_bubblewrap_holds(name: str) -> None:
    """A box of bubblewrap is asked for every layer, and each holds on this machine."""
    layers = try_box(Bubblewrap(bubblewrap(name)))
    assert [layer.name for layer in layers] == ["start", *LAYERS]
    assert [layer for layer in layers if not layer.holds] == []


def test_a_box_that_cannot_be_opened_holds_nothing() -> None:
    """The one layer of a box that does not start is its start, with the reason."""
    (start,) = try_box(Bubblewrap("/nonexistent/bwrap"))
    assert (start.name, start.holds) == ("start", False)
    assert "/nonexistent/bwrap cannot be started" in start.seen


def test_only_a_layer_that_says_so_holds() -> None:
    """A layer that was open, or of which nothing was said, does not hold."""
    said = "network\theld\trefused\nterminal\topen\t\nsomething else\theld\tx\n"
    start, *layers = _layers(said, ("network", "terminal", "sockets"))
    assert start.holds
    assert layers == [
        Layer("network", holds=True, seen="refused"),
        Layer("terminal", holds=False, seen=""),
        Layer("sockets", holds=False, seen="it was not tried"),
    ]


def test_a_trial_that_says_nothing_is_a_box_that_did_not_start() -> None:
    """What a program says instead of an answer is given as the reason."""
    assert _layers("boom\n", LAYERS) == (Layer("start", holds=False, seen="boom"),)
