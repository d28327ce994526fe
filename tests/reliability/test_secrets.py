"""A key that the model's commands or its service say aloud reaches no prompt, log, recording or report."""

import json
from pathlib import Path

from harness_executor.demo.sample import REQUEST
from harness_executor.demo.script import HONEST
from harness_executor.providers.loopback import LoopbackModel, Trouble
from harness_executor.providers.script import Script
from tests.canary import CANARY, forms, leaks
from tests.cli.scripted import submit, use
from tests.conftest import Cli

LOOK = """
for entry in /proc/[0-9]*; do
  key=$(tr '\\0' '\\n' < $entry/environ 2>/dev/null | sed -n 's/^ANTHROPIC_API_KEY=//p' | head -1)
  [ -n "$key" ] && break
done
test -n "$key" && echo key in sight
echo "$key"; printf %s "$key" | base64 -w0; echo; printf %s "x$key" | base64 -w0; echo
printf %s "$key" | od -An -tx1 | tr -d ' \\n'; echo
python3 -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.argv[1], safe=""))' "$key"
"""


def _environment(model: LoopbackModel) -> dict[str, str]:
    return {"ANTHROPIC_API_KEY": CANARY, "ANTHROPIC_BASE_URL": model.url}


def _sent(model: LoopbackModel) -> str:
    return b"\n".join(model.bodies).decode()


def test_a_key_that_a_command_finds_goes_no_further(sample: Path, home: Path, cli: Cli) -> None:
    """Without a box a command can read the key of its subagent; what it prints is redacted everywhere."""
    leaking = [use("shell", command=LOOK), submit({"status": "failed", "summary": f"the key is {CANARY}"})]
    script = Script({**HONEST.lines, "executor": [{"replies": leaking}]})
    with LoopbackModel(script) as model:
        words = ("run", REQUEST, "--repo", sample, "--model", "anthropic:leaking", "--sandbox", "none")
        ended = cli(*words, env=_environment(model))
    assert ended.code == 1
    results = json.dumps([asked["messages"] for asked in model.requests])
    assert "key in sight\\n[redacted]\\n" in results
    said = ended.out + ended.err + _sent(model).replace(f"the key is {CANARY}", "")
    assert [name for name, text in forms(CANARY).items() if text.decode() in said] == []
    assert list(leaks(sample)) == []
    assert list(leaks(home)) == []


def test_a_key_that_the_service_echoes_goes_no_further(sample: Path, home: Path, cli: Cli) -> None:
    """An error that quotes the key is shown and kept without it."""
    trouble = Trouble(401, message=f"the key {CANARY} is not valid")
    with LoopbackModel(HONEST, [trouble]) as model:
        words = ("run", REQUEST, "--repo", sample, "--model", "anthropic:closed")
        ended = cli(*words, env=_environment(model))
    assert ended.code == 3
    assert "auth" in ended.out
    assert CANARY not in ended.out + ended.err
    assert list(leaks(sample)) == []
    assert list(leaks(home)) == []
