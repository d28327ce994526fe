"""The box of Linux: bubblewrap with every namespace, no capability, few system calls, and no network."""

import os
import shutil
import socket
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import field
from pathlib import Path

from harness_executor.config import safe_environment
from harness_executor.errors import BoxBroke
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox import seccomp
from harness_executor.sandbox.base import Room
from harness_executor.sandbox.boxed import Boxed, View
from harness_executor.sandbox.cgroups import Cgroup
from harness_executor.sandbox.limits import Limits
from harness_executor.sandbox.process import start_box
from harness_executor.sandbox.profile import (
    BARE,
    DATA,
    HOME,
    OUTPUTS,
    PROGRAM,
    Packages,
    Profile,
    files,
    first_command,
    shown_folders,
)
from harness_executor.sandbox.programs import can_lay_over
from harness_executor.sandbox.toolchains import stores, visible_path
from harness_executor.sandbox.trying import LAYERS

_KEPT = ("LANG", "LC_ALL", "TZ")


@frozen
class Bubblewrap:
    """Opens boxes with one program."""

    program: str
    readable: tuple[str, ...] = ()
    """Folders the user wants to be shown, besides what commands need."""
    hosts: tuple[str, ...] = ()
    """Hosts that setup steps may reach."""
    overlays: bool = False
    """Can this program lay a folder that takes writes over one that does not?"""
    limits: Limits = field(default_factory=Limits)
    """How much of the machine each of its boxes may use."""
    assurance = Assurance.SANDBOXED
    layers = LAYERS

    def open(self, room: Room) -> Boxed:
        """A box for a tree; it starts while the caller goes on."""
        environment = safe_environment()
        shown = shown_folders(room, environment["PATH"], tuple(map(Path, self.readable)))
        kept = {name: environment[name] for name in _KEPT if name in environment}
        env = {**kept, "PATH": visible_path((*shown, room.at)), "HOME": str(HOME)}
        view = View(room.at, OUTPUTS, DATA, PROGRAM, BARE, env)
        packages = stores()
        laid_over = self._laid_over({**room.beside, **packages}) if room.writable else frozenset()
        within = [place.relative_to(room.at) for place in shown if place.is_relative_to(room.at)]
        for name in (*map(str, within), *room.beside):
            _make_place(room.tree / name)
        copies = {name: _copied(room, name) for name in room.copied - laid_over}
        return self._launch(Profile(room, shown, Packages(packages, laid_over, copies), self.limits), view)

    def _laid_over(self, folders: Mapping[str, Path]) -> frozenset[str]:
        """Which folders can take writes that are thrown away? That depends on their file systems too."""
        if not self.overlays:
            return frozenset()
        devices = {name: folder.stat().st_dev for name, folder in folders.items()}
        return frozenset(
            name for name, folder in folders.items() if can_lay_over(self.program, folder, devices[name])
        )

    def _launch(self, profile: Profile, view: View) -> Boxed:
        line, their_line = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        door, their_door = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        status, told = os.pipe()
        errors = os.memfd_create("errors")
        with ExitStack() as theirs:
            theirs.enter_context(their_line)
            theirs.enter_context(their_door)
            theirs.callback(os.close, told)
            made = {place: _in_memory(data, theirs) for place, data in files(profile.room).items()}
            calls = _in_memory(seccomp.program(os.uname().machine), theirs)
            words = [*profile.arguments(made), "--seccomp", str(calls), "--json-status-fd", str(told)]
            first = [*first_command(), str(their_door.fileno()), *map(str, profile.limits.of_process())]
            argv = [self.program, *words, "--", *first]
            given = (told, calls, their_door.fileno(), *made.values())
            try:
                process = start_box(argv, their_line, errors, given)
            except OSError as error:
                for end in (line.detach(), door.detach(), status, errors):
                    os.close(end)
                raise self._broke(error) from error
        group = Cgroup.make("box", profile.limits)
        ends = (line, door, status, errors)
        return Boxed(view, process, *ends, profile.room, group, self.hosts, profile.limits)

    def _broke(self, error: OSError) -> BoxBroke:
        return BoxBroke(
            f"{self.program} cannot be started: {error.strerror}",
            hint="`harness doctor` tries the box on this machine",
        )


def _copied(room: Room, name: str) -> Path:
    """A copy of a folder with packages outside the tree, where nothing can be laid over it."""
    copy = room.tree.with_name(f"{room.tree.name}-packages") / name
    shutil.rmtree(copy, ignore_errors=True)
    # what cannot be read, or is no file at all, is left out
    with suppress(shutil.Error):
        shutil.copytree(room.beside[name], copy, symlinks=True)
    return copy


def _make_place(place: Path) -> None:
    """A folder to show something in, instead of a link that was left by commands without a box."""
    if place.is_symlink():
        place.unlink()
    place.mkdir(parents=True, exist_ok=True)


def _in_memory(data: bytes, stack: ExitStack) -> int:
    descriptor = os.memfd_create("given")
    stack.callback(os.close, descriptor)
    os.pwrite(descriptor, data, 0)
    return descriptor
