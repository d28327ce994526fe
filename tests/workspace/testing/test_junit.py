"""Tests in JUnit XML."""

import pytest

from harness_executor.kernel.testing import Outcome
from harness_executor.workspace.testing.junit import read_junit

P, F, S = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED

PYTEST = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest">
<testcase classname="tests.test_a" name="test_one[1-2]" file="tests/test_a.py" line="3" />
<testcase classname="tests.test_a.TestIt" name="test_two" file="tests/test_a.py"><failure message="no">x</failure></testcase>
<testcase classname="tests.test_a.TestIt" name="test_two" file="tests/test_a.py" />
<testcase classname="tests.test_a" name="test_three" file="tests/test_a.py"><skipped type="pytest.xfail" /></testcase>
<testcase classname="" name="tests.test_b"><error message="collection failure">x</error></testcase>
</testsuite></testsuites>"""  # noqa: E501 - as pytest writes it

MAVEN = """<testsuite name="com.example.AppTest">
<testcase name="adds" classname="com.example.AppTest" time="0.01"/>
<testcase name="fails" classname="com.example.AppTest"><error type="x"/></testcase>
<testcase name="later" classname="com.example.AppTest"><skipped/></testcase>
</testsuite>"""


def test_pytest_is_read_under_the_names_it_uses() -> None:
    """File, class and name, as one would select them; the worse of two counts."""
    assert read_junit(PYTEST) == {
        "tests/test_a.py::test_one[1-2]": P,
        "tests/test_a.py::TestIt::test_two": F,
        "tests/test_a.py::test_three": S,
        "tests.test_b": F,
    }


def test_others_are_read_by_class_and_name() -> None:
    """Where no file is named, the class is the first part."""
    assert read_junit(MAVEN) == {
        "com.example.AppTest::adds": P,
        "com.example.AppTest::fails": F,
        "com.example.AppTest::later": S,
    }


@pytest.mark.parametrize("text", ["", "not xml", '<!DOCTYPE a [<!ENTITY b "c">]><testsuite/>'])
def test_what_is_no_report_is_refused(text: str) -> None:
    """Damage and document types are errors, never an empty report."""
    with pytest.raises(ValueError, match="a report"):
        read_junit(text)
