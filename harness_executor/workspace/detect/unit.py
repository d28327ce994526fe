"""The programs of a repository: folders that say with a manifest that they are one."""

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePosixPath

from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.detect.reading import Files, section

MANIFESTS = (
    "package.json",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "manage.py",
    "go.mod",
    "Cargo.toml",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "Gemfile",
    "composer.json",
    "deno.json",
    "mix.exs",
)

_ANYWHERE = """
example examples sample samples demo demos doc docs docs_src documentation test tests testing __tests__
spec specs fixture fixtures e2e cypress playwright benchmark benchmarks bench cookiecutter vendor vendored
third_party storybook .storybook snippets tutorial tutorials stories mocks mock __mocks__ loadtest
load-tests
"""
_AT_THE_TOP = """
template templates external infra infrastructure terraform deploy deployment k8s helm ansible scripts
tools playground playgrounds sandbox legacy archive archived old backup extras extra profiling experiments
generators blueprints skeleton boilerplate workshop perf
"""
DECOYS = frozenset(_ANYWHERE.split())
"""Folders whose programs are rarely the one that is meant."""
TOP_DECOYS = frozenset(_AT_THE_TOP.split())
"""Folders that are decoys too, unless they are a part of a program."""

MOST_UNITS = 60


@frozen
class Unit:
    """One folder of a repository with a program of its own."""

    files: Files
    folder: str
    others: tuple[str, ...] = ()
    """Folders of programs within it."""
    partners: tuple[str, ...] = ()
    """Folders of packages of the same repository that count to it."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Its files, by their place in the repository, without those of programs within it."""
        return tuple(name for name in self.files.names if self._owns(name))

    def path(self, name: str) -> str:
        """The place in the repository of a file of this unit."""
        return name if self.folder == "." else f"{self.folder}/{name}"

    def inner(self, name: str) -> str:
        """The place in this unit of a file of the repository."""
        return name if self.folder == "." else name.removeprefix(f"{self.folder}/")

    def has(self, name: str) -> bool:
        """Has it such a file?"""
        return self.files.has(self.path(name))

    def text(self, name: str) -> str:
        """What one of its files says."""
        return self.files.text(self.path(name))

    def above(self) -> Iterator[str]:
        """Its folder and those above it, then those of packages that count to it."""
        place = PurePosixPath(self.folder)
        yield from (str(folder) for folder in (place, *place.parents))
        yield from self.partners

    def _owns(self, name: str) -> bool:
        if any(is_below(name, partner) for partner in self.partners):
            return True
        if not is_below(name, self.folder):
            return False
        return not any(is_below(name, other) for other in self.others)


def is_below(name: str, folder: str) -> bool:
    """Does a file lie in a folder?"""
    return folder == "." or name.startswith(f"{folder}/")


def is_decoy(path: str, wanted: str = ".") -> bool:
    """Does a file lie in a folder of examples, tests or the like, below the folder that is asked for?"""
    inner = path if wanted == "." or not is_below(path, wanted) else path.removeprefix(f"{wanted}/")
    parts = [part.lower() for part in PurePosixPath(inner).parts[:-1]]
    is_top = bool(parts) and parts[0] in TOP_DECOYS
    return is_top or any(part in DECOYS or part.startswith("{{") for part in parts)


def units(files: Files) -> tuple[Unit, ...]:
    """The root, and every folder below it with a manifest."""
    return files.once("units", lambda: _units(files))


def _units(files: Files) -> tuple[Unit, ...]:
    folders = {"."}
    for name in files.named(*MANIFESTS):
        folder = str(PurePosixPath(name).parent)
        if folder in folders or _is_only_settings(files, name):
            continue
        if len(folders) >= MOST_UNITS:
            files.note(f"only {MOST_UNITS} programs are looked at, the nearest to the root")
            break
        folders.add(folder)
    ordered = sorted(folders, key=lambda folder: (folder != ".", folder.count("/"), folder))
    return tuple(
        Unit(
            files,
            folder,
            tuple(other for other in ordered if other != folder and is_below(f"{other}/", folder)),
        )
        for folder in ordered
    )


def workspaces(files: Files) -> tuple[str, ...]:
    """The folders that a manifest at the root names as members, as patterns."""
    listed = files.json("package.json").get("workspaces")
    node = section({"w": listed}, "w").get("packages") if isinstance(listed, dict) else listed
    found = [
        node,
        files.yaml("pnpm-workspace.yaml").get("packages"),
        section(files.toml("pyproject.toml"), "tool", "uv", "workspace").get("members"),
        files.json("lerna.json").get("packages"),
    ]
    return tuple(str(item) for items in found if isinstance(items, list) for item in items)


def _is_only_settings(files: Files, name: str) -> bool:
    """Is it a manifest in name only, such as a package.json that just says `"type": "module"`?"""
    if name.endswith("package.json"):
        return (
            not {"scripts", "dependencies", "devDependencies", "main", "bin", "name"}
            & files.json(name).keys()
        )
    if name.endswith("setup.py"):
        return not re.search(r"setuptools|distutils|\bsetup\(\s*\w+\s*=|skbuild", files.text(name))
    if name.endswith("setup.cfg"):
        return "[metadata]" not in files.text(name)
    if name.endswith("pyproject.toml"):
        data = files.toml(name)
        return not (
            section(data, "project") or section(data, "tool", "poetry") or section(data, "build-system")
        )
    return False
