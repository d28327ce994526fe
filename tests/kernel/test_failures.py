"""Failure classes."""

import pytest

from harness_executor.kernel.failures import FailureClass, may_retry

RETRIED = {
    FailureClass.STATIC: True,
    FailureClass.TESTS: True,
    FailureClass.BEHAVIOUR: True,
    FailureClass.ENVIRONMENT: False,
    FailureClass.PAUSE: False,
    FailureClass.AGENT: True,
}


@pytest.mark.parametrize("failure", FailureClass)
def test_only_what_can_end_differently_is_tried_again(failure: FailureClass) -> None:
    """A missing environment and a decision that is a person's are not tried again."""
    assert may_retry(failure) is RETRIED[failure]
