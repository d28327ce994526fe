"""Routes that are files."""

from pathlib import Path

import pytest

from harness_executor.workspace.detect.nodepages import pages
from harness_executor.workspace.detect.reading import Files
from harness_executor.workspace.detect.unit import Unit
from tests.workspace.detect.trees import grow


@pytest.mark.parametrize(
    ("name", "route"),
    [
        ("pages/api/health.ts", ("GET", "/api/health")),
        ("src/app/api/(open)/todos/route.ts", ("GET", "/api/todos")),
        ("app/route.ts", ("GET", "/")),
        ("server/api/todos/index.get.ts", ("GET", "/api/todos")),
        ("server/api/todos/[id].delete.ts", ("DELETE", "/api/todos/[id]")),
        ("server/routes/index.ts", ("GET", "/")),
        ("src/routes/(app)/api/todos/+server.ts", ("GET", "/api/todos")),
        ("src/routes/+server.js", ("GET", "/")),
    ],
)
def test_a_file_is_the_route_that_its_framework_makes_of_it(
    tmp_path: Path, name: str, route: tuple[str, str]
) -> None:
    """Next, Nitro and Nuxt, and SvelteKit; groups and `index` are no part of the path."""
    found = list(pages(Unit(Files(grow(tmp_path, {name: ""})), ".")))
    assert [(one.method, one.path) for one in found] == [route]
