"""`harness demo`: the whole program on a sample project, with a scripted model on loopback."""

import os
import sys
import tempfile
from pathlib import Path

from harness_executor.cli.parsing import Parser
from harness_executor.cli.run import main as run
from harness_executor.demo.sample import REQUEST, make_sample
from harness_executor.demo.script import HONEST, LIES
from harness_executor.errors import NoBox
from harness_executor.providers.loopback import LoopbackModel
from harness_executor.providers.script import Script

_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "HARNESS_MODEL")


def main(words: list[str]) -> int:
    """Run the demo."""
    parser = Parser(
        "harness demo", description="See a change made and proved, or a lie refused. Needs no key."
    )
    parser.add_argument(
        "--lie", action="store_true", help="let the model lie, twice; exits 4, with the reasons"
    )
    options = parser.parse_args(words[1:])
    folder = Path(tempfile.mkdtemp(prefix="harness-demo-"))
    _say("The model in this demo is scripted: it runs on this machine and plays a fixed part.")
    _say(
        "Everything else is real: SDK, subagent processes, git, servers, every HTTP exchange, and the gate.\n"
    )
    if not options.lie:
        return _play(HONEST, folder / "todo-api")
    codes = []
    for number, (title, script) in enumerate(LIES.items(), 1):
        _say(f"\n=== Lie {number}: {title} ===\n")
        codes.append(_play(script, folder / f"lie-{number}"))
    caught = all(code == 4 for code in codes)
    _say(f"\n{sum(code == 4 for code in codes)} of {len(codes)} lies were refused.")
    return 4 if caught else 1


def _play(script: Script, target: Path) -> int:
    make_sample(target)
    _say(f'$ cd {target}\n$ harness-run "{REQUEST}"\n')
    with LoopbackModel(script) as model:
        for name in _KEYS:
            os.environ.pop(name, None)
        os.environ["ANTHROPIC_BASE_URL"] = model.url
        os.environ["ANTHROPIC_API_KEY"] = "scripted"
        os.environ["HARNESS_CONFIG_HOME"] = str(target.parent / "no-config")
        words = ["run", REQUEST, "--repo", str(target), "--model", "anthropic:scripted"]
        try:
            return run(words)
        except NoBox as error:
            # the only code that runs is our own sample, so nobody has to be asked
            _say(f"{error.message}\nThe demo goes on without a box; your own projects would be refused.\n")
            return run([*words, "--sandbox", "none"])


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
