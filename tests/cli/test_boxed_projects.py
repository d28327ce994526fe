"""Whole projects in the box that every run has: packages in their real place, and no network."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

import pytest

from harness_executor.evidence.sockets import free_port
from harness_executor.sandbox.toolchains import interpreter
from tests.conftest import Cli, commit_all, git

PYTHON_APP = """
import json, os, sys, traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

{probe}

class App(BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            status, value = ROUTES[self.path]() if self.path in ROUTES else (404, {{"error": "no"}})
        except Exception:
            status, value = 500, {{"error": traceback.format_exc()}}
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

ROUTES = {{"/": lambda: (200, {{"hello": "world"}})}}
{route}
if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), App).serve_forever()
"""
ROUTE = 'ROUTES["/probe"] = lambda: (200, {"found": probe()})'

NODE_APP = """
const http = require("http");
const routes = {{"/": () => ({{hello: "world"}})}};
{route}
http.createServer((request, response) => {{
  let [status, value] = [404, {{error: "no"}}];
  try {{ if (routes[request.url]) [status, value] = [200, routes[request.url]()]; }}
  catch (error) {{ [status, value] = [500, {{error: error.stack}}]; }}
  response.writeHead(status);
  response.end(JSON.stringify(value));
}}).listen(Number(process.argv[2] || process.env.PORT), "127.0.0.1");
"""


@dataclass(frozen=True)
class Sample:
    """A project whose last commit adds a route that tells what its server found."""

    root: Path
    start: str
    found: object
    """What the new route has to tell."""

    def verify(self, cli: Cli, place: Path, base: str, head: str) -> tuple[int, str, dict[str, object]]:
        """`harness verify` as a user runs it, with the report it gives."""
        steps = [{"request": {"path": "/probe"}, "expect": {"status": 200, "json": [self._wanted()]}}]
        stays = [{"request": {"path": "/"}, "expect": {"status": 200, "json": [_at("$.hello", "world")]}}]
        scenarios = [
            {"name": "it tells", "why": "tell what there is", "steps": steps},
            {"name": "it greets", "why": "the rest stays", "kind": "unchanged", "steps": stays},
        ]
        (place / "scenarios.json").write_text(json.dumps(scenarios))
        words = ("--scenarios", place / "scenarios.json", "--start", self.start, "--json")
        ran = cli("verify", *words, "--base", base, "--head", head, cwd=self.root)
        return ran.code, ran.out + ran.err, ran.json() if ran.code in (0, 4) else {}

    def _wanted(self) -> dict[str, object]:
        return _at("$.found", self.found)


def _at(path: str, value: object) -> dict[str, object]:
    return {"path": path, "value": value}


def made(
    root: Path, before: Mapping[str, str], after: Mapping[str, str], ignored: str = ".venv\nnode_modules\n"
) -> None:
    """A repository with two commits; what is ignored may be there already."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main", ".")
    for number, files in enumerate(({".gitignore": ignored, **before}, after)):
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        commit_all(root, f"part {number}")


def python_app(probe: str) -> tuple[dict[str, str], dict[str, str]]:
    """An app before and after it got its probe."""
    body = "def probe():\n" + indent(dedent(probe).strip(), "    ")
    return (
        {"app.py": PYTHON_APP.format(probe="", route="")},
        {"app.py": PYTHON_APP.format(probe=body, route=ROUTE)},
    )


def node_app(probe: str, name: str = "server.js") -> tuple[dict[str, str], dict[str, str]]:
    """The same for Node; a machine without it fails."""
    assert shutil.which("node"), "node is needed for this test"
    route = 'routes["/probe"] = () => {\n' + indent(dedent(probe).strip(), "  ") + "\n};"
    return {name: NODE_APP.format(route="")}, {name: NODE_APP.format(route=route)}


def assert_proved_and_refused(sample: Sample, cli: Cli, place: Path) -> None:
    """The change is proved in a box, its way back is refused in one, and the project is left alone."""
    before = _listing(sample.root)
    code, said, report = sample.verify(cli, place, "HEAD~1", "HEAD")
    assert code == 0, said
    assert report["assurance"] == "sandboxed"
    code, said, report = sample.verify(cli, place, "HEAD", "HEAD~1")
    assert code == 4, said
    assert report["assurance"] == "sandboxed"
    assert "it tells passed on base and fails now" in " ".join(map(str, report["reasons"]))  # type: ignore[call-overload]  # a list
    assert _listing(sample.root) == before


