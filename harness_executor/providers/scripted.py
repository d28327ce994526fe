"""A model that says what it is told: the twin of every provider, for tests."""

from pathlib import Path

from harness_executor.errors import ModelUnknown
from harness_executor.kernel.canonical import Ambiguous, parse
from harness_executor.kernel.frozen import frozen
from harness_executor.providers.base import Reply, Request, Said, Stop, ToolCall, Usage
from harness_executor.providers.script import Script


@frozen
class ScriptedProvider:
    """Plays a script."""

    script: Script

    def complete(self, request: Request) -> Reply:
        """The next reply of the script."""
        opening = request.turns[0]
        prompt = opening.text if isinstance(opening, Said) else ""
        turn = sum(isinstance(said, Reply) for said in request.turns)
        data = self.script.reply(request.role, prompt, turn)
        calls = tuple(
            ToolCall(f"call-{turn}-{number}", str(call["name"]), call.get("arguments", {}))
            for number, call in enumerate(data.get("calls", ()))
        )
        stop = Stop(data["stop"]) if "stop" in data else Stop.TOOLS if calls else Stop.END
        usage = Usage(len(prompt) // 4 + 100 * turn, 50)
        return Reply(str(data.get("text", "")), calls, stop, usage)


def load(path: Path) -> ScriptedProvider:
    """The scripted model of a JSON file."""
    try:
        lines = parse(path.read_text(encoding="utf-8"))
    except (OSError, Ambiguous, UnicodeDecodeError) as error:
        raise ModelUnknown(
            f"cannot read the script {path}: {error}", hint="name a JSON file: --model scripted:FILE"
        ) from error
    if not isinstance(lines, dict):
        raise ModelUnknown(
            f"the script {path} is not a JSON object", hint='role to conversations: {"planner": [...]}'
        )
    return ScriptedProvider(Script(lines))
