"""Lines that tell why a program failed."""

import pytest

from harness_executor.evidence.telling import telling_line

NODE = """node:fs:1386
  const result = binding.mkdir(
                         ^

Error: ENOENT: no such file or directory, mkdir '/etc/todos'
    at Object.mkdirSync (node:fs:1386:26) {
  errno: -2,
  code: 'ENOENT'
}

Node.js v20.20.2"""
PYTHON = """Traceback (most recent call last):
  File "/app/main.py", line 3, in <module>
    raise RuntimeError("no settings")
RuntimeError: no settings"""
NPM = """> api@1.0.0 start
> node dist/main.js

TypeError [ERR_INVALID_ARG]: the "url" must be a text
    at main (/app/dist/main.js:3:1)
npm error Lifecycle script `start` failed with error:
npm error code 1"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (NODE, "Error: ENOENT: no such file or directory, mkdir '/etc/todos'"),
        (PYTHON, "RuntimeError: no settings"),
        (NPM, 'TypeError [ERR_INVALID_ARG]: the "url" must be a text'),
        ("\x1b[31mcannot go on\x1b[39m\n}\n", "cannot go on"),
        ("", ""),
    ],
)
def test_the_line_that_names_the_error_is_found(text: str, line: str) -> None:
    """Places, brackets and what a runner adds are passed over."""
    assert telling_line(text) == line
