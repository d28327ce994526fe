"""A to-do list over HTTP, with nothing but the standard library."""

import argparse
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Todos:
    """The to-do list."""

    def __init__(self):
        self.items = {}
        self.next_id = 1

    def add(self, title):
        item = {"id": self.next_id, "title": title, "done": False}
        self.items[self.next_id] = item
        self.next_id += 1
        return item

    def finish(self, number):
        item = self.items.get(number)
        if item:
            item["done"] = True
        return item


class Api(BaseHTTPRequestHandler):
    """The HTTP interface."""

    todos = Todos()

    def do_GET(self):
        if self.path == "/health":
            return self.answer(200, {"ok": True})
        if self.path == "/todos":
            return self.answer(200, list(self.todos.items.values()))
        return self.answer(404, {"error": "not found"})

    def do_POST(self):
        done = re.fullmatch(r"/todos/(\d+)/done", self.path)
        if done:
            item = self.todos.finish(int(done[1]))
            return self.answer(200, item) if item else self.answer(404, {"error": "no such to-do"})
        if self.path == "/todos":
            title = self.body().get("title")
            if not title:
                return self.answer(400, {"error": "title is required"})
            return self.answer(201, self.todos.add(title))
        return self.answer(404, {"error": "not found"})

    def body(self):
        length = int(self.headers.get("content-length") or 0)
        try:
            return json.loads(self.rfile.read(length) or "{}")
        except ValueError:
            return {}

    def answer(self, status, value):
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8000)
    ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Api).serve_forever()
