"""What becomes of a subagent that is not heard of as it should be."""

from harness_executor.kernel.liveness import Fate, Life, Limits, fate, look_again

LIMITS = Limits(whole=100.0, silence=10.0, stale=30.0)


def test_one_that_speaks_and_moves_is_alive() -> None:
    """Heartbeats that show progress are all it takes."""
    life = Life.begun(LIMITS, 0.0)
    for now in range(0, 95, 5):
        life = life.after(float(now), moved=now)
        assert fate(life, LIMITS, float(now)) is None


def test_silence_has_a_name() -> None:
    """No sign of life for the limit is silence."""
    assert fate(Life.begun(LIMITS, 0.0).after(5.0, 1), LIMITS, 15.0) is Fate.SILENT


def test_beating_without_progress_has_a_name() -> None:
    """A count that stays the same is no progress, however often it is said."""
    life = Life.begun(LIMITS, 0.0)
    for now in range(0, 35, 5):
        life = life.after(float(now), moved=7)
    assert fate(life, LIMITS, 30.0) is Fate.STALE


def test_a_message_that_is_no_heartbeat_is_progress() -> None:
    """Asking for a call, or its bill, moves the job."""
    life = Life.begun(LIMITS, 0.0).after(1.0, 7).after(28.0)
    assert fate(life, LIMITS, 32.0) is None


def test_too_long_has_a_name() -> None:
    """The whole job has a limit too."""
    assert fate(Life.begun(LIMITS, 0.0).after(99.0, 1), LIMITS, 100.0) is Fate.TIMED_OUT


def test_waiting_for_the_service_is_excused() -> None:
    """The time a service asks for is not taken from the job."""
    life = Life.begun(LIMITS, 0.0).after(95.0, 1).excused(300.0)
    assert fate(life.after(390.0, 1), LIMITS, 390.0) is None
    assert fate(life.after(399.0, 2), LIMITS, 401.0) is Fate.TIMED_OUT


def test_it_is_looked_at_again_when_its_fate_can_have_changed() -> None:
    """Nobody looks in between."""
    life = Life.begun(LIMITS, 0.0).after(4.0, 1)
    assert look_again(life, LIMITS, 5.0) == 9.0
    assert fate(life, LIMITS, 5.0 + look_again(life, LIMITS, 5.0)) is Fate.SILENT
    assert look_again(life, LIMITS, 500.0) == 0.0
