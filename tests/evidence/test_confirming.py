"""Kept scenarios beside those of a task, whose traces are not on both sides."""

import json
from pathlib import Path

from tests.claims.app import COUNT
from tests.claims.asking import at, scenario, step
from tests.claims.project import Project, make_project

EMPTY = scenario("the list is empty at first", step("/items", 200, at("$", [])), kind="unchanged")
BULK = (
    COUNT
    + """

@on("POST", "/items/bulk")
def bulk(ask):
    for name in ask.data()["names"]:
        ITEMS[len(ITEMS) + 1] = {"id": len(ITEMS) + 1, "name": name}
    return 201, {"count": len(ITEMS)}
"""
)
BULKS = scenario(
    "many are added at once",
    step("/items/bulk", 201, at("$.count", 2), method="POST", json={"names": ["a", "{{ name }}"]}),
    step("/items", 200, at("$[1].name", "{{ name }}")),
)


def keeping(place: Path, *scenarios: object) -> Project:
    """A project with the feature, whose base keeps these scenarios."""
    project = make_project(place, {"harness/scenarios/kept.json": json.dumps(list(scenarios))})
    project.append(BULK)
    return project


def meanings(project: Project) -> list[str]:
    """What the kept scenarios mean in the report."""
    report = json.loads(project.report.read_text())
    return [one["meaning"] for one in report["predefined_scenarios"]]


def test_what_the_task_left_behind_is_no_regression(tmp_path: Path) -> None:
    """Only the change could add items, so its list is not empty; alone, the kept scenario holds."""
    project = keeping(tmp_path, EMPTY)
    outcome = project.verify(BULKS)
    assert outcome.accepted, outcome.said
    assert "asked again on servers of their own: the list is empty at first" in outcome.said
    assert meanings(project) == ["holds"]
    servers = json.loads(project.report.read_text())["servers"]
    assert sorted(server["run"] for server in servers) == [1, 1, 2, 2, 3, 3, 4, 4]


def test_what_regresses_alone_too_is_refused(tmp_path: Path) -> None:
    """A list that is not empty at first any more is seen on servers of its own as well."""
    project = keeping(tmp_path, EMPTY)
    project.swap("ITEMS = {}", 'ITEMS = {7: {"id": 7, "name": "seven"}}')
    project.swap('201, {"count": len(ITEMS)}', '201, {"count": len(ITEMS) - 1}')
    one = scenario(
        "many are added at once",
        step("/items/bulk", 201, at("$.count", 2), method="POST", json={"names": ["a", "{{ name }}"]}),
    )
    outcome = project.verify(one)
    assert not outcome.accepted
    assert "the list is empty at first passed on base and fails now" in outcome.said
    assert meanings(project) == ["regresses"]


def test_only_what_seems_to_regress_costs_more_servers(tmp_path: Path) -> None:
    """A suite that holds beside the task runs on two servers of each side."""
    project = keeping(
        tmp_path, scenario("none is there", step("/items/99", 404, at("$.error", "no such item")))
    )
    outcome = project.verify(BULKS)
    assert outcome.accepted, outcome.said
    assert "servers of their own" not in outcome.said
    assert meanings(project) == ["holds"]
