import json

from aiohttp import web


def _problem(kind, text):
    return kind(text=json.dumps({"error": text}), content_type="application/json")


def _poll(request):
    try:
        return request.app["polls"][request.match_info["name"]]
    except KeyError:
        raise _problem(web.HTTPNotFound, "no such poll") from None


async def index(request):
    return web.json_response({"polls": sorted(request.app["polls"])})


async def create(request):
    data = await request.json()
    choices = data.get("choices") or []
    if len(choices) < 2:
        raise _problem(web.HTTPBadRequest, "a poll has two choices or more")
    request.app["polls"][data["name"]] = dict.fromkeys(choices, 0)
    return web.json_response({"name": data["name"], "choices": choices}, status=201)


async def show(request):
    return web.json_response({"name": request.match_info["name"], "votes": _poll(request)})


async def vote(request):
    poll = _poll(request)
    choice = (await request.json()).get("choice")
    if choice not in poll:
        raise _problem(web.HTTPBadRequest, "no such choice")
    poll[choice] += 1
    return web.json_response({"choice": choice, "votes": poll[choice]})
