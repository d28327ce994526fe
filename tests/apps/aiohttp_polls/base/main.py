import argparse
import logging

from aiohttp import web

from polls.routes import setup_routes


def build_app() -> web.Application:
    app = web.Application()
    app["polls"] = {}
    setup_routes(app)
    return app


def main() -> None:
    parser = argparse.ArgumentParser(description="polls over HTTP")
    parser.add_argument("-H", "--host", default="127.0.0.1")
    parser.add_argument("-p", "--port", type=int, default=8080)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO)
    web.run_app(build_app(), host=args.host, port=args.port)


if __name__ == "__main__":
    main()
