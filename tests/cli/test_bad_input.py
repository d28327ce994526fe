"""What goes wrong ends in words, a hint and a documented exit code; never in a traceback."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness_executor.demo.sample import REQUEST
from tests.cli.scripted import HONEST_LINES, write_script
from tests.conftest import Cli, Ran, commit_all, git

SCENARIO = """
- name: stats
  why: counts
  steps:
    - request: {path: /todos/stats}
      expect:
        status: 200
        json: [{path: $.total, value: 0}]
"""


LISTENER = """
import socket, time
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
time.sleep(60)
"""


def starts_with(repo: Path, command: str, **readiness: int) -> None:
    """Let a project start with a command, and wait for its port."""
    startup = {"command": command, "readiness": {"type": "tcp", "config": readiness}}
    (repo / "harness" / "environment.json").write_text(json.dumps({"startup": startup}))


def said(ran: Ran, code: int, *words: str) -> None:
    """The code is right, every word is there, there is a hint, and no traceback."""
    text = ran.out + ran.err
    assert ran.code == code, text
    for word in words:
        assert word in text
    assert "hint:" in text
    assert "Traceback" not in text


@pytest.fixture
def scenarios(tmp_path: Path) -> Path:
    """A good scenario file."""
    path = tmp_path / "scenarios.yaml"
    path.write_text(SCENARIO)
    return path


def test_unknown_model(sample: Path, cli: Cli) -> None:
    """A provider nobody knows is named, with those that are known."""
    said(
        cli("run", REQUEST, "--repo", sample, "--model", "oracle:9"),
        2,
        "'oracle:9'",
        "anthropic",
        "harness demo",
    )


def test_no_model_and_no_key(sample: Path, cli: Cli) -> None:
    """No model, and a model without its key, each say what to set."""
    said(cli("run", REQUEST, "--repo", sample), 2, "no model was chosen", "--model")
    said(
        cli("run", REQUEST, "--repo", sample, "--model", "anthropic:m"),
        2,
        "no key for anthropic",
        "ANTHROPIC_API_KEY",
    )


def test_missing_start_command(sample: Path, tmp_path: Path, cli: Cli, scenarios: Path) -> None:
    """Without a start command, and with files that show none that works, nothing begins."""
    (sample / "harness" / "environment.json").unlink()
    code = (sample / "app.py").read_text()
    (sample / "app.py").write_text(
        f"{code.split('import', 1)[0]}raise SystemExit(3)\nimport{code.split('import', 1)[1]}"
    )
    commit_all(sample, "forget how it starts")
    model = write_script(tmp_path, HONEST_LINES)
    said(
        cli("run", REQUEST, "--repo", sample, "--model", model),
        1,
        "nothing says how the server is started",
        "--start",
    )
    verify = cli("verify", "--repo", sample, "--base", "HEAD", "--scenarios", scenarios)
    said(verify, 2, "nothing says how the server is started", "--start")


def test_server_that_never_becomes_ready(sample: Path, cli: Cli, scenarios: Path) -> None:
    """A server that listens nowhere is not waited for for ever, and its output is shown."""
    starts_with(sample, "echo I am lost; sleep 60", timeout_seconds=4)
    commit_all(sample, "a server that waits")
    ran = cli("verify", "--repo", sample, "--base", "HEAD", "--scenarios", scenarios)
    said(ran, 1, "was not ready on port", "within 4 s", "it listens nowhere", "I am lost")


def test_server_on_another_port_is_told_apart(sample: Path, cli: Cli, scenarios: Path) -> None:
    """A server that ignores the port it was given is told where it does listen."""
    program = "import socket,time; s=socket.create_server(('127.0.0.1', 0)); time.sleep(60)"
    starts_with(sample, f'python3 -c "{program}"', timeout_seconds=6)
    commit_all(sample, "a server with its own mind")
    ran = cli("verify", "--repo", sample, "--base", "HEAD", "--scenarios", scenarios)
    said(ran, 1, "it listens on 127.0.0.1 port", "{port}")


def test_server_that_dies(sample: Path, cli: Cli, scenarios: Path) -> None:
    """A server that ends at once is named with its code and last words."""
    starts_with(sample, "echo cannot find the database; exit 3")
    commit_all(sample, "a server that ends")
    ran = cli("verify", "--repo", sample, "--base", "HEAD", "--scenarios", scenarios)
    said(ran, 1, "ended with code 3", "cannot find the database")


def test_port_taken(sample: Path, cli: Cli, scenarios: Path) -> None:
    """Without a box, a fixed port that somebody else has is not used."""
    other = subprocess.Popen([sys.executable, "-c", LISTENER], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None
        port = other.stdout.readline().strip()
        starts_with(sample, "sleep 60", port=int(port))
        commit_all(sample, "a fixed port")
        words = ("--base", "HEAD", "--scenarios", scenarios, "--sandbox", "none")
        ran = cli("verify", "--repo", sample, *words)
        said(ran, 1, f"port {port} is taken by another process")
    finally:
        other.kill()
        other.communicate()


def test_scenario_file_with_an_unknown_key(sample: Path, cli: Cli, scenarios: Path) -> None:
    """The key is named with its line, in YAML and in JSON."""
    scenarios.write_text(SCENARIO.replace("status: 200", "status: 200\n        colour: red"))
    ran = cli("verify", "--repo", sample, "--base", "HEAD", "--scenarios", scenarios)
    said(ran, 2, "scenarios.yaml, line 8", "0.steps.0.expect.colour: unknown key")
    other = scenarios.with_suffix(".json")
    other.write_text('{"scenarios": [\n {"name": "a", "why": "b",\n\t"stepz": [],\n "steps": []}]}')
    said(
        cli("verify", "--repo", sample, "--base", "HEAD", "--scenarios", other),
        2,
        "line 3",
        "stepz: unknown key",
    )


def test_not_a_git_repository(tmp_path: Path, cli: Cli, scenarios: Path) -> None:
    """A plain folder, an empty repository and a bare one are each refused by name."""
    plain = tmp_path / "plain"
    plain.mkdir()
    said(
        cli("verify", "--repo", plain, "--base", "HEAD", "--scenarios", scenarios),
        1,
        "not in a git repository",
    )
    git(plain, "init", "-q", ".")
    said(cli("list", "--repo", plain), 1, "has no commit yet")
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    said(cli("list", "--repo", tmp_path / "bare.git"), 1, "bare repository")


def test_damaged_log(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """A log with a changed byte is refused with the place, listed as damaged, and left as it is."""
    cli("run", REQUEST, "--repo", sample, "--model", write_script(tmp_path, HONEST_LINES))
    task_id = cli("list", "--repo", sample, "--json").json()[0]["id"]
    log = sample / "harness" / "tasks" / task_id / "events.jsonl"
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 1
    log.write_bytes(content)
    said(cli("show", task_id, "--repo", sample), 1, "is damaged at byte")
    said(cli("resume", task_id, "--repo", sample), 1, "is damaged at byte")
    assert cli("list", "--repo", sample, "--json").json()[0]["status"] == "damaged"
    assert log.read_bytes() == content


FULL = """
import os, subprocess, sys
folder, repo, model, python = sys.argv[1:5]
os.makedirs(folder)
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=192k", "tmpfs", folder], check=True)
subprocess.run(["cp", "-a", repo, folder + "/repo"], check=True)
ballast = os.open(folder + "/ballast", os.O_RDWR | os.O_CREAT)
try:
    while os.write(ballast, b"x" * 4096):
        pass