def _listing(root: Path) -> dict[str, object]:
    """Every file of a project but for what the harness keeps there."""
    found: dict[str, object] = {}
    for parent, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in ("harness", ".git", ".cache", ".local")]
        for name in (*folders, *files):
            path = Path(parent, name)
            found[str(path)] = path.stat(follow_symlinks=False).st_mtime_ns if not path.is_dir() else None
    return found


GREET = """
import runpy, sys
def hello():
    return "hello from the package"
def main():
    sys.path.insert(0, "")
    runpy.run_path("app.py", run_name="__main__")
"""


def make_environment(root: Path) -> None:
    """A virtual environment in the project, with a package that pip installed from a local wheel."""
    root.mkdir(parents=True)
    subprocess.run([interpreter(), "-m", "venv", "--without-pip", root / ".venv"], check=True)
    wheel = root.parent / "greet-1.0-py3-none-any.whl"
    about = "greet-1.0.dist-info"
    files = {
        "greet.py": GREET,
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": "[console_scripts]\ngreet = greet:main\n",
        f"{about}/RECORD": "",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    own = root / ".venv" / "bin" / "python"
    pip = f"{interpreter()} -m pip --disable-pip-version-check --quiet --python".split()
    subprocess.run([*pip, own, "install", "--no-index", "--no-compile", wheel], check=True)


@pytest.mark.parametrize("start", [".venv/bin/python app.py {port}", ".venv/bin/greet {port}"])
def test_a_python_project_has_its_virtual_environment(tmp_path: Path, cli: Cli, start: str) -> None:
    """Interpreter, package and scripts with absolute paths work, for the tree is at the project's place."""
    root = tmp_path / "project"
    make_environment(root)
    assert f"#!{root}/.venv/bin/python" in (root / ".venv/bin/greet").read_text()
    made(root, *python_app("import greet\nreturn [greet.hello(), sys.prefix, greet.__file__[:9]]"))
    found = ["hello from the package", str(root / ".venv"), str(root)[:9]]
    assert_proved_and_refused(Sample(root, start, found), cli, tmp_path)


def test_an_environment_that_is_a_link_is_there_too(tmp_path: Path, cli: Cli) -> None:
    """A tool that keeps the environments of all projects in one place links to them."""
    root = tmp_path / "project"
    make_environment(root)
    (root / ".venv").rename(tmp_path / "kept")
    (root / ".venv").symlink_to(tmp_path / "kept")
    made(root, *python_app("import greet\nreturn greet.hello()"))
    sample = Sample(root, ".venv/bin/python app.py {port}", "hello from the package")
    assert_proved_and_refused(sample, cli, tmp_path)


def make_modules(root: Path, place: Path) -> None:
    """A package from a local archive, installed by npm, with a program of its own; and one of the project."""
    assert shutil.which("npm"), "npm is needed for this test"
    package = place / "greet"
    package.mkdir(parents=True)
    (package / "package.json").write_text(
        json.dumps({"name": "greet", "version": "1.0.0", "bin": {"greet": "cli.js"}})
    )
    (package / "index.js").write_text('exports.hello = () => "hello from the package";\n')
    (package / "cli.js").write_text('#!/usr/bin/env node\nrequire(process.cwd() + "/server.js");\n')
    quiet = ["--offline", "--no-audit", "--no-fund", "--silent", "--no-update-notifier"]
    subprocess.run(["npm", "pack", *quiet, "--pack-destination", place], cwd=package, check=True)
    root.mkdir(parents=True)
    (root / "packages/local").mkdir(parents=True)
    (root / "packages/local/package.json").write_text('{"name": "local", "version": "1.0.0"}')
    (root / "packages/local/index.js").write_text('exports.word = "of the project";\n')
    wanted = {"greet": f"file:{place}/greet-1.0.0.tgz", "local": "file:packages/local"}
    (root / "package.json").write_text(
        json.dumps({"name": "app", "version": "1.0.0", "dependencies": wanted})
    )
    subprocess.run(["npm", "install", *quiet], cwd=root, check=True)


@pytest.mark.parametrize("start", ["node server.js {port}", "node_modules/.bin/greet {port}"])
def test_a_node_project_has_its_modules(tmp_path: Path, cli: Cli, start: str) -> None:
    """Installed packages, links to packages of the project, and programs of packages work."""
    root = tmp_path / "project"
    make_modules(root, tmp_path / "away")
    assert (root / "node_modules/local").is_symlink()
    assert (root / "node_modules/.bin/greet").is_symlink()
    probe = 'return {found: [require("greet").hello(), require("local").word, require.resolve("greet")]};'
    made(root, *node_app(probe))
    place = str(root / "node_modules/greet/index.js")
    sample = Sample(root, start, ["hello from the package", "of the project", place])
    assert_proved_and_refused(sample, cli, tmp_path)


WORK = """
import concurrent.futures, datetime, getpass, locale, multiprocessing, pathlib, queue, socket, sqlite3, ssl
import subprocess, tempfile, threading, zoneinfo

def database():
    with sqlite3.connect("items.db") as items:
        items.execute("pragma journal_mode=wal")
        items.execute("create table if not exists item (name text)")
        items.execute("insert into item values ('one')")
        return items.execute("select name from item").fetchall()[0][0]

def temporary():
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as file:
        file.write(b"x" * 100_000)
        return pathlib.Path(folder).is_dir()

def threads():
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return sum(pool.map(lambda number: number * number, range(10)))

def children():
    return subprocess.run("echo $((6 * 7)) | cat", shell=True, capture_output=True, text=True).stdout.strip()

def unix_socket():
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(folder + "/line")
        listener.listen()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(folder + "/line")
            accepted, _ = listener.accept()
            with accepted:
                accepted.send(b"over the line")
                return client.recv(100).decode()

def square(number):
    return number * number

def processes():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        lock, shared = multiprocessing.Lock(), multiprocessing.Value("i", 0)
        return sum(pool.map(square, range(5)))

def shared_memory():
    from multiprocessing import shared_memory
    block = shared_memory.SharedMemory(create=True, size=1000)
    block.buf[0] = 7
    value = block.buf[0]
    block.close()
    block.unlink()
    return value

def names():
    listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    port = listener.getsockname()[1]
    socket.create_connection(("::1", port), timeout=2).close()
    listener.close()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        socket.create_connection(("localhost", listener.getsockname()[1]), timeout=2).close()
    socket.gethostbyname(socket.gethostname())
    return sorted({entry[4][0] for entry in socket.getaddrinfo("localhost", 80)})

def trouble():
    try:
        raise ValueError("on purpose")
    except ValueError:
        return f'File "{os.getcwd()}/app.py"' in traceback.format_exc()

def clock():
    when = datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Paris"))
    return when.utcoffset().total_seconds()

def home():
    place = pathlib.Path.home() / ".cache" / "app"
    place.mkdir(parents=True)
    (place / "file").write_text("kept")
    return [getpass.getuser(), (place / "file").read_text(), os.access("/", os.W_OK)]

def certificates():
    return ssl.create_default_context().verify_mode == ssl.CERT_REQUIRED

def machine():
    load, cores = os.getloadavg(), len(os.sched_getaffinity(0))
    return [cores > 0, pathlib.Path("/proc/meminfo").exists(), pathlib.Path("/dev/urandom").exists()]

def kept():
    return str(pathlib.Path("written.txt").write_text("x")) + str(os.umask(0o022) >= 0)

"""
DID = {
    "database": "one",
    "temporary": True,
    "threads": 285,
    "children": "42",
    "unix_socket": "over the line",
    "processes": 30,
    "shared_memory": 7,
    "names": ["127.0.0.1", "::1"],
    "trouble": True,
    "clock": 7200.0,
    "home": ["harness", "kept", False],
    "certificates": True,
    "machine": [True, True, True],
    "kept": "1True",
}


def test_a_server_may_do_what_servers_do(tmp_path: Path, cli: Cli) -> None:
    """Files, databases, threads, processes, memory that is shared, sockets, names, zones and tracebacks."""
    before, after = python_app(
        f"found = {{}}\nfor name in {sorted(DID)!r}:\n    try:\n        found[name] = globals()[name]()\n"
        "    except Exception as error:\n        found[name] = repr(error)\nreturn found"
    )
    root = tmp_path / "project"
    made(root, before, {"app.py": WORK + after["app.py"]})
    assert_proved_and_refused(Sample(root, "python3 app.py {port}", DID), cli, tmp_path)


def test_packages_may_be_written_to_where_their_list_was_changed(tmp_path: Path, cli: Cli) -> None:
    """A build that leaves files among the packages works on a copy; the user's own stay as they were."""
    root = tmp_path / "project"
    make_modules(root, tmp_path / "away")
    before, after = node_app("""
        const fs = require("fs");
        fs.mkdirSync("node_modules/.cache", {recursive: true});
        fs.writeFileSync("node_modules/.cache/built", "built");
        fs.writeFileSync("node_modules/greet/index.js", "broken");
        return {found: fs.readFileSync("node_modules/.cache/built", "utf8")};
    """)
    listed = json.loads((root / "package.json").read_text())
    made(root, before, {**after, "package.json": json.dumps({**listed, "version": "1.1.0"})})
    assert_proved_and_refused(Sample(root, "node server.js {port}", "built"), cli, tmp_path)
    assert "hello" in (root / "node_modules/greet/index.js").read_text()


def test_a_server_may_keep_a_cache_among_its_packages(tmp_path: Path, cli: Cli) -> None:
    """As bundlers do, on both sides and without a word in the list of packages."""
    root = tmp_path / "project"
    make_modules(root, tmp_path / "away")
    cache = 'require("fs").mkdirSync("node_modules/.cache/app", {recursive: true});\n'
    before, after = node_app('return {found: require("fs").readdirSync("node_modules/.cache")};')
    made(root, {"server.js": cache + before["server.js"]}, {"server.js": cache + after["server.js"]})
    assert_proved_and_refused(Sample(root, "node server.js {port}", ["app"]), cli, tmp_path)
    assert not (root / "node_modules/.cache").exists()


def test_a_project_may_use_packages_of_the_user(tmp_path: Path, cli: Cli, home: Path) -> None:
    """What was installed for the user, and not for the project, is found as it is without a box."""
    site = home / f".local/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    site.mkdir(parents=True)
    (site / "greet.py").write_text(GREET)
    root = tmp_path / "project"
    made(root, *python_app("import greet\nreturn greet.hello()"))
    start = f"{interpreter()} app.py {{port}}"
    assert_proved_and_refused(Sample(root, start, "hello from the package"), cli, tmp_path)


def test_a_project_with_one_port_has_it_on_both_sides_at_once(tmp_path: Path, cli: Cli) -> None:
    """Every box has a network of its own; what the machine has on that port is of no account."""
    port = free_port()
    root = tmp_path / "project"
    before, after = python_app('return "on its port"')
    startup = {
        "command": f"python3 app.py {port}",
        "readiness": {"type": "tcp", "config": {"port": port}},
    }
    made(root, {**before, "harness/environment.json": json.dumps({"startup": startup})}, after)
    assert_proved_and_refused(Sample(root, "", "on its port"), cli, tmp_path)


@pytest.mark.parametrize("name", ["a project", "проект ünï 日本", 'it\'s "quoted" $HOME `x`'])
def test_a_project_may_be_called_anything(tmp_path: Path, cli: Cli, name: str) -> None:
    """Names with spaces, quotes and letters of any script are the place of the tree in a box too."""
    root = tmp_path / name / "inner project"
    made(root, *python_app("return os.getcwd()"))
    assert_proved_and_refused(Sample(root, "python3 app.py {port}", str(root)), cli, tmp_path)


def test_a_project_may_lie_in_the_home(tmp_path: Path, cli: Cli, home: Path) -> None:
    """Of a home that holds projects, a box shows the one that it is for."""
    root = home / "code" / "project"
    (home / "code" / "other").mkdir(parents=True)
    made(root, *python_app("return [os.getcwd(), os.listdir('..'), os.listdir('../..')]"))
    found = [str(root), ["project"], ["code"]]
    assert_proved_and_refused(Sample(root, "python3 app.py {port}", found), cli, tmp_path)


def test_a_home_may_be_a_project(tmp_path: Path, cli: Cli, home: Path) -> None:
    """Where the home itself is under git, a box shows what is committed and nothing else of it."""
    (home / ".netrc").write_text("machine example.com password hunter2\n")
    made(home, *python_app("return sorted(os.listdir('.'))"), ignored="*\n!app.py\n!.gitignore\n")
    sample = Sample(home, "python3 app.py {port}", [".gitignore", "app.py"])
    assert_proved_and_refused(sample, cli, tmp_path)
