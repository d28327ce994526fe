"""What of a document is used, and which failures of drawn requests count."""

from typing import Any

from harness_executor.kernel.fuzzing import (
    SERVER_ERROR,
    Compared,
    Drawn,
    Failure,
    drawn_from,
    findings_of,
    kept_here,
    operations,
    refers_elsewhere,
)
from harness_executor.kernel.report import Meaning

ITEMS = Failure("GET /items", SERVER_ERROR)
FAILED, CLEAN = Drawn({ITEMS: "GET /items was answered with 500"}, 5), Drawn({}, 5)


def scenario(method: str = "GET", check: str = SERVER_ERROR) -> dict[str, Any]:
    """One event with one failing case."""
    recorder = {
        "cases": {"a": {"value": {"method": method, "path": "/items"}}},
        "checks": {"a": [{"name": check, "status": "failure"}]},
        "interactions": {
            "a": {
                "request": {"method": method, "uri": "http://127.0.0.1:1/items?n=1"},
                "response": {"status_code": 500},
            }
        },
    }
    return {"ScenarioFinished": {"recorder": recorder}}


def ended(reason: str = "completed") -> dict[str, Any]:
    """The last event."""
    return {"EngineFinished": {"stop_reason": reason}}


def test_only_openapi_documents_have_operations() -> None:
    """Whatever else a server gives describes nothing."""
    assert operations({"openapi": "3.0.0", "paths": {"/a": {"get": {}, "parameters": []}}}) == {"GET /a"}
    others: tuple[Any, ...] = (
        None,
        [],
        "openapi",
        {"paths": {"/a": {"get": {}}}},
        {"openapi": "3", "paths": []},
    )
    for other in others:
        assert operations(other) == frozenset()


def test_a_document_names_no_other_machine() -> None:
    """Only the path of the first server stays; a property that has such a name stays too."""
    kept = kept_here(
        {
            "openapi": "3.1.0",
            "servers": [{"url": "https://elsewhere.example/api"}],
            "host": "elsewhere.example",
            "paths": {"/a": {"get": {"servers": [{"url": "http://10.0.0.1"}]}}},
            "components": {"examples": {"e": {"externalValue": "http://10.0.0.1/x"}}},
            "x": {"properties": {"host": {"type": "string"}, "$id": {"type": "string"}}},
        }
    )
    assert kept == {
        "openapi": "3.1.0",
        "servers": [{"url": "/api"}],
        "paths": {"/a": {"get": {}}},
        "components": {"examples": {"e": {}}},
        "x": {"properties": {"host": {"type": "string"}, "$id": {"type": "string"}}},
    }


def test_references_out_of_the_document_are_seen() -> None:
    """A file or another machine, however deep."""
    assert refers_elsewhere({"a": [{"$ref": "file:///etc/passwd"}]})
    assert refers_elsewhere({"a": {"$ref": "other.json#/x"}})
    assert not refers_elsewhere({"a": [{"$ref": "#/components/schemas/A"}]})


def test_failures_are_read_by_operation_and_check() -> None:
    """A method that is not documented and a check that does not count are left out."""
    events = [scenario(), scenario("TRACE"), scenario(check="unsupported_method"), ended()]
    drawn = drawn_from(events, frozenset({"GET /items"}))
    assert drawn == Drawn({ITEMS: "GET /items?n=1 was answered with 500"}, 3)


def test_a_run_that_did_not_end_says_nothing() -> None:
    """Interrupted, failed or cut off."""
    for events in ([scenario()], [scenario(), ended("interrupted")], [{"FatalError": {}}, ended()]):
        assert drawn_from(events, frozenset({"GET /items"})) is None


def test_only_what_fails_in_every_run_of_the_change_and_none_of_the_base_is_new() -> None:
    """What differs between repetitions never decides."""
    assert Compared((CLEAN, CLEAN), (FAILED, FAILED)).new == FAILED.failures
    assert Compared((CLEAN, CLEAN), (FAILED, CLEAN)).new == {}
    assert Compared((CLEAN, FAILED), (FAILED, FAILED)).new == {}


def test_what_was_documented_before_regresses() -> None:
    """A new operation with a server error is missing what it promises; without failures all holds."""
    known = frozenset({"GET /items"})
    assert [one.meaning for one in findings_of(Compared((CLEAN,), (FAILED,), known))] == [Meaning.REGRESSES]
    assert [one.meaning for one in findings_of(Compared((CLEAN,), (FAILED,)))] == [Meaning.MISSING]
    assert [one.meaning for one in findings_of(Compared((FAILED,), (FAILED,), known))] == [Meaning.HOLDS]
