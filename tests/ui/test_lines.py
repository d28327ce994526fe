"""Progress as plain lines, for logs and pipes."""

import io

import pytest

from harness_executor.kernel.events import PlanApproved, StepName, StepStarted, TaskPaused
from harness_executor.redaction import MARK, Redactor
from harness_executor.ui.lines import Lines


def test_says_each_fact_on_a_line() -> None:
    """A fact with words is one line, a fact without is none."""
    stream = io.StringIO()
    with Lines(stream) as lines:
        lines.fact(StepStarted(StepName.PLAN, 1))
        lines.fact(PlanApproved("policy"))
        lines.fact(TaskPaused("a password"))
    assert stream.getvalue() == "▸ plan\n  paused: a password\n"


def test_says_what_is_being_done_below() -> None:
    """A note is indented."""
    stream = io.StringIO()
    Lines(stream).note("executor, turn 1: asking the model")
    assert stream.getvalue() == "  executor, turn 1: asking the model\n"


def test_a_note_cannot_pose_as_anything_else() -> None:
    """The command of a model is shown on one line, with its control characters spelled out."""
    stream = io.StringIO()
    Lines(stream).note("shell printf '\x1b[2J'\n■ completed")
    assert stream.getvalue() == "  shell printf '\\x1b[2J'\\n■ completed\n"


def test_talks_on_standard_error_only(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard output belongs to data."""
    with Lines() as lines:
        lines.fact(StepStarted(StepName.PLAN, 1))
        lines.note("asking the model")
    assert capsys.readouterr() == ("", "▸ plan\n  asking the model\n")


def test_says_it_at_once() -> None:
    """Every line is flushed, so that a log can be followed."""

    class Slow(io.StringIO):
        """A stream that counts what was flushed."""

        flushed = ""

        def flush(self) -> None:
            """Remember what is there."""
            self.flushed = self.getvalue()

    stream = Slow()
    Lines(stream).note("asking the model")
    assert stream.flushed == "  asking the model\n"


def test_a56_says_nothing_that_is_secret() -> None:
    """Neither a fact nor a note tells a value that is known; without knowing it, both do."""
    secret = "correct-horse-battery-staple"
    for redactor, told in ((Redactor([secret]), False), (Redactor(), True)):
        stream = io.StringIO()
        with Lines(stream, redactor.clean) as lines:
            lines.fact(TaskPaused(f"the key is {secret}"))
            lines.note(f"echo {secret}")
        assert stream.getvalue().count(secret) == (2 if told else 0)
        assert stream.getvalue().count(MARK) == (0 if told else 2)
