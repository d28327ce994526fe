"""One example of every fact, for tests that go through all of them."""

from harness_executor.kernel import events as e
from harness_executor.kernel.acts import Call
from harness_executor.kernel.amending import Dispute, Ruling, Shortfall
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.budget import Caps
from harness_executor.kernel.checked import CheckFinding, CheckResult, FindingKind
from harness_executor.kernel.control import ControlFile
from harness_executor.kernel.expectation import Expect, JsonCheck, Op
from harness_executor.kernel.failures import FailureClass
from harness_executor.kernel.offering import Offer
from harness_executor.kernel.report import Evidence, Finding, Launch, Meaning, Origin, ServerRecord, Side
from harness_executor.kernel.revisions import (
    ScenariosAdded,
    ScenariosAmended,
    ScenariosDisputed,
    ScenariosRequested,
)
from harness_executor.kernel.scenario import Kind, Scenario, Step
from harness_executor.kernel.survey import ChangeSurveyed, Survey, Touched

TREE = "7" * 40
BASE_TREE = "1" * 40
BASE = "b" * 40
TASK_ID = "count-items-20260101-abcdef"

SCENARIO = Scenario(
    name="items are counted",
    why="add GET /items/count",
    kind=Kind.CHANGED,
    let={"title": "{{ random.word }}"},
    steps=(
        Step(
            Call(
                "/items", "POST", {"x-user": "{{ title }}"}, json={"title": "{{ title }}", "tags": ["a", 1.5]}
            ),
            Expect((200, 201), headers={"content-type": "json"}, json=(JsonCheck("$.id", Op.EXISTS),)),
            "add one",
            {"id": "$.id"},
        ),
        Step(
            Call("/items/count", body="raw"),
            Expect(
                200,
                json=(JsonCheck("$.count", Op.AT_LEAST, 1), JsonCheck("$.by", value={"open": [1, None]})),
                body_contains=("count",),
                body_not_contains=("error",),
                body_matches=(r"\d+",),
            ),
        ),
        Step(Call("/items/{{ id }}"), Expect("4xx")),
    ),
)

SHORT = Shortfall("items are counted", 1, ("status_code",), "GET /items/count: expected 200, got 404")
BROKEN = CheckFinding(FindingKind.BROKEN, "tests/test_items.py::test_counts", "passed -> failed")
OFFER = Offer("GET", "/items/count", "app.py")
CONTROL = ControlFile(".mcp.json", "a coding agent starts it", created=True)

EVIDENCE = Evidence(
    run_id="run-1",
    task_id=TASK_ID,
    base_commit=BASE,
    tree=TREE,
    tree_after=TREE,
    scenario_digest="d" * 64,
    exchange_digest="e" * 64,
    assurance=Assurance.UNSANDBOXED,
    servers=(ServerRecord(Side.BASE, 1, True, True, 0.25, True, True, "said hello"),),
    findings=(
        Finding("items are counted", Kind.NEW, "user", Meaning.PROVES, "", ("a key dropped",), 12, 11),
    ),
    base_tree=BASE_TREE,
    control=(CONTROL,),
    launches=(Launch(Side.BASE, "python app.py", Origin.PROJECT),),
    seal="f" * 64,
)

SURVEYED = ChangeSurveyed(
    reason="no program reads what changed: README.md",
    task_id=TASK_ID,
    base_commit=BASE,
    base_tree=BASE_TREE,
    tree=TREE,
    tree_after=TREE,
    survey=Survey(
        (Touched("README.md", "100644", "100644"), Touched("app.py", "100644", "100644", comments=True)),
        ("app.py",),
        {"docs/a.md": "app.py names it"},
    ),
    checks=(CheckResult("test", "pytest", True, True),),
    unchecked=("lint",),
    seal="f" * 64,
)

EXAMPLES: tuple[e.Fact, ...] = (
    e.TaskOpened(
        task_id=TASK_ID,
        request="add GET /items/count",
        mode=e.Mode.IMPLEMENT,
        driver=e.Driver.RUNNER,
        base_commit=BASE,
        base_tree=BASE_TREE,
        name="count items",
        phases=2,
        plan_path="docs/plan.md",
        start="python app.py",
        models={"planner": "scripted"},
        refactor=True,
        caps=Caps(micros=5_000_000, tokens=100_000, turns=40, seconds=3600.0),
        start_base="python old.py",
    ),
    e.WriterClaimed("process 7 on somewhere"),
    e.TailCut(120, "torn-120.bin"),
    e.StepStarted(e.StepName.EXECUTE, 2, 1),
    e.StepFailed(e.StepName.VERIFY, FailureClass.ENVIRONMENT, "no port", "free it", final=True),
    e.ProjectRead("python app.py", {"test": "pytest"}, ("nothing to lint",), idle=True),
    e.LessonsFound(("read the docs",)),
    e.AgentAsked("job-1", "executor", "scripted", Assurance.SANDBOXED),
    e.CallReserved("job-1", 3, "scripted", 4000, 16_000, 92_000, 12.5),
    e.CallCharged("job-1", 3, "scripted", 1200, 88, 4920, 900, 200, True, "req-1", "c.json"),
    e.CallStumbled("job-1", 3, 2, "scripted", 529, "req-1", "overloaded", 7.5, "2026-01-01T00:00:00+00:00"),
    e.PlanProposed("count them", (e.Phase("count", "add the route", ("app.py",)),), "GET /items/count"),
    e.ScenariosFrozen((SCENARIO,), "d" * 64),
    e.PlanApproved("policy"),
    e.ChangeMade(
        phase=1,
        attempt=1,
        tree=TREE,
        at="2026-01-01T00:00:00+00:00",
        summary="counted",
        files_changed=("app.py",),
        files_created=("count.py",),
        lessons=("counts are cheap",),
        claimed=("app.py",),
        own_reports=("harness/trace/report.json",),
        control=(CONTROL,),
        disputes=(Dispute("missing: items are counted", "nobody asked for it"),),
        offers=(OFFER,),
    ),
    e.ChangeApproved(TREE, "user", TASK_ID, ("test: a was removed",), seal="f" * 64),
    e.PhaseExecuted(1, TREE, "c" * 40),
    e.PhaseCheckpointed(1, "done", ("kept it small",), ("app.py",), ("count.py",)),
    e.Validated(TREE, (CheckResult("test", "pytest", True, False, "1 failed", (BROKEN,)),)),
    e.SideRecorded("run-1", Side.CHANGE, 2, 14, "e" * 64, 0.5, 3),
    e.Verified(EVIDENCE, ("regresses: items are listed",), (SHORT,)),
    ScenariosRequested((OFFER,)),
    ScenariosAdded((SCENARIO,), "d" * 64, "a" * 64, "nobody asked for more"),
    ScenariosDisputed((SHORT,), (Dispute("missing: items are counted", "nobody asked for it"),)),
    ScenariosAmended("d" * 64, "a" * 64, (Ruling("items are counted", "add GET", "invented", SCENARIO),)),
    SURVEYED,
    e.FindingsReported("one finding", ({"severity": "high", "where": "app.py:3"},)),
    e.GateJudged(False, ("no scenario failed before and passes now",), unverified=True),
    e.Presented("summary.md"),
    e.TaskPaused("the budget of the task is 40 turns", e.Cause.BUDGET, "raise it"),
    e.TaskResumed("user", Caps(turns=80)),
    e.TaskClosed(
        e.Status.COMPLETED_UNVERIFIED,
        "done",
        ("app.py",),
        ("count.py",),
        ("counts are cheap",),
        {"t": "pass"},
    ),
)
