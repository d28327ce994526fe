"""Between a command and the shell: no traceback leaves, every error has words and a code."""

import errno
import importlib
import io
import os
import sys
import traceback
from contextlib import suppress

from harness_executor import config, faults
from harness_executor.cli import interrupts
from harness_executor.cli.parsing import redactor
from harness_executor.errors import HarnessError
from harness_executor.ui.plain import plain_lines


def guarded(module: str, words: list[str]) -> int:
    """Run one subcommand and give its exit code."""
    interrupts.install()
    _say_what_can_be_said()
    try:
        faults.arm(*config.take_faults())
        config.leave_out_plugins()
        code = importlib.import_module(f"harness_executor.cli.{module}").main(words)
        sys.stdout.flush()
    except HarnessError as error:
        return _say(error.message, error.hint, error.exit_code)
    except BrokenPipeError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    except OSError as error:
        return _say(_disk_words(error), _disk_hint(error), 1)
    except Exception as error:
        return _say(
            f"{type(error).__name__}: {error}", f"this is a defect; the trace is in {_keep_trace()}", 1
        )
    else:
        return int(code)


def _say_what_can_be_said() -> None:
    """A terminal that has not every letter gets its number in place of it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _say(message: str, hint: str, code: int) -> int:
    said = f"error: {message}\n" + (f"\nhint: {hint}\n" if hint else "")
    text = plain_lines(redactor().clean(said))
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()
    return code


def _disk_words(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"


def _disk_hint(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "make room on the disk, then `harness resume`; nothing that was acknowledged is lost"
    return "check that the place exists and may be written"


def _keep_trace() -> str:
    path = config.state_home() / "last-crash.txt"
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(redactor().clean(traceback.format_exc()))
    return str(path)
