"""The project every claim is about: a list of items over HTTP, with nothing but the standard library."""

import json
from typing import Any

from tests import rooms

WEB = '''\
"""Routes, and a server that answers by them; of two that fit, the one written later answers."""

import json
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

ROUTES = []


def on(method, pattern):
    def keep(function):
        ROUTES.insert(0, (method, re.compile(pattern), function))
        return function

    return keep


def otherwise(method):
    def keep(function):
        ROUTES.append((method, re.compile("/.*"), function))
        return function

    return keep


class Ask(BaseHTTPRequestHandler):
    def answer(self):
        url = urlsplit(self.path)
        self.query = dict(parse_qsl(url.query))
        self.text = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        for method, pattern, function in ROUTES:
            found = pattern.fullmatch(unquote(url.path))
            if method == self.command and found:
                return self.say(*function(self, *found.groups()))
        return self.say(404, {"error": "not found"})

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = answer

    def data(self):
        try:
            return json.loads(self.text or "{}")
        except ValueError:
            return {}

    def say(self, status, value=None, headers=()):
        kind = "text/html" if isinstance(value, str) else "application/json"
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        content = b"" if value is None else text.encode()
        self.send_response(status)
        for name, given in {"content-type": kind, "content-length": len(content), **dict(headers)}.items():
            self.send_header(name, str(given))
        self.end_headers()
        self.wfile.write(content)


def serve():
    port = int(sys.argv[1] if len(sys.argv) > 1 else os.environ["PORT"])
    server = ThreadingHTTPServer(("127.0.0.1", port), Ask)
    print(f"listening on port {port}", flush=True)
    server.serve_forever()
'''

APP = """\
import routes
import web

if __name__ == "__main__":
    web.serve()
"""

STRICT = """\
import sys

if len(sys.argv) > 2:
    sys.exit(f"unknown option {sys.argv[2]}")
"""
"""The beginning of a program that takes a port and nothing else."""

ROUTES = """\
from web import on, otherwise

ITEMS = {}


@on("GET", "/items")
def listed(ask):
    return 200, list(ITEMS.values())


@on("POST", "/items")
def add(ask):
    name = ask.data().get("name")
    if not name:
        return 400, {"error": "name is required"}
    number = len(ITEMS) + 1
    ITEMS[number] = {"id": number, "name": name}
    return 201, ITEMS[number]


@on("GET", "/items/([0-9]+)")
def one(ask, number):
    item = ITEMS.get(int(number))
    return (200, item) if item else (404, {"error": "no such item"})
"""

COUNT = """

@on("GET", "/items/count")
def count(ask):
    return 200, {"count": len(ITEMS)}
"""
"""The change most claims are about."""

CATCH_ALL = """

@otherwise("GET")
def anything(ask):
    return 200, "<h1>Welcome</h1>"
"""
"""A server that says yes to every path, as a single-page application does."""

YES = (
    CATCH_ALL
    + """

@otherwise("DELETE")
def nothing_left(ask):
    return 200, {}
"""
)
"""A server that says yes to whatever it is asked."""

LOGIN = """

@otherwise("GET")
def login(ask):
    return 302, None, {"location": "/login"}
"""
"""A server that leads everybody to its login who is nowhere."""

PYTHON = f"{rooms.PYTHON} -S"
START = f"{PYTHON} app.py {{port}}"


def environment(command: str = START, readiness: Any = None, **runtime: str) -> str:
    """The text of harness/environment.json."""
    startup: dict[str, Any] = {"command": command}
    if readiness:
        startup["readiness"] = readiness
    return json.dumps({"version": "2.0", "runtime": runtime, "startup": startup}, indent=2) + "\n"
