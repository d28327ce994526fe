"""What a program could try, each as a script that says the error number it met, or 0.

They are for a box only, which has namespaces of its own: on the machine itself some would do harm.
"""

import os

from tests.sandbox.calls import DENIED, EXAMINED

MACHINE = os.uname().machine
CALLS = {**DENIED[MACHINE], **EXAMINED[MACHINE]}

BEGINNING = f"""
import ctypes, fcntl, mmap, os, signal, socket, struct, termios, time
CALLS = {CALLS!r}
LIBC = ctypes.CDLL(None, use_errno=True)

def raw(number, *arguments):
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return LIBC.syscall(ctypes.c_long(number), *words)

def call(name, *arguments):
    return say(raw(CALLS[name], *arguments))

def say(answer):
    print(ctypes.get_errno() if answer == -1 else 0)

def born(child):
    if child == 0:
        os._exit(0)
    say(child)

def text(words):
    return ctypes.c_char_p(words)

def sleeper():
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    return child

def piece(buffer):
    return text(struct.pack("QQ", ctypes.addressof(buffer), len(buffer)))

def attempt(act, *words):
    try:
        act(*words)
    except OSError as error:
        print(error.errno)
    else:
        print(0)

def type_for(terminal, request, data):
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    attempt(fcntl.ioctl, terminal, request, data)
"""

NOT_PERMITTED = {
    "ptrace": "call('ptrace', 16, sleeper(), 0, 0)",
    "process_vm_readv": (
        "secret, found = ctypes.create_string_buffer(b'secret', 6), ctypes.create_string_buffer(6)\n"
        "call('process_vm_readv', sleeper(), piece(found), 1, piece(secret), 1, 0)"
    ),
    "process_vm_writev": (
        "place, words = ctypes.create_string_buffer(6), ctypes.create_string_buffer(b'forged', 6)\n"
        "call('process_vm_writev', sleeper(), piece(words), 1, piece(place), 1, 0)"
    ),
    "kcmp": "call('kcmp', os.getpid(), sleeper(), 0, 0, 0)",
    "pidfd_getfd": "call('pidfd_getfd', os.pidfd_open(sleeper()), 0, 0)",
    "io_uring_setup": "call('io_uring_setup', 4, ctypes.create_string_buffer(120))",
    "userfaultfd": "call('userfaultfd', 1)",
    "keyctl": "call('keyctl', 0, -3, 0)",
    "add_key": "call('add_key', text(b'user'), text(b'name'), text(b'value'), 5, -2)",
    "perf_event_open": (
        "flags = 1 | 1 << 5 | 1 << 6\n"
        "event = struct.pack('IIQQQQQ', 1, 112, 1, 0, 0, 0, flags) + bytes(80)\n"
        "call('perf_event_open', text(event), 0, -1, -1, 0)"
    ),
    "unshare": "call('unshare', 0x10000000)",
    "clone with a user namespace": "born(raw(CALLS['clone'], 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0))",
    "clone with a network namespace": "born(raw(CALLS['clone'], 0x40000000 | signal.SIGCHLD, 0, 0, 0, 0))",
    "setns": "call('setns', os.open('/proc/self/ns/uts', os.O_RDONLY), 0)",
    "mount": "call('mount', text(b'none'), text(b'/mnt'), text(b'tmpfs'), 0, 0)",
    "fsopen": "call('fsopen', text(b'tmpfs'), 0)",
    "open_tree": "call('open_tree', -100, text(b'/mnt'), 0)",
    "chroot": "call('chroot', text(b'/'))",
    "fanotify_init": "call('fanotify_init', 0x200, 0)",
    "sethostname": "call('sethostname', text(b'box'), 3)",
    "adjtimex": "call('adjtimex', ctypes.create_string_buffer(512))",
    "a raw socket": "attempt(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1)",
    "a packet socket of the internet": "attempt(socket.socket, socket.AF_INET, 10, 768)",
    "typing into the terminal": "os.setsid(); type_for(os.openpty()[1], 0x5412, b'x')",
}
"""Acts that work without the filter and are not permitted with it."""

NO_SUCH_FAMILY = {
    "a socket to the host of a virtual machine": "attempt(socket.socket, 40, socket.SOCK_STREAM)",
    "a packet socket": "attempt(socket.socket, 17, socket.SOCK_DGRAM)",
    "netlink for devices": "attempt(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW, 15)",
    "netlink for the audit": "attempt(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW, 9)",
    "generic netlink": "attempt(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW, 16)",
}
"""Acts that work without the filter and have no such family with it."""

FOREIGN: dict[str, str] = {}
"""Acts of a machine that this one also understands."""

if MACHINE == "x86_64":
    FOREIGN["a number of x32"] = "LIBC.syscall(ctypes.c_long(0x40000000 | 39))"
    FOREIGN["the gate of 32-bit programs"] = (
        "page = mmap.mmap(-1, 4096, prot=7)\n"
        "page.write(bytes.fromhex('b814000000cd80c3'))\n"
        "ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()"
    )
    NOT_PERMITTED["modify_ldt"] = "call('modify_ldt', 0, ctypes.create_string_buffer(64), 64)"

WORK = {
    "subprocess": (
        "import subprocess, sys\n"
        "assert subprocess.run([sys.executable, '-c', 'print(6*7)'], capture_output=True).stdout == b'42\\n'"
    ),
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "assert sum(ThreadPoolExecutor(8).map(abs, range(100))) == 4950"
    ),
    "multiprocessing": (
        "import multiprocessing\n"
        "with multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "    assert pool.map(abs, [-1, -2]) == [1, 2]"
    ),
    "asyncio": (
        "import asyncio, sys\n"
        "async def main():\n"
        "    server = await asyncio.start_server(lambda reader, writer: writer.close(), '127.0.0.1', 0)\n"
        "    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())\n"
        "    assert await reader.read() == b''\n"
        "    child = await asyncio.create_subprocess_exec(sys.executable, '-c', 'exit(3)')\n"
        "    assert await child.wait() == 3\n"
        "asyncio.run(main())"
    ),
    "names and addresses": (
        "import socket\n"
        "assert socket.getaddrinfo('127.0.0.1', 80)\n"
        "assert 'lo' in [name for _, name in socket.if_nameindex()]\n"
        "one, other = socket.socketpair()"
    ),
    "a pseudo terminal": "import pty\nassert pty.spawn(['true']) == 0",
    "a filter of its own": (
        "import ctypes, struct\n"
        "libc = ctypes.CDLL(None)\n"
        "line = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0x7FFF0000), 8)\n"
        "assert libc.prctl(38, 1, 0, 0, 0) == 0\n"
        "assert libc.prctl(22, 2, struct.pack('HxxxxxxQ', 1, ctypes.addressof(line)), 0, 0) == 0"
    ),
}
"""What programs do, in Python, and must go on doing under the filter."""
