"""Every error the program raises on purpose, as one tree."""

import inspect
import re

import pytest

from harness_executor import errors
from harness_executor.errors import HarnessError, ShapeError
from harness_executor.kernel.events import Cause

TREE = [kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, HarnessError)]
EXIT_CODES = {
    "UsageError": 2,
    "ShapeError": 2,
    "NeedsHuman": 3,
    "NoBox": 3,
    "Refused": 4,
    "ModelUnknown": 2,
    "KeyRefused": 3,
    "QuotaSpent": 3,
    "ProviderDown": 3,
    "BudgetSpent": 6,
}
PAUSES = {
    "PackagesMissing": "human",
    "NeedsHuman": "human",
    "NoBox": "human",
    "ModelUnknown": "human",
    "KeyRefused": "auth",
    "QuotaSpent": "provider_quota",
    "ProviderDown": "provider_down",
    "BudgetSpent": "budget",
}


def _drawn() -> dict[str, tuple[int, str]]:
    """Each error of the drawing, with how deep it stands and the rest of its line."""
    lines = [
        line for line in (errors.__doc__ or "").splitlines() if re.search("[A-Z][a-z]+[A-Z]|Refused", line)
    ]
    found = [re.fullmatch(r"([│├└─ ]*)(\w+)(.*)", line) for line in lines]
    return {match[2]: (len(match[1]) // 4, match[3]) for match in found if match}


@pytest.mark.parametrize("kind", TREE, ids=lambda kind: kind.__name__)
def test_the_drawing_shows_every_error_in_its_place(kind: type[HarnessError]) -> None:
    """The tree at the top of the module is the tree of classes, with exit codes."""
    depth, words = _drawn()[kind.__name__]
    assert depth == len(kind.__mro__) - len(HarnessError.__mro__)
    said = re.search(r"exit (\d)", words)
    assert said is None or int(said[1]) == kind.exit_code


def test_the_drawing_shows_nothing_else() -> None:
    """What is drawn exists."""
    assert set(_drawn()) == {kind.__name__ for kind in TREE}


@pytest.mark.parametrize("kind", TREE, ids=lambda kind: kind.__name__)
def test_every_error_has_its_exit_code(kind: type[HarnessError]) -> None:
    """What can be acted on in the same way ends with the same code."""
    assert kind.exit_code == EXIT_CODES.get(kind.__name__, 1)


@pytest.mark.parametrize("kind", TREE, ids=lambda kind: kind.__name__)
def test_what_parks_a_task_says_so(kind: type[HarnessError]) -> None:
    """Each pause has a cause that the log knows, and every cause has its error."""
    assert kind.pause == PAUSES.get(kind.__name__, "")
    assert set(PAUSES.values()) == set(Cause)


@pytest.mark.parametrize(
    "kind", [kind for kind in TREE if kind is not ShapeError], ids=lambda kind: kind.__name__
)
def test_an_error_holds_its_words_and_does_nothing(
    kind: type[HarnessError], capsys: pytest.CaptureFixture[str]
) -> None:
    """Message and hint are kept as they were given; making an error prints nothing."""
    error = kind("what happened", hint="what to do")
    assert (error.message, error.hint, str(error)) == ("what happened", "what to do", "what happened")
    assert kind("what happened").hint == ""
    assert capsys.readouterr() == ("", "")


def test_a_shape_error_names_every_place() -> None:
    """Places are written with dots, and the whole value by that name."""
    error = ShapeError(((("steps", 0, "path"), "is missing"), ((), "is not an object")), hint="h")
    assert error.message == "steps.0.path: is missing; value: is not an object"
    assert error.hint == "h"
