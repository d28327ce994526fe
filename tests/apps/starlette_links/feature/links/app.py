import os
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse
from starlette.routing import Route

BASE_URL = os.environ.get("BASE_URL", "http://localhost:8080")
links: dict[str, str] = {}
visits: dict[str, int] = {}


async def create(request: Request) -> JSONResponse:
    data = await request.json()
    url = data.get("url", "")
    if urlsplit(url).scheme not in ("http", "https"):
        raise HTTPException(422, "url must be http or https")
    code = data.get("code") or format(len(links) + 1, "x")
    if code in links:
        raise HTTPException(409, "code is taken")
    links[code] = url
    return JSONResponse({"code": code, "url": url, "short": f"{BASE_URL}/{code}"}, status_code=201)


async def follow(request: Request) -> RedirectResponse:
    code = request.path_params["code"]
    url = links.get(code)
    if url is None:
        raise HTTPException(404, "no such link")
    visits[code] = visits.get(code, 0) + 1
    return RedirectResponse(url, status_code=307)


async def stats(request: Request) -> JSONResponse:
    code = request.path_params["code"]
    if code not in links:
        raise HTTPException(404, "no such link")
    return JSONResponse({"code": code, "url": links[code], "visits": visits.get(code, 0)})


async def ping(request: Request) -> PlainTextResponse:
    return PlainTextResponse("pong")


async def on_http_error(request: Request, error: HTTPException) -> JSONResponse:
    return JSONResponse({"error": error.detail}, status_code=error.status_code)


app = Starlette(
    routes=[
        Route("/ping", ping),
        Route("/links", create, methods=["POST"]),
        Route("/links/{code}/stats", stats),
        Route("/{code}", follow),
    ],
    exception_handlers={HTTPException: on_http_error},
)
