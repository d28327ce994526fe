"""`python -m harness_executor` is the `harness` command."""

import sys

from harness_executor.cli.door import harness

sys.exit(harness())
