from aiohttp import web

from . import views


def setup_routes(app: web.Application) -> None:
    app.router.add_get("/", views.index)
    app.router.add_post("/polls", views.create)
    app.router.add_get("/polls/{name}", views.show)
    app.router.add_post("/polls/{name}/votes", views.vote)
    app.router.add_get("/polls/{name}/winner", views.winner)
