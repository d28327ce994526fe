"""Tests in JUnit XML, as pytest, Maven, Gradle, PHPUnit and many others write it."""

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from harness_executor.kernel.testing import Outcome
from harness_executor.workspace.testing.naming import named, short

_SOURCES = (".py", ".js", ".ts", ".java", ".kt", ".rb", ".php")


def read_junit(text: str, root: str = "") -> dict[str, Outcome]:
    """Every test case of a document, under the name that its runner knows it by."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("a report has no document type")
    try:
        top = ET.fromstring(text)  # noqa: S314 - a document with a DOCTYPE was refused above
    except ET.ParseError as error:
        raise ValueError(f"a report is damaged: {error}") from error
    found: dict[str, Outcome] = {}
    for case in top.iter("testcase"):
        name = _name(case, root)
        outcome = _outcome(case)
        if found.get(name) is not Outcome.FAILED:
            found[name] = outcome
    return found


def _outcome(case: ET.Element) -> Outcome:
    inner = {child.tag for child in case}
    if inner & {"failure", "error"}:
        return Outcome.FAILED
    return Outcome.SKIPPED if "skipped" in inner or case.get("status") == "disabled" else Outcome.PASSED


def _name(case: ET.Element, root: str) -> str:
    file, group = case.get("file") or "", case.get("classname") or ""
    return named(file, (*_groups(short(file, root), group), case.get("name") or ""), root)


def _groups(file: str, group: str) -> Iterator[str]:
    """The classes a test is in; a group that only repeats the file says nothing."""
    stem = next((file.removesuffix(end) for end in _SOURCES if file.endswith(end)), file)
    dotted = stem.replace("/", ".")
    inner = group.removeprefix(dotted).removeprefix(".") if group.startswith(dotted) else group
    yield from (part for part in (inner.split(".") if file else [inner]) if part)
