"""Frameworks whose build makes the server itself, at a place that they fix."""

from collections.abc import Iterator

from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.detect import nodebuilds, nodepackages
from harness_executor.workspace.detect.unit import Unit
from harness_executor.workspace.detect.values import Candidate, Place, Port

_SCORE = 80
"""Less than a script that says itself how what was built is started."""


@frozen
class _Bundle:
    """What a package makes of a program."""

    package: str
    framework: str
    file: str
    env: tuple[tuple[str, str], ...] = ()


_BUNDLES = (
    _Bundle("nitropack", "nitro", ".output/server/index.mjs"),
    _Bundle("nitro", "nitro", ".output/server/index.mjs"),
    _Bundle("nuxt", "nuxt", ".output/server/index.mjs"),
    _Bundle(
        "@sveltejs/adapter-node", "sveltekit", "build/index.js", (("ORIGIN", "http://127.0.0.1:{port}"),)
    ),
    _Bundle("@astrojs/node", "astro", "dist/server/entry.mjs"),
)


def bundled(unit: Unit) -> Iterator[Candidate]:
    """The server that the build of a unit makes, if it is of such a framework."""
    known = nodepackages.packages(unit)
    made = next((one for one in _BUNDLES if one.package in known), None)
    if made is None or "build" not in nodepackages.scripts(unit):
        return
    env = {"PORT": "{port}", "HOST": "127.0.0.1", **dict(made.env)}
    yield Candidate(
        f"node {made.file}",
        _SCORE,
        (f"{made.package} makes {made.file} of it",),
        unit.folder,
        made.framework,
        env,
        Port(Place.ENVIRONMENT, 3000, "PORT"),
        nodebuilds.whole(unit),
        unit.path("package.json"),
    )
