"""A Node program: what it is made with, and how it can be started."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from harness_executor.workspace.detect import (
    jsbun,
    jsdatabases,
    jsource,
    jsvars,
    nodeace,
    nodebuilds,
    nodebundles,
    nodepackages,
    nodepages,
    nodepartners,
)
from harness_executor.workspace.detect.nodepackages import run
from harness_executor.workspace.detect.reading import section
from harness_executor.workspace.detect.routes import composed
from harness_executor.workspace.detect.unit import Unit, is_decoy
from harness_executor.workspace.detect.values import Candidate, Kind, Place, Port, Stack, Variable

MOST_SOURCES = 1500
_CODE = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx")
_SERVERS = {
    "@nestjs/core": "nest",
    "next": "next",
    "nuxt": "nuxt",
    "@sveltejs/kit": "sveltekit",
    "@remix-run/node": "remix",
    "express": "express",
    "fastify": "fastify",
    "koa": "koa",
    "@hapi/hapi": "hapi",
    "hapi": "hapi",
    "hono": "hono",
    "restify": "restify",
    "polka": "polka",
    "@adonisjs/core": "adonis",
    "@loopback/rest": "loopback",
    "@feathersjs/express": "feathers",
    "@feathersjs/koa": "feathers",
    "sails": "sails",
    "moleculer-web": "moleculer",
    "elysia": "elysia",
    "h3": "h3",
    "@tinyhttp/app": "tinyhttp",
    "apollo-server": "apollo",
    "@apollo/server": "apollo",
    "graphql-yoga": "yoga",
    "nitropack": "nitro",
    "nitro": "nitro",
    "json-server": "json-server",
    "@strapi/strapi": "strapi",
    "socket.io": "socket.io",
}
_FRONTENDS = {
    "vite": "vite",
    "react-scripts": "react-scripts",
    "@angular/cli": "angular",
    "@vue/cli-service": "vue-cli",
    "gatsby": "gatsby",
    "astro": "astro",
    "parcel": "parcel",
    "webpack-dev-server": "webpack",
}
_CLIS = ("commander", "yargs", "oclif", "@oclif/core", "meow", "cac", "clipanion")
_TOO = ("next", "nuxt", "sveltekit", "remix", "nitro")
"""Frameworks whose own program serves, and which take PORT."""
_OPTIONS = {
    "vite": ("--port", "{port}", "--host", "127.0.0.1"),
    "angular": ("--port", "{port}"),
    "vue-cli": ("--port", "{port}"),
    "astro": ("--port", "{port}"),
    "gatsby": ("-p", "{port}"),
    "webpack": ("--port", "{port}"),
    "sveltekit": ("--port", "{port}"),
}
_STARTS = {
    "start": 84,
    "start:prod": 83,
    "serve": 72,
    "server": 74,
    "start:server": 72,
    "start:api": 74,
    "api": 66,
    "dev": 64,
    "start:dev": 62,
    "develop": 60,
    "dev:server": 60,
}
_GOOD_FILES = ("index", "server", "app", "main", "www", "api")
_NOT_CODE = re.compile(
    r"\.(?:test|spec|stories|d|e2e|min|bundle)\.\w+$|(?:^|/)(?:static|public|assets)/"
    r"|^[^/]*\.config\.\w+$|(?:^|/)(?:webpack|rollup|vite|vitest|jest|karma|babel|postcss|tailwind|eslint)"
    r"(?:\.\w+)?\.config\.\w+$"
)
"""Tests, what is sent to browsers, and settings of tools; others named so are a part of the program."""
_RUNNERS = re.compile(r"\b(?:node|ts-node|tsx|babel-node|nodemon|fastify start)\s")
_DIRECT = re.compile(
    r"^(?:nodemon|node-dev|supervisor|pm2(?:-runtime)?\s+start)\s+(?:--?[\w-]+\s+)*([\w./-]+\.(?:js|mjs|cjs))\s*$"
)


def look(unit: Unit, wanted: str = ".") -> Stack | None:
    """What a unit is, if it is written for Node."""
    if not unit.has("package.json") and not (unit.folder == "." and _lone(unit)):
        return None
    known = nodepackages.packages(unit)
    texts, wide = _texts(unit, wanted), nodepartners.widened(unit)
    with_partners = _texts(wide, wanted) if wide.partners else texts
    framework = next((one for package, one in _SERVERS.items() if package in known), "")
    found = list(_candidates(unit, known, texts, framework))
    data = nodepackages.manifest(unit)
    is_typescript = "typescript" in known or any(name.endswith((".ts", ".tsx")) for name in texts)
    prefixes = [prefix for text in texts.values() for prefix in jsource.prefixes(text)]
    routes = [route for name, text in texts.items() for route in jsource.routes(text, name)]
    return Stack(
        folder=unit.folder,
        language="typescript" if is_typescript else "node",
        package_manager=nodepackages.package_manager(unit),
        version=str(section(data, "engines").get("node") or "")[:40],
        framework=framework
        or (found[0].framework if found else next((one for one in _CLIS if one in known), "")),
        name=str(data.get("name") or "")[:80],
        description=str(data.get("description") or "")[:200],
        dependencies=known,
        lent=nodepartners.lent(unit),
        commands=nodepackages.checks(unit, known),
        candidates=tuple(found),
        routes=composed([*routes, *nodepages.pages(unit)], prefixes),
        variables=tuple(_variables(with_partners)),
        addresses=tuple(jsdatabases.addresses(with_partners | _settings(wide))),
        entries=nodepackages.entries(unit),
        making=nodebuilds.making(unit),
        imports=(str(data["name"]),)
        if data.get("name") and (data.get("main") or data.get("exports"))
        else (),
    )


def _texts(unit: Unit, wanted: str) -> dict[str, str]:
    """The code of a unit without comments, by its files."""
    names = [
        name
        for name in unit.names
        if name.endswith((*_CODE, "bin/www"))
        and not is_decoy(name, wanted)
        and not _is_test(unit.inner(name))
    ]
    return {name: jsource.bare(unit.files.text(name)) for name in names[:MOST_SOURCES]}


def _settings(unit: Unit) -> dict[str, str]:
    """Files in which tools for databases look for a connection."""
    names = [name for name in unit.names if re.search(r"(?:^|/)(?:config|ormconfig|database)\.json$", name)]
    return {name: unit.files.text(name) for name in names}


def _lone(unit: Unit) -> bool:
    """Is there a server without a manifest?"""
    return any(unit.has(f"{name}.{end}") for name in ("server", "app", "index") for end in ("js", "mjs"))


def _is_test(name: str) -> bool:
    return bool(_NOT_CODE.search(name))


def _candidates(
    unit: Unit, known: frozenset[str], texts: dict[str, str], framework: str
) -> Iterator[Candidate]:
    on_bun = jsbun.serving(unit, texts)
    serving = [name for name, text in texts.items() if name in on_bun or jsource.serves(text)]
    everything = "\n".join(
        text for name, text in texts.items() if "process.env" in text or "port" in text.lower()
    )[:400_000]
    front = next((one for package, one in _FRONTENDS.items() if package in known), "")
    has_server = bool(
        framework and (serving or framework in (*_TOO, "nest", "json-server", "strapi", "adonis", "loopback"))
    )
    has_server = has_server or any(re.search(r"createServer|http", texts[name]) for name in serving)
    has_server = has_server or bool(on_bun) or _is_served(unit, framework)
    yield from nodebundles.bundled(unit)
    yield from nodeace.served(unit)
    if has_server:
        port = _port(unit, texts, serving, everything, framework)
        yield from _by_script(unit, framework or "node", port)
        yield from _by_file(unit, texts, serving, everything, framework or "node")
    elif front and not _is_published(unit):
        yield from _frontend(unit, front)


def _is_published(unit: Unit) -> bool:
    """Is it a package for others, whose page for browsers is only for those who work on it?"""
    data = nodepackages.manifest(unit)
    return not data.get("private") and any(data.get(key) for key in ("exports", "module", "bin"))


def _is_served(unit: Unit, framework: str) -> bool:
    """Does a program that depends on a framework have a script that starts it, wherever it listens?"""
    needed = section(nodepackages.manifest(unit), "dependencies")
    depends = any(_SERVERS.get(package) == framework for package in needed)
    start = nodepackages.scripts(unit).get("start", "")
    return bool(framework) and depends and bool(_RUNNERS.search(start))


def _port(unit: Unit, texts: dict[str, str], serving: list[str], everything: str, framework: str) -> Port:
    if framework in _TOO:
        return Port(Place.ENVIRONMENT, 3000, "PORT")
    for name in sorted(serving, key=lambda name: _rank(unit, name), reverse=True):
        found = jsource.port_in(texts[name], everything)
        if found.place is not Place.UNKNOWN:
            return found
    return _in_file(unit)


def _in_file(unit: Unit) -> Port:
    """A port that a file of settings has, or else the variable that everybody uses."""
    for name in unit.names:
        if re.fullmatch(
            r"(?:config/)?(?:config|default|settings|server|appsettings)\.(?:json|ya?ml)", unit.inner(name)
        ):
            said = re.search(r"[\"']?\bport[\"']?\s*:\s*(\d{2,5})\b", unit.files.text(name), re.I)
            if said:
                return Port(Place.FILE, int(said[1]), name)
    return Port(Place.ENVIRONMENT, None, "PORT")


def _by_script(unit: Unit, framework: str, port: Port) -> Iterator[Candidate]:
    own = nodepackages.scripts(unit)
    for name, score in _STARTS.items():
        text = own.get(name, "")
        if text and not _is_useless(text):
            command, build = nodebuilds.started(unit, name)
            reasons = [f"package.json has the script {name}: {text[:100]}"]
            reasons += [f"it starts what `{build}` makes"] if build else []
            made = Candidate(
                command, score + _likely(text) + 2 * bool(build), tuple(reasons), unit.folder, framework
            )
            made = replace(made, env=_env(port), port=port, build=build, source=unit.path("package.json"))
            yield _for_frameworks(unit, made, text)


def _likely(text: str) -> int:
    """How much less a script is likely to serve once and quietly."""
    watches = re.search(r"nodemon|--watch|--hot\b|\bwatch\b|concurrently|fastify start\b.* -w\b", text)
    elsewhere = re.search(r"\bpm2\b|docker|heroku|firebase|serverless|vercel dev", text)
    return -8 * bool(watches) - 30 * bool(elsewhere)


def _for_frameworks(unit: Unit, made: Candidate, text: str) -> Candidate:
    """Programs of frameworks take the port in their own way."""
    if re.match(r"\s*next\s+(?:start|dev)", text):
        words = ("-p", "{port}", "-H", "127.0.0.1")
        script = made.command.rsplit(" ", 1)[-1]
        return replace(
            made,
            command=run(unit, script, *words),
            env={},
            port=Port(Place.OPTION, 3000, "-p"),
            kind=Kind.FRONTEND,
        )
    if re.match(r"\s*json-server\b", text):
        return replace(
            made, command=f"{made.command} -- --port {{port}}", port=Port(Place.OPTION, 3000, "--port")
        )
    if re.match(r"\s*vite\b", text):
        script = made.command.rsplit(" ", 1)[-1]
        return replace(
            made,
            score=made.score - 22,
            command=run(unit, script, *_OPTIONS["vite"]),
            port=Port(Place.OPTION, 5173, "--port"),
            kind=Kind.FRONTEND,
        )
    return made


def _by_file(
    unit: Unit, texts: dict[str, str], serving: list[str], everything: str, framework: str
) -> Iterator[Candidate]:
    main = str(nodepackages.manifest(unit).get("main") or "").removeprefix("./")
    for name in serving:
        inner = unit.inner(name)
        port = jsource.port_in(texts[name], everything)
        port = port if port.place is not Place.UNKNOWN else _in_file(unit)
        score = 66 + _rank(unit, name) + (4 if inner == main else 0)
        command, build = f"node {shlex.quote(inner)}", ""
        if jsbun.is_used(unit):
            command = jsbun.command(unit, inner)
        elif inner.endswith((".ts", ".mts", ".cts")):
            command, build, more = _typescript(unit, inner)
            score += more
        if command:
            yield Candidate(
                command, score, (f"{name} listens",), unit.folder, framework, _env(port), port, build, name
            )
    direct = (_DIRECT.match(text) for text in nodepackages.scripts(unit).values())
    for match in direct:
        if match and unit.has(match[1].removeprefix("./")):
            port = jsource.port_in(texts.get(unit.path(match[1]), ""), everything)
            port = port if port.place is not Place.UNKNOWN else _in_file(unit)
            yield Candidate(
                f"node {match[1]}",
                70,
                (f"a script runs {match[1]} again when it changes",),
                unit.folder,
                framework,
                _env(port),
                port,
                source=unit.path(match[1]),
            )


def _typescript(unit: Unit, inner: str) -> tuple[str, str, int]:
    known, members = nodepackages.packages(unit), nodebuilds.members(unit)
    for tool, command in (
        ("tsx", f"npx --offline --no-install tsx {inner}"),
        ("ts-node", f"npx --offline --no-install ts-node {inner}"),
    ):
        if tool in known:
            return command, members, -4
    made = nodebuilds.output(unit, inner)
    if made:
        return f"node {made}", nodebuilds.whole(unit), -2
    return "", "", 0


def _frontend(unit: Unit, framework: str) -> Iterator[Candidate]:
    own = nodepackages.scripts(unit)
    for name, score in (("dev", 52), ("start", 50), ("serve", 48), ("preview", 40)):
        if name in own and not _is_useless(own[name]):
            words: tuple[str, ...] = _OPTIONS.get(framework, ())
            port = Port(Place.OPTION, None, words[0]) if words else Port(Place.ENVIRONMENT, 3000, "PORT")
            env = {} if words else {"PORT": "{port}", "BROWSER": "none"}
            reasons = (
                f"package.json has the script {name}: {own[name][:100]}",
                f"{framework} serves a page for browsers",
            )
            yield Candidate(
                run(unit, name, *words),
                score,
                reasons,
                unit.folder,
                framework,
                env,
                port,
                source=unit.path("package.json"),
                kind=Kind.FRONTEND,
            )


def _is_useless(text: str) -> bool:
    """Does a script end with what serves nothing, whatever comes before?"""
    last = re.split(r"&&|;", text.rstrip(" ;"))[-1]
    return bool(re.match(r"\s*(?:echo|exit|true|tsc\b|jest\b|eslint\b)", last)) or "start-storybook" in text


def _env(port: Port) -> dict[str, str]:
    is_set = port.place is Place.ENVIRONMENT and port.name not in ("", "PORT")
    return {port.name: "{port}"} if is_set else {"PORT": "{port}"} if port.place is Place.ENVIRONMENT else {}


def _rank(unit: Unit, name: str) -> int:
    inner = PurePosixPath(unit.inner(name))
    return (6 if inner.stem in _GOOD_FILES else 0) - 2 * (len(inner.parts) - 1)


def _variables(texts: dict[str, str]) -> Iterator[Variable]:
    for name, text in texts.items():
        yield from jsvars.variables(text, name)
