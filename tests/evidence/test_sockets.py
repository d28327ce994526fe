"""Who listens where, as the kernel knows it."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from harness_executor.evidence.sockets import (
    Listener,
    Lookout,
    ask_kernel,
    free_port,
    inquiry,
    listeners,
    owned,
    read_tables,
)


@contextmanager
def listening(address: str, family: socket.AddressFamily = socket.AF_INET) -> Iterator[int]:
    """A socket that listens; gives its port."""
    with socket.socket(family) as one:
        try:
            one.bind((address, 0))
        except OSError:
            pytest.fail(f"this machine has no {address}")
        one.listen()
        yield int(one.getsockname()[1])


@pytest.mark.parametrize(
    ("address", "family", "reachable"),
    [
        ("127.0.0.1", socket.AF_INET, True),
        ("0.0.0.0", socket.AF_INET, True),
        ("127.0.0.2", socket.AF_INET, False),
        ("::1", socket.AF_INET6, False),
        ("::", socket.AF_INET6, True),
        ("::ffff:127.0.0.1", socket.AF_INET6, True),
    ],
)
def test_sees_a_listener_and_whether_it_can_be_reached(
    address: str, family: socket.AddressFamily, reachable: bool
) -> None:
    """Each listener has its address, and only some answer at 127.0.0.1."""
    with listening(address, family) as port:
        (found,) = listeners(port)
        assert (found.address, found.port, found.reachable) == (address, port, reachable)
        with inquiry() as kernel:
            assert found in ask_kernel(kernel)
        assert found in read_tables()
    assert listeners(port) == []


def test_many_listeners_are_all_seen() -> None:
    """The list does not end where one answer of the kernel does."""
    with ExitStack() as stack:
        ports = {stack.enter_context(listening("127.0.0.1")) for _ in range(400)}
        with inquiry() as kernel:
            assert ports <= {found.port for found in ask_kernel(kernel)}
        assert ports <= {found.port for found in read_tables()}


def test_a_socket_that_does_not_listen_is_no_listener() -> None:
    """A bound or connected socket is not one that answers."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert listeners(bound.getsockname()[1]) == []


def test_a_free_port_is_free() -> None:
    """Nobody listens on a free port, and one can."""
    port = free_port()
    assert listeners(port) == []
    with socket.create_server(("127.0.0.1", port)):
        assert [found.port for found in listeners(port)] == [port]


def test_a_listener_belongs_to_the_process_that_holds_it() -> None:
    """The inode of a listener is found with its process and with no other."""
    with (
        listening("127.0.0.1") as port,
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1) as other,
    ):
        (found,) = listeners(port)
        assert found.inode in owned({os.getpid()})
        assert found.inode not in owned({other.pid})
        assert found.inode in owned({os.getpid(), other.pid})
        other.kill()


def test_a_process_that_is_gone_holds_nothing() -> None:
    """Asking after an ended process is no error."""
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    assert owned({gone.pid}) == set()
    assert owned(set()) == set()


def test_only_sockets_count_as_held() -> None:
    """Files and pipes of a process are not among its sockets."""
    ours, theirs = os.pipe()
    try:
        assert os.fstat(ours).st_ino not in owned({os.getpid()})
        assert 0 not in owned({os.getpid()})
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_listener_elsewhere_cannot_be_reached() -> None:
    """An address of another interface does not answer at 127.0.0.1."""
    assert not Listener("10.0.0.5", 80, 1).reachable


def test_a_lookout_asks_over_one_socket_until_it_is_closed() -> None:
    """It sees who came and went meanwhile, asks for a socket once, and for another after it was closed."""
    asked: list[socket.socket] = []

    def inquire() -> socket.socket:
        asked.append(inquiry())
        return asked[-1]

    lookout = Lookout(inquire, lambda: Path("/proc/net"))
    with listening("127.0.0.1") as port:
        assert port in {one.port for one in lookout.listeners()}
    assert port not in {one.port for one in lookout.listeners()}
    assert len(asked) == 1
    lookout.close()
    assert asked[0].fileno() == -1
    lookout.listeners()
    assert len(asked) == 2
    lookout.close()


def test_a_lookout_reads_the_tables_where_the_question_is_not_allowed() -> None:
    """A kernel that does not answer is looked at by its tables."""

    def refused() -> socket.socket:
        raise PermissionError

    with listening("127.0.0.1") as port:
        assert port in {one.port for one in Lookout(refused, lambda: Path("/proc/net")).listeners()}
