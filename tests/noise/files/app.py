"""Notes, kept by a server that is never twice the same."""

import json
import os
import random
import time
import uuid
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NOTES = {}


class Notes(BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(random.random() / 50)
        parts = self.path.strip("/").split("/")
        if parts == ["notes"]:
            return self.answer(200, random.sample(list(NOTES.values()), len(NOTES)))
        if parts == ["weather"]:
            return self.weather()
        if parts[0] == "notes" and parts[-1] in NOTES:
            return self.answer(200, NOTES[parts[-1]])
        self.answer(404, {"error": "not found", "incident": str(uuid.uuid4())})

    def do_POST(self):
        time.sleep(random.random() / 50)
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])) or "{}")
        if not sent.get("text"):
            return self.answer(400, {"error": "a note has a text", "incident": str(uuid.uuid4())})
        note = {"id": str(uuid.uuid4()), "text": sent["text"], "created": now()}
        NOTES[note["id"]] = note
        self.answer(201, note)

    def weather(self):
        if random.random() < 0.12:
            return self.answer(500, {"error": "the station does not answer"})
        self.answer(200, {"sky": random.choice(["blue", "grey"]), "seen": now()})

    def answer(self, status, body):
        content = json.dumps({**body, "served_by": os.getpid()} if isinstance(body, dict) else body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.send_header("etag", f'W/"{uuid.uuid4().hex}"')
        self.send_header("x-request-id", str(uuid.uuid4()))
        self.end_headers()
        self.wfile.write(content)


def now():
    return datetime.now(timezone.utc).isoformat()


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Notes).serve_forever()
