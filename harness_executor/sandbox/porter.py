"""A door: each that comes is served in a thread of its own, so many at a time, and all end with the door."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread

Serve = Callable[[socket.socket], None]
"""What is done for one connection; it is closed afterwards."""


class Porter:
    """Takes connections."""

    def __init__(self, serve: Serve, most: int, turn_away: Serve = lambda _: None) -> None:
        self._serve, self._most, self._turn_away = serve, most, turn_away
        self._lock = Lock()
        self._open: dict[socket.socket, Thread] = {}
        self._is_closed = False

    def take(self, client: socket.socket) -> None:
        """Have a connection served, or turned away when there are too many; it is closed in the end."""
        thread = Thread(target=self._attend, args=(client,), name="porter", daemon=True)
        with self._lock:
            is_taken = not self._is_closed and len(self._open) < self._most
            if is_taken:
                self._open[client] = thread
                thread.start()
        if not is_taken:
            with client:
                self._turn_away(client)

    def close(self) -> None:
        """End every connection, and take no more."""
        with self._lock:
            self._is_closed = True
            threads = list(self._open.values())
            for client in self._open:
                with suppress(OSError):
                    client.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(5)

    def _attend(self, client: socket.socket) -> None:
        try:
            self._serve(client)
        finally:
            with self._lock:
                del self._open[client]
                client.close()


@contextmanager
def attended(listener: socket.socket, porter: Porter) -> Iterator[None]:
    """Whoever connects is taken while the block runs; afterwards every connection is cut."""
    thread = Thread(target=_accept, args=(listener, porter), name="door", daemon=True)
    thread.start()
    try:
        yield
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        porter.close()
        thread.join(5.0)


def _accept(listener: socket.socket, porter: Porter) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        porter.take(client)
