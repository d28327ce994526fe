"""Scenario files as people write them, and what they are told when they slip."""

import json
from pathlib import Path

import pytest

from harness_executor.errors import UsageError
from harness_executor.evidence.scenario_file import load_scenarios
from harness_executor.kernel.acts import Call
from harness_executor.kernel.expectation import Expect, JsonCheck, Op
from harness_executor.kernel.scenario import Kind, Scenario, Step

STATS = Scenario(
    "stats",
    "add stats",
    (
        Step(
            Call("/todos", "POST", json={"title": "{{ title }}"}),
            Expect(201, {"content-type": "json"}, (JsonCheck("$.id", Op.TYPE, "integer"),)),
            "make one",
            {"id": "$.id"},
        ),
    ),
    Kind.CHANGED,
    {"title": "{{ random.word }}"},
)

YAML = """\
version: 1
scenarios:
  - name: stats
    why: add stats
    kind: changed
    let: {title: "{{ random.word }}"}
    steps:
      - description: make one
        request:
          path: /todos
          method: POST
          json: {title: "{{ title }}"}
        expect:
          status: 201
          headers: {content-type: json}
          json:
            - {path: $.id, op: type, value: integer}
        capture: {id: $.id}
"""

PLAIN = """\
- name: one
  why: because
  steps:
    - request: {path: /}
      expect: {status: 200}
"""


def call(found: Scenario) -> Call:
    """The first request of a scenario."""
    (act,) = found.steps[0].acts
    assert isinstance(act, Call)
    return act


def written(tmp_path: Path, text: str | bytes, name: str = "scenarios.yaml") -> Path:
    """A scenario file with this text."""
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refusal(tmp_path: Path, text: str | bytes, name: str = "scenarios.yaml") -> str:
    """What the author of a file is told."""
    with pytest.raises(UsageError) as caught:
        load_scenarios(written(tmp_path, text, name))
    assert caught.value.hint
    return caught.value.message


def as_json(text: str, **change: object) -> str:
    """The plain scenario as JSON, with something changed."""
    import yaml

    data = yaml.safe_load(text)
    data[0] |= change
    return json.dumps(data, indent=2)


def test_reads_yaml(tmp_path: Path) -> None:
    """A YAML file gives its scenarios with every field."""
    assert load_scenarios(written(tmp_path, YAML)) == (STATS,)


def test_reads_json(tmp_path: Path) -> None:
    """The same scenarios in JSON are the same."""
    import yaml

    text = json.dumps(yaml.safe_load(YAML))
    assert load_scenarios(written(tmp_path, text, "scenarios.json")) == (STATS,)


@pytest.mark.parametrize("name", ["s.json", "s.yml"])
def test_reads_a_bare_list(tmp_path: Path, name: str) -> None:
    """A list of scenarios needs no object around it."""
    text = as_json(PLAIN) if name == "s.json" else PLAIN
    assert [found.name for found in load_scenarios(written(tmp_path, text, name))] == ["one"]


