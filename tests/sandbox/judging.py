"""What the kernel would answer to a system call: its filter machine, as far as filters of ours use it."""

import errno
import struct

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
NO, NO_CALL, NO_FAMILY = ERROR | errno.EPERM, ERROR | errno.ENOSYS, ERROR | errno.EAFNOSUPPORT


def judge(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """The answer of a filter to a call."""
    words = [argument & 0xFFFF_FFFF_FFFF_FFFF for argument in (*arguments, *[0] * 6)[:6]]
    data = struct.pack("<IIQ6Q", number, architecture, 0, *words)
    lines: list[tuple[int, int, int, int]] = list(struct.iter_unpack("<HBBI", program))
    here, held = 0, 0
    while True:
        code, yes, no, value = lines[here]
        here += 1
        match code:
            case 0x20:
                (held,) = struct.unpack_from("<I", data, value)
            case 0x54:
                held &= value
            case 0x15:
                here += yes if held == value else no
            case 0x35:
                here += yes if held >= value else no
            case 0x45:
                here += yes if held & value else no
            case 0x06:
                return value
            case _:
                raise AssertionError(f"instruction {code:#x} is not known here")
