"""Servers that the build of a framework makes."""

import json
from pathlib import Path

import pytest

from harness_executor.workspace.detect.values import Place
from tests.workspace.detect.trees import commands, found


def package(name: str, **scripts: str) -> dict[str, str]:
    """A project that is made with a package."""
    return {"package.json": json.dumps({"private": True, "devDependencies": {name: "1"}, "scripts": scripts})}


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("nitropack", "node .output/server/index.mjs"),
        ("nuxt", "node .output/server/index.mjs"),
        ("@sveltejs/adapter-node", "node build/index.js"),
        ("@astrojs/node", "node dist/server/entry.mjs"),
    ],
)
def test_what_the_build_makes_is_started(tmp_path: Path, name: str, command: str) -> None:
    """After the build, with PORT; no script has to say so."""
    best = found(tmp_path, package(name, build="it build", dev="it dev")).candidates[0]
    assert (best.command, best.build, best.port.place) == (command, "npm run build", Place.ENVIRONMENT)
    assert best.env["PORT"] == "{port}"


def test_without_a_build_nothing_is_made(tmp_path: Path) -> None:
    """Then only scripts say how it starts."""
    assert "node .output/server/index.mjs" not in commands(found(tmp_path, package("nitropack")))
