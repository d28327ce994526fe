import asyncio
import json
from collections import defaultdict

from fastapi import FastAPI, HTTPException, WebSocket, WebSocketDisconnect
from sse_starlette.sse import EventSourceResponse

app = FastAPI(title="Live chat")
history: dict[str, list[dict]] = defaultdict(list)
listeners: dict[str, set[asyncio.Queue]] = defaultdict(set)


def say(room: str, author: str, text: str) -> dict:
    message = {"author": author, "text": text}
    history[room].append(message)
    for queue in listeners[room]:
        queue.put_nowait(message)
    return message


@app.get("/")
def index() -> dict:
    return {"rooms": sorted(history)}


@app.get("/rooms/{room}/messages")
def messages(room: str) -> list[dict]:
    return history[room]


@app.websocket("/rooms/{room}")
async def join(socket: WebSocket, room: str, name: str = "anonymous") -> None:
    await socket.accept()
    try:
        while True:
            await socket.send_json(say(room, name, await socket.receive_text()))
    except WebSocketDisconnect:
        pass


@app.get("/rooms/{room}/events")
async def events(room: str) -> EventSourceResponse:
    queue: asyncio.Queue = asyncio.Queue()

    async def stream():
        listeners[room].add(queue)
        try:
            for message in list(history[room]):
                yield {"event": "message", "data": json.dumps(message)}
            while True:
                yield {"event": "message", "data": json.dumps(await queue.get())}
        finally:
            listeners[room].discard(queue)

    return EventSourceResponse(stream())
