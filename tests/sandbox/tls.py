"""A TLS server on loopback that answers for any name, and first messages of TLS made by hand."""

import socket
import ssl
import subprocess
import threading
from contextlib import suppress
from pathlib import Path


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for two names, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    words = (
        "openssl req -x509 -nodes -days 2 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -subj /CN=a.com"
    )
    names = "subjectAltName=DNS:a.com,DNS:evil.example,IP:127.0.0.1"
    files = ["-addext", names, "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*words.split(), *files], check=True, capture_output=True)
    return certificate, key


class Secure:
    """A server that keeps which name each client asked for, and answers 200."""

    def __init__(self, certificate: Path, key: Path) -> None:
        self.asked: list[str] = []
        self.certificate = certificate
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._context.sni_callback = self._keep

    def _keep(self, _: ssl.SSLSocket | ssl.SSLObject, name: str | None, __: ssl.SSLContext) -> None:
        self.asked.append(name or "")

    def serve(self, connection: socket.socket) -> None:
        """Answer one connection in a thread."""
        threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(10)
            with self._context.wrap_socket(connection, server_side=True) as secure:
                secure.recv(65_536)
                secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")

    def ask(self, connection: socket.socket, name: str | None) -> bytes:
        """What it answers over this connection to a client that asks for a name."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        context.check_hostname = name is not None
        with context.wrap_socket(connection, server_hostname=name) as secure:
            secure.sendall(b"GET / HTTP/1.1\r\n\r\n")
            return secure.recv(65_536)


def real_hello(name: str | None) -> bytes:
    """The first message as the real library writes it."""
    context = ssl.create_default_context()
    context.check_hostname = name is not None
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname=name).do_handshake()
    return outgoing.read()


def split_records(hello: bytes, size: int) -> bytes:
    """The same message over many records."""
    parts = [hello[at : at + size] for at in range(5, len(hello), size)]
    return b"".join(hello[:3] + len(part).to_bytes(2, "big") + part for part in parts)


def made_hello(*extensions: tuple[int, bytes]) -> bytes:
    """A first message with these extensions and no others."""
    listed = b"".join(kind.to_bytes(2, "big") + vector(2, content) for kind, content in extensions)
    body = (
        b"\x03\x03"
        + bytes(32)
        + vector(1, b"")
        + vector(2, b"\x13\x01")
        + vector(1, b"\0")
        + vector(2, listed)
    )
    return b"\x16\x03\x01" + vector(2, b"\x01" + vector(3, body))


def server_names(*names: bytes, kind: int = 0) -> tuple[int, bytes]:
    """The extension that names hosts."""
    return 0, vector(2, b"".join(bytes([kind]) + vector(2, name) for name in names))


def vector(width: int, content: bytes) -> bytes:
    """Bytes after their length."""
    return len(content).to_bytes(width, "big") + content
