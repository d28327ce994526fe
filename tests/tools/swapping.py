"""Lets two names change places until nobody waits for it; started by file name with a bare interpreter."""

import ctypes
import os
import sys

_HERE = -100
_EXCHANGE = 2
_TURNS = 500


def main(one: bytes, other: bytes) -> None:
    """Swap as fast as the kernel does it."""
    parent, libc = os.getppid(), ctypes.CDLL(None, use_errno=True)
    sys.stdout.write("swapping\n")
    sys.stdout.flush()
    while os.getppid() == parent:
        for _ in range(_TURNS):
            if libc.renameat2(_HERE, one, _HERE, other, _EXCHANGE) != 0:
                raise OSError(ctypes.get_errno(), "the names cannot be swapped")


if __name__ == "__main__":
    main(os.fsencode(sys.argv[1]), os.fsencode(sys.argv[2]))
