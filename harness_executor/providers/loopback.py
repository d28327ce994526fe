"""A model server on this machine that speaks the Anthropic wire protocol and plays a script."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness_executor.errors import ProviderError
from harness_executor.providers.script import Script

ROLES = ("planner", "executor", "verifier", "reviewer")
_STOPS = {"end": "end_turn", "tools": "tool_use", "length": "max_tokens", "refusal": "refusal"}


class LoopbackModel:
    """A scripted model behind real HTTP, for as long as the block lasts."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                model.requests.append(asked)
                status, answer = model.answer(asked, len(model.requests))
                body = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> "LoopbackModel":
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answer(self, asked: dict[str, Any], number: int) -> tuple[int, dict[str, Any]]:
        """The status and the message for one request."""
        system = _text(asked.get("system", ""))
        role = next((role for role in ROLES if f"You are the {role}" in system), "")
        turn = sum(message["role"] == "assistant" for message in asked["messages"])
        try:
            data = self.script.reply(role, _text(asked["messages"][0]["content"]), turn)
        except ProviderError as error:
            return 400, {
                "type": "error",
                "error": {"type": "invalid_request_error", "message": error.message},
            }
        return 200, _message(data, asked, number)


def _message(data: Any, asked: dict[str, Any], number: int) -> dict[str, Any]:
    calls = [
        {
            "type": "tool_use",
            "id": f"toolu_{number}_{at}",
            "name": call["name"],
            "input": call.get("arguments", {}),
        }
        for at, call in enumerate(data.get("calls", ()))
    ]
    text = [{"type": "text", "text": data["text"]}] if data.get("text") else []
    stop = data.get("stop", "tools" if calls else "end")
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": asked["model"],
        "content": [*text, *calls],
        "stop_reason": _STOPS.get(stop, stop),
        "stop_sequence": None,
        "usage": {"input_tokens": len(json.dumps(asked)) // 4, "output_tokens": len(json.dumps(data)) // 4},
    }


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content if isinstance(block, dict))
