"""The two commands: finds the subcommand, loads only that, and turns errors into words and exit codes."""

import sys

SUMMARY = "Hand a change to a model; get a commit with proof that it works, or an honest refusal."

COMMANDS = {
    "run": ("run", "have a change made and proved (the same as harness-run)"),
    "init": ("init", "find out how a project is started and checked, try it, and write it down"),
    "demo": ("demo", "see the whole program work on a sample project, with a scripted model"),
    "verify": ("verify", "prove or refuse a change that anybody made; no model is used"),
    "report": ("report", "a recorded verification as a table, Markdown, HTML, HAR, JUnit, SARIF or JSON"),
    "scenarios": (
        "scenarios",
        "scenarios from OpenAPI, Postman, .http and HAR files, or for Postman and .http",
    ),
    "attest": ("attest", "sign an accepted verification; is a commit still what was signed?"),
    "list": ("tasks", "the tasks of this project"),
    "show": ("tasks", "one task: its state, its result, its events"),
    "status": ("tasks", "where the current task is"),
    "resume": ("run", "go on with an interrupted or paused task"),
    "approve": ("approve", "allow the control files of a parked change, after looking at them"),
    "trust": ("trust", "grant what a project's settings ask for, after looking at it"),
    "doctor": ("doctor", "try the box on this machine, and say what is missing"),
    "task-state": ("task_state", "task state for coding agents (scripts/task_state.py)"),
}

EXIT_CODES = """\
  0  complete             4  refused by the gate
  1  could not            5  completed unverified
  2  usage                6  budget or time
  3  waiting for a human  130  interrupted"""


def help_text() -> str:
    """What `harness --help` prints."""
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:<{width}}  {said}" for name, (_, said) in COMMANDS.items())
    return (
        f"usage: harness COMMAND [OPTIONS]\n       harness-run REQUEST [OPTIONS]\n\n{SUMMARY}\n\n"
        f"commands:\n{rows}\n\nexit codes:\n{EXIT_CODES}\n\n`harness COMMAND --help` says more.\n"
    )


def harness(argv: list[str] | None = None) -> int:
    """The `harness` command."""
    words = sys.argv[1:] if argv is None else argv
    if not words or words[0] in ("-h", "--help", "help"):
        sys.stdout.write(help_text())
        return 0 if words else 2
    if words[0] in ("-V", "--version"):
        from harness_executor import __version__  # noqa: PLC0415 - start-up is a feature

        sys.stdout.write(f"harness-executor {__version__}\n")
        return 0
    if words[0] not in COMMANDS:
        sys.stderr.write(
            f"error: there is no command {words[0]!r}\n\nhint: `harness --help` lists the commands\n"
        )
        return 2
    return _enter(COMMANDS[words[0]][0], words)


def harness_run(argv: list[str] | None = None) -> int:
    """The `harness-run` command."""
    return _enter("run", ["run", *(sys.argv[1:] if argv is None else argv)])


def _enter(module: str, words: list[str]) -> int:
    from harness_executor.cli.isolation import leave_out_project  # noqa: PLC0415 - start-up is a feature

    theirs = leave_out_project(words)
    if theirs:
        sys.stderr.write(
            f"error: Python has run {theirs[0]}, a file of the project, in this program's process\n\n"
            "hint: begin with `env -u PYTHONPATH`; nothing of a project may run outside of its box\n"
        )
        return 2
    from harness_executor.cli.guard import guarded  # noqa: PLC0415 - start-up is a feature

    return guarded(module, words)
