#!/usr/bin/env python3
"""A key-value store over HTTP."""

import argparse
import json
import pathlib
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Store:
    def __init__(self, path):
        self.path = path
        self.data = json.loads(path.read_text()) if path and path.exists() else {}

    def save(self):
        if self.path:
            self.path.write_text(json.dumps(self.data))


class Handler(BaseHTTPRequestHandler):
    store: Store

    def do_GET(self):
        if self.path == "/keys":
            return self.answer(HTTPStatus.OK, sorted(self.store.data))
        key = self.key()
        if key not in self.store.data:
            return self.answer(HTTPStatus.NOT_FOUND, {"error": "no such key"})
        return self.answer(HTTPStatus.OK, {"key": key, "value": self.store.data[key]})

    def do_PUT(self):
        key = self.key()
        if not key:
            return self.answer(HTTPStatus.BAD_REQUEST, {"error": "PUT /keys/NAME"})
        size = int(self.headers.get("Content-Length", 0))
        self.store.data[key] = self.rfile.read(size).decode()
        self.store.save()
        return self.answer(HTTPStatus.OK, {"key": key, "value": self.store.data[key]})

    def key(self):
        return self.path.removeprefix("/keys/") if self.path.startswith("/keys/") else ""

    def answer(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="localhost")
    parser.add_argument("--port", type=int, default=9000)
    parser.add_argument("--file", type=pathlib.Path)
    args = parser.parse_args()
    Handler.store = Store(args.file)
    with ThreadingHTTPServer((args.host, args.port), Handler) as server:
        print(f"serving on http://{args.host}:{args.port}")
        server.serve_forever()


if __name__ == "__main__":
    main()
