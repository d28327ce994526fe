"""Stands in for `python -m unittest`, and also writes down which tests ran."""

import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def named(test):
    """The file of a test as the project knows it, its class and its name."""
    kind = type(test)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    place = os.path.relpath(file) if file else ""
    if not place or place.startswith("..") or not hasattr(test, "_testMethodName"):
        return {"names": [test.id()]}
    return {"file": place, "names": [kind.__qualname__, test._testMethodName]}


class Result(unittest.TextTestResult):
    """Keeps how each test ended."""

    def __init__(self, *words, **more):
        super().__init__(*words, **more)
        self.ended = {}

    def keep(self, test, outcome):
        """The worst that was seen of a test counts."""
        if self.ended.get(test.id(), {}).get("outcome") != "failed":
            self.ended[test.id()] = {**named(test), "outcome": outcome}

    def addSuccess(self, test):
        super().addSuccess(test)
        self.keep(test, "passed")

    def addError(self, test, err):
        super().addError(test, err)
        self.keep(test, "failed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.keep(test, "failed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.keep(test, "skipped")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.keep(test, "skipped")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.keep(test, "failed")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.keep(test, "failed")


class Runner(unittest.TextTestRunner):
    """Runs tests as ever, and tells."""

    resultclass = Result

    def run(self, test):
        result = super().run(test)
        with open(os.path.join(HERE, f"unittest-{os.getpid()}.jsonl"), "w", encoding="utf-8") as lines:
            for ended in result.ended.values():
                lines.write(json.dumps(ended) + "\n")
        return result


sys.path[0] = os.getcwd()
unittest.main(module=None, argv=["python -m unittest", *sys.argv[1:]], testRunner=Runner)
