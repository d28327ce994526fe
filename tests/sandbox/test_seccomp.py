"""The filter of system calls: what it says to each, and what programs meet under it."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness_executor.errors import HarnessError
from harness_executor.sandbox import seccomp
from tests.sandbox.acts import BEGINNING, FOREIGN, MACHINE, NO_SUCH_FAMILY, NOT_PERMITTED, WORK
from tests.sandbox.calls import ALLOWED, DENIED, EXAMINED
from tests.sandbox.judging import ALLOW, ARCHITECTURES, KILL, NO, NO_CALL, NO_FAMILY, judge

CALLS = [(machine, name) for machine in ARCHITECTURES for name in DENIED[machine]]
COMMON = [(machine, name) for machine in ARCHITECTURES for name in ALLOWED[machine]]
machines = pytest.mark.parametrize("machine", ARCHITECTURES)


def verdict(machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """What the kernel would answer to a call."""
    spoken = ARCHITECTURES[machine] if architecture is None else architecture
    return judge(seccomp.program(machine), spoken, number, *arguments)


@pytest.mark.parametrize(("machine", "name"), CALLS)
def test_refuses_a_call_that_reaches_too_far(machine: str, name: str) -> None:
    """Each call of the list is not permitted, whatever its arguments are."""
    assert verdict(machine, DENIED[machine][name]) == NO
    assert verdict(machine, DENIED[machine][name], *[0xFFFF_FFFF_FFFF_FFFF] * 6) == NO


@pytest.mark.parametrize(("machine", "name"), COMMON)
def test_allows_a_call_that_programs_make(machine: str, name: str) -> None:
    """Calls that git, node, Python and the C library make are allowed."""
    assert verdict(machine, ALLOWED[machine][name]) == ALLOW


@machines
def test_refuses_nothing_else(machine: str) -> None:
    """Of every number a call can have, no other is refused than those of the list."""
    listed = {*DENIED[machine].values(), *EXAMINED[machine].values()}
    assert {verdict(machine, number) for number in range(2000) if number not in listed} == {ALLOW}


@machines
def test_kills_what_speaks_for_another_machine(machine: str) -> None:
    """A call of the 32-bit twin has other numbers, so no answer to it can be right."""
    others = {0x40000003, 0x40000028, *ARCHITECTURES.values()} - {ARCHITECTURES[machine]}
    assert {verdict(machine, 0, architecture=other) for other in others} == {KILL}


def test_kills_what_speaks_x32() -> None:
    """The same acts under the numbers of x32 pass no list."""
    assert {verdict("x86_64", 0x40000000 | number) for number in (0, 101, 521, 547)} == {KILL}


@machines
@pytest.mark.parametrize("bit", [17, 25, 26, 27, 28, 29, 30])
def test_clones_no_namespace(machine: str, bit: int) -> None:
    """A clone with any flag of a namespace is not permitted, among whatever other flags."""
    clone = EXAMINED[machine]["clone"]
    assert verdict(machine, clone, 1 << bit | signal.SIGCHLD) == NO
    assert verdict(machine, clone, 1 << bit | 0xFFFF_FFFF_0000_0000) == NO


@machines
def test_clones_processes_and_threads(machine: str) -> None:
    """The clones of fork, of posix_spawn and of threads are allowed; clone3 sends programs to clone."""
    clone = EXAMINED[machine]["clone"]
    for flags in (signal.SIGCHLD, 0x01200011, 0x4111, 0x003D0F00):
        assert verdict(machine, clone, flags) == ALLOW
    assert verdict(machine, EXAMINED[machine]["clone3"]) == NO_CALL


@machines
@pytest.mark.parametrize("request_", [0x5412, 0x541C])
def test_types_into_no_terminal(machine: str, request_: int) -> None:
    """TIOCSTI and TIOCLINUX are not permitted, also with upper bits that the kernel does not read."""
    assert verdict(machine, EXAMINED[machine]["ioctl"], 0, request_) == NO
    assert verdict(machine, EXAMINED[machine]["ioctl"], 0, 1 << 32 | request_) == NO
    assert verdict(machine, EXAMINED[machine]["ioctl"], 0, request_ + 1) == ALLOW


@machines
@pytest.mark.parametrize("name", ["socket", "socketpair"])
def test_opens_sockets_of_four_families(machine: str, name: str) -> None:
    """Only unix, internet and netlink sockets are opened, upper bits or not."""
    number = EXAMINED[machine][name]
    families = {family: verdict(machine, number, family, 1) for family in range(64)}
    assert {family for family, answer in families.items() if answer == ALLOW} == {1, 2, 10, 16}
    assert set(families.values()) == {ALLOW, NO_FAMILY}
    assert verdict(machine, number, 1 << 32 | 38, 1) == NO_FAMILY


@machines
@pytest.mark.parametrize("family", [1, 2, 10])
def test_opens_no_raw_socket(machine: str, family: int) -> None:
    """The types raw and packet are not permitted, with the flags a type can carry or without."""
    number = EXAMINED[machine]["socket"]
    for flags in (0, 0x80000, 0x800, 0x80800):
        assert verdict(machine, number, family, flags | 3) == NO
        assert verdict(machine, number, family, flags | 10) == NO
        assert verdict(machine, number, family, flags | 1) == ALLOW


@machines
def test_asks_the_kernel_for_routes_and_sockets_only(machine: str) -> None:
    """Of netlink, which is always raw, the protocols 0 and 4 are left."""
    answers = {
        protocol: verdict(machine, EXAMINED[machine]["socket"], 16, 3, protocol) for protocol in range(32)
    }
    assert {protocol for protocol, answer in answers.items() if answer == ALLOW} == {0, 4}
    assert set(answers.values()) == {ALLOW, NO_FAMILY}


@pytest.mark.parametrize("machine", ["riscv64", "i686", "aarch64_be", ""])
def test_has_no_filter_for_a_machine_it_does_not_know(machine: str) -> None:
    """Another machine gets an error, never a filter that fits none of its calls."""
    with pytest.raises(HarnessError, match=f"for {machine}$") as raised:
        seccomp.program(machine)
    assert "x86_64, aarch64" in raised.value.hint


def in_box(argv: Sequence[str], room: Path, *, filtered: bool) -> subprocess.CompletedProcess[str]:
    """Run a command in a box whose every right it has, so that only the filter can say no."""
    box = ["bwrap", "--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"]
    box += ["--bind", str(room), str(room), "--chdir", str(room), "--setenv", "TMPDIR", str(room)]
    box += [
        "--setenv",
        "HOME",
        str(room),
        "--unshare-user",
        "--unshare-all",
        "--die-with-parent",
        "--cap-add",
        "ALL",
    ]
    rules = os.memfd_create("filter")
    os.write(rules, seccomp.program(MACHINE))
    os.lseek(rules, 0, os.SEEK_SET)
    box += ["--seccomp", str(rules)] if filtered else []
    try:
        return subprocess.run(
            [*box, *argv], pass_fds=[rules], capture_output=True, text=True, timeout=60, check=False
        )
    finally:
        os.close(rules)


def said(act: str, room: Path, *, filtered: bool) -> str:
    """What an act printed in a box: the number of its error."""
    ended = in_box([sys.executable, "-I", "-c", BEGINNING + act], room, filtered=filtered)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


@pytest.mark.parametrize("name", NOT_PERMITTED)
def test_stops_an_act_that_works_without_it(name: str, tmp_path: Path) -> None:
    """On this machine the act succeeds in a box without the filter, and is not permitted with it."""
    assert said(NOT_PERMITTED[name], tmp_path, filtered=False) == "0"
    assert said(NOT_PERMITTED[name], tmp_path, filtered=True) == str(errno.EPERM)


@pytest.mark.parametrize("name", NO_SUCH_FAMILY)
def test_opens_no_socket_that_opens_without_it(name: str, tmp_path: Path) -> None:
    """On this machine the socket opens in a box without the filter, and has no family with it."""
    assert said(NO_SUCH_FAMILY[name], tmp_path, filtered=False) == "0"
    assert said(NO_SUCH_FAMILY[name], tmp_path, filtered=True) == str(errno.EAFNOSUPPORT)


def test_hides_clone3(tmp_path: Path) -> None:
    """On this machine clone3 makes a process without the filter, and does not exist with it."""
    act = (
        "wanted = text(struct.pack('8Q', 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0))\n"
        "born(raw(CALLS['clone3'], wanted, 64))"
    )
    assert said(act, tmp_path, filtered=False) == "0"
    assert said(act, tmp_path, filtered=True) == str(errno.ENOSYS)


@pytest.mark.parametrize("name", FOREIGN)
def test_kills_a_program_that_calls_as_another_machine(name: str, tmp_path: Path) -> None:
    """On this machine the call comes back without the filter, and kills the program with it."""
    argv = [sys.executable, "-I", "-c", f"{BEGINNING}{FOREIGN[name]}\nprint('came back')"]
    assert in_box(argv, tmp_path, filtered=False).stdout == "came back\n"
    assert in_box(argv, tmp_path, filtered=True).returncode == 128 + signal.SIGSYS


@pytest.mark.parametrize("name", WORK)
def test_lets_python_work(name: str, tmp_path: Path) -> None:
    """What programs do goes on under the filter."""
    ended = in_box([sys.executable, "-I", "-c", WORK[name]], tmp_path, filtered=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_lets_git_work(tmp_path: Path) -> None:
    """A repository is made, committed to, cloned and packed under the filter."""
    script = (
        "set -e; git init -q a; cd a; echo x > x; git add x; "
        "git -c user.name=a -c user.email=a@b commit -qm x; cd ..; "
        "git clone -q a b; cd b; git gc -q; git fsck; git log --format=%s"
    )
    ended = in_box(["sh", "-c", script], tmp_path, filtered=True)
    assert (ended.returncode, ended.stdout) == (0, "x\n"), ended.stderr


PROGRAMS = {
    "node": (
        "const {Worker} = require('worker_threads'); const {execSync} = require('child_process');"
        "const http = require('http'); require('os').networkInterfaces();"
        "new Worker('0', {eval: true}).on('exit', () => { execSync('true');"
        "const server = http.createServer((_, answer) => answer.end('here')).listen(0, '127.0.0.1', () =>"
        "http.get({port: server.address().port, host: '127.0.0.1'}, got => got.on('data', text => {"
        "console.log(String(text)); process.exit(0); }))); });"
    ),
    "perl": "print((fork() // die) ? (wait() > 0 ? 'here' : die) : exit, \"\\n\")",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_lets_other_programs_work(name: str, tmp_path: Path) -> None:
    """Interpreters of this machine start threads, children and servers under the filter."""
    ended = in_box([name, "-e", PROGRAMS[name]], tmp_path, filtered=True)
    assert ended.stdout == "here\n", ended.stderr