except OSError:
    os.ftruncate(ballast, os.fstat(ballast).st_size - 24576)
run = [python, "-m", "harness_executor", "run", "add stats", "--repo", folder + "/repo", "--model", model]
first = subprocess.run(run, capture_output=True, text=True)
sys.stdout.write(first.stdout + first.stderr + f"\\nfirst={first.returncode}\\n")
subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
again = [python, "-m", "harness_executor", "resume", "--repo", folder + "/repo"]
second = subprocess.run(again, capture_output=True, text=True)
if second.returncode == 2:
    second = subprocess.run(run, capture_output=True, text=True)
sys.stdout.write(second.stderr[-2000:] + f"\\nsecond={second.returncode}\\n")
"""


def test_disk_full(sample: Path, tmp_path: Path) -> None:
    """On a full disk the run stops with words and a hint, and goes on once there is room."""
    model = write_script(tmp_path, HONEST_LINES)
    command = [
        "unshare",
        "-rm",
        sys.executable,
        "-c",
        FULL,
        str(tmp_path / "small"),
        str(sample),
        model,
        sys.executable,
    ]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "first=1" in ran.stdout, ran.stdout
    assert "No space left on device" in ran.stdout
    assert "hint: make room" in ran.stdout
    assert "Traceback" not in ran.stdout
    assert "second=0" in ran.stdout, ran.stdout


def test_usage_errors_name_the_way_out(sample: Path, cli: Cli) -> None:
    """Unknown commands, options and tasks are usage errors with a hint."""
    said(cli("frobnicate"), 2, "no command 'frobnicate'")
    said(cli("verify", "--repo", sample), 2, "--base")
    said(cli("show", "nobody", "--repo", sample), 2, "there is no task 'nobody'")
    said(cli("show", "../../etc", "--repo", sample), 2, "not a task id")
    said(cli("run", "  ", "--repo", sample), 2, "the request is empty")
    said(cli("resume", "--repo", sample), 2, "no task is open")


def test_an_odd_environment_and_an_odd_folder_are_told_in_words(sample: Path, cli: Cli) -> None:
    """A fault that nobody knows does nothing, and a file where a folder should be is named with a hint."""
    ran = cli(
        "list", "--repo", sample, env={"HARNESS_FAULT": "lock.taken#1=frobnicate", "HARNESS_FAULT_LOG": ""}
    )
    assert ran.code == 0
    hostile = sample / "harness" / "tasks"
    hostile.parent.mkdir(exist_ok=True)
    hostile.write_text("a file where a folder should be")
    said(cli("task-state", "init", "x", "--repo", sample), 2, "harness/tasks is no folder", "hint:")