def test_statuses_may_be_a_number_a_list_or_a_class(tmp_path: Path) -> None:
    """Each form of a status is kept as it is."""
    for text, value in (("200", 200), ("[200, 201]", (200, 201)), ("4xx", "4xx")):
        (found,) = load_scenarios(written(tmp_path, PLAIN.replace("status: 200", f"status: {text}")))
        assert found.steps[0].expect.status == value


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A file that is not there is told by its name, with the flag that names one."""
    with pytest.raises(UsageError, match=r"there is no scenario file .*nothing\.yaml") as caught:
        load_scenarios(tmp_path / "nothing.yaml")
    assert "--scenarios" in caught.value.hint
    with pytest.raises(UsageError, match="there is no scenario file"):
        load_scenarios(tmp_path)


def test_an_unknown_key_is_named_with_its_line(tmp_path: Path) -> None:
    """A slip of the pen is shown where it stands."""
    said = refusal(tmp_path, PLAIN.replace("status: 200", "status: 200, stauts: 3"))
    assert said == "scenarios.yaml, line 5: 0.steps.0.expect.stauts: unknown key"


def test_an_unknown_key_is_named_with_its_line_in_json(tmp_path: Path) -> None:
    """Lines are counted in JSON too."""
    text = as_json(PLAIN, whyy="x")
    line = next(number for number, row in enumerate(text.splitlines(), 1) if "whyy" in row)
    assert refusal(tmp_path, text, "s.json") == f"s.json, line {line}: 0.whyy: unknown key"


def test_an_unknown_key_deep_in_a_wrapped_file_has_its_place(tmp_path: Path) -> None:
    """The place of a nested problem is given from the top of the file."""
    said = refusal(tmp_path, YAML.replace("path: $.id, op: type", "path: $.id, opp: type"))
    assert said == "scenarios.yaml, line 17: scenarios.0.steps.0.expect.json.0.opp: unknown key"


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    """A file with several slips is mended in one go."""
    said = refusal(tmp_path, PLAIN.replace("why: because", "wyh: because"))
    assert said.splitlines() == [
        "scenarios.yaml, line 1: 0.why: is missing",
        "scenarios.yaml, line 2: 0.wyh: unknown key",
    ]


def test_a_value_of_the_wrong_type_is_named(tmp_path: Path) -> None:
    """A text where a list belongs is refused with its line."""
    said = refusal(tmp_path, PLAIN.replace("status: 200", "status: 200, body_contains: text"))
    assert said.startswith("scenarios.yaml, line 5: 0.steps.0.expect.body_contains: ")


def test_an_unknown_kind_is_named(tmp_path: Path) -> None:
    """A kind that does not exist is refused with those that do."""
    said = refusal(tmp_path, PLAIN.replace("why: because", "why: because\n  kind: odd"))
    assert said.startswith("scenarios.yaml, line 3: 0.kind: Input should be 'new'")


@pytest.mark.parametrize(
    "text", ["", "# only a comment\n", "text", "5", "null", "{}", "scenarios:\n", "[null]"]
)
def test_a_file_without_scenarios_is_refused(tmp_path: Path, text: str) -> None:
    """Whatever else a file holds, it is told what is missing and where."""
    assert refusal(tmp_path, text).startswith("scenarios.yaml, line 1: ")


def test_an_empty_list_is_refused(tmp_path: Path) -> None:
    """A list of no scenarios proves nothing."""
    assert refusal(tmp_path, "[]") == "scenarios.yaml: there are no scenarios"


def test_a_duplicate_key_is_refused(tmp_path: Path) -> None:
    """A key that stands twice is refused, in JSON and in YAML, instead of the second one winning."""
    twice = PLAIN.replace("status: 200", "status: 200, status: 404")
    assert refusal(tmp_path, twice) == "scenarios.yaml: line 5: key 'status' appears twice"
    assert refusal(tmp_path, '[{"name": "a", "name": "b"}]', "s.json") == "s.json: key 'name' appears twice"


def test_the_same_key_in_different_places_is_no_duplicate(tmp_path: Path) -> None:
    """A key may stand once in every object, also when YAML shares objects."""
    shared = (
        PLAIN.replace("{path: /}", "&call {path: /}") + "    - request: *call\n      expect: {status: 200}\n"
    )
    (found,) = load_scenarios(written(tmp_path, shared))
    assert len(found.steps) == 2


@pytest.mark.parametrize(
    "value", ["2024-01-31", "2024-01-31 12:00:00", "!!binary aGk=", "!!set {a}", ".nan", ".inf"]
)
def test_a_value_that_json_does_not_have_is_refused(tmp_path: Path, value: str) -> None:
    """A date without quotes is told to be put in quotes."""
    path = written(tmp_path, PLAIN.replace("{path: /}", f"{{path: /, json: {value}}}"))
    with pytest.raises(UsageError, match=r"^scenarios.yaml: ") as caught:
        load_scenarios(path)
    assert caught.value.hint == "put dates in quotes; values are JSON values"


def test_a_date_in_quotes_is_a_text(tmp_path: Path) -> None:
    """With quotes a date is what it says."""
    (found,) = load_scenarios(written(tmp_path, PLAIN.replace("{path: /}", '{path: /, json: "2024-01-31"}')))
    assert call(found).json == "2024-01-31"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- name: [", "line 1, column 10"),
        ("a: b: c", "line 1, column 5"),
        ("!!python/object:os.system x", "could not determine a constructor"),
        ("- one\n---\n- two", "expected a single document"),
    ],
)
def test_yaml_that_cannot_be_read_is_told(tmp_path: Path, text: str, said: str) -> None:
    """The words of the parser, with their line, are passed on, and nothing is ever run."""
    message = refusal(tmp_path, text)
    assert message.startswith("scenarios.yaml: ")
    assert said in message


def test_json_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """The place of a mistake in JSON is passed on."""
    assert refusal(tmp_path, "[\n  {,\n]", "s.json").startswith("s.json: line 2 column 4: ")


def test_a_file_in_another_encoding_is_told(tmp_path: Path) -> None:
    """A file that is not UTF-8 is refused with what to do."""
    path = written(tmp_path, b"- name: caf\xe9\n")
    with pytest.raises(UsageError, match="'utf-8' codec") as caught:
        load_scenarios(path)
    assert caught.value.hint == "save the file as UTF-8"


def test_tabs_may_indent(tmp_path: Path) -> None:
    """A file indented with tabs is read, in JSON and in YAML, and its lines are still right."""
    tabbed = PLAIN.replace("    - ", "\t- ").replace("      ", "\t  ").replace("\n  ", "\n  ")
    assert load_scenarios(written(tmp_path, tabbed))
    text = json.dumps(json.loads(as_json(PLAIN)), indent="\t")
    assert load_scenarios(written(tmp_path, text, "s.json"))
    said = refusal(tmp_path, text.replace('"status"', '"stauts"'), "s.json")
    line = next(number for number, row in enumerate(text.splitlines(), 1) if '"status"' in row)
    assert f"s.json, line {line}: 0.steps.0.expect.stauts: unknown key" in said


def test_tabs_in_values_are_kept(tmp_path: Path) -> None:
    """A tab that is part of a value is sent as a tab."""
    (found,) = load_scenarios(written(tmp_path, PLAIN.replace("{path: /}", '{path: /, body: "a\tb"}')))
    assert call(found).body == "a\tb"
    text = as_json(PLAIN).replace('"path": "/"', '"path": "/", "body": "a\\tb"')
    (found,) = load_scenarios(written(tmp_path, text, "s.json"))
    assert call(found).body == "a\tb"


def test_a_slip_in_json_that_yaml_cannot_read_is_still_told(tmp_path: Path) -> None:
    """When lines cannot be found, the problem is told without them being right."""
    text = as_json(PLAIN, whyy="x").replace('"because"', '"\\ud83d\\ude00 \x7f"')
    assert "0.whyy: unknown key" in refusal(tmp_path, text, "s.json")


def test_two_scenarios_of_one_name_are_refused(tmp_path: Path) -> None:
    """A name stands for one scenario."""
    assert refusal(tmp_path, PLAIN + PLAIN) == "scenarios.yaml: two scenarios are called 'one'"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("path: /", "path: todos", "the path 'todos' does not start with /"),
        ("path: /", "path: /, json: 1, body: x", "a request has one of json, body and form"),
        ("status: 200", "status: 20x", "the status '20x' is not a number"),
        ("status: 200", "status: 200, json: [{path: id}]", "a path starts with $"),
        ("status: 200", "status: 200, json: [{path: '$.['}]", "cannot read '.['"),
        ("status: 200", "status: 200, body_matches: ['(']", "missing )"),
        (
            "status: 200",
            "status: 200, json: [{path: $.a, op: matches, value: '['}]",
            "unterminated character set",
        ),
    ],
)
def test_a_scenario_that_cannot_work_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    """A bad path, status or pattern is told before any server is started."""
    message = refusal(tmp_path, PLAIN.replace(old, new))
    assert message.startswith("scenarios.yaml: one: ")
    assert said in message


def test_a_scenario_without_steps_is_refused(tmp_path: Path) -> None:
    """A scenario that sends nothing is no scenario."""
    assert refusal(tmp_path, "- {name: one, why: x, steps: []}") == "scenarios.yaml: one: it has no steps"
