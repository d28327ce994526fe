#!/usr/bin/env python3
"""Task state for coding agents; the work is done by harness_executor.cli.task_state."""

import sys

from harness_executor.cli.task_state import script

if __name__ == "__main__":
    sys.exit(script())
