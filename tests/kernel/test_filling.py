"""Values go into every text of a step that may hold one."""

import json

from harness_executor.kernel.acts import Call, Language, Listening, Probe, Program, Upload
from harness_executor.kernel.expect import Answer, check
from harness_executor.kernel.expectation import Expect, FileCheck, JsonCheck, Op
from harness_executor.kernel.filling import filled

KNOWN = {"id": 7, "name": "bo"}


def test_a_request_is_filled_everywhere() -> None:
    """Path, headers, form, files and frames are filled; only JSON keeps the type of a value."""
    call = Call(
        "/{{ id }}",
        headers={"x": "{{ id }}"},
        json={"id": "{{ id }}"},
        form={"n": "{{ name }}"},
        files={"f": Upload("{{ name }}.txt", "{{ id }}")},
        listen=Listening(send=({"id": "{{ id }}"},)),
    )
    done = filled(call, KNOWN, "seed")
    assert (done.path, done.headers, done.json, done.form) == ("/7", {"x": "7"}, {"id": 7}, {"n": "bo"})
    assert done.files["f"] == Upload("bo.txt", "7")
    assert done.listen
    assert done.listen.send == ({"id": 7},)


def test_a_command_is_filled_everywhere() -> None:
    """Arguments, input, variables and files are texts."""
    program = Program(("cut", "{{ id }}"), "{{ name }}", {"N": "{{ id }}"}, {"in.txt": "{{ name }}"})
    assert filled(program, KNOWN, "") == Program(("cut", "7"), "bo", {"N": "7"}, {"in.txt": "bo"})


def test_the_code_of_a_probe_is_taken_as_it_is() -> None:
    """Values reach a probe as arguments, with their type; nothing is put into its code."""
    probe = Probe(Language.PYTHON, "f('{{ id }}', *args)", ("{{ id }}", ["{{ name }}"]))
    assert filled(probe, KNOWN, "") == Probe(Language.PYTHON, "f('{{ id }}', *args)", (7, ["bo"]))


def test_an_expectation_is_filled_everywhere() -> None:
    """Paths and texts are texts; the value of a comparison keeps its type."""
    expect = Expect(
        json=(JsonCheck("$['{{ name }}']", value="{{ id }}"),),
        stdout_contains=("{{ id }}",),
        files={"out": FileCheck(equals="{{ name }}")},
    )
    done = filled(expect, KNOWN, "")
    assert done.json == (JsonCheck("$['bo']", value=7),)
    assert (done.stdout_contains, done.files["out"].equals) == (("7",), "bo")


def test_values_drawn_in_two_places_differ() -> None:
    """A value drawn in a header is not the one drawn in the path."""
    done = filled(Call("/{{ random.word }}", headers={"x": "{{ random.word }}"}), {}, "seed")
    assert done.path != f"/{done.headers['x']}"


def test_a_value_is_taken_as_it_is_in_a_pattern_and_in_a_path() -> None:
    """A plus in a telephone number repeats nothing, and a quote in a key ends nothing."""
    known = {"phone": "+1555", "key": 'it\'s \\ "so"'}
    expect = Expect(
        200,
        json=(
            JsonCheck("$['{{ key }}'].a", value=1),
            JsonCheck('$["{{ key }}"].a', value=1),
            JsonCheck("$.phone", Op.MATCHES, "^{{ phone }}$"),
        ),
        body_matches=("{{ phone }}", "[0-9]+"),
    )
    answer = Answer(200, (), json.dumps({known["key"]: {"a": 1}, "phone": known["phone"]}))
    assert [one.type for one in check(filled(expect, known, ""), answer) if not one.passed] == []
    other = Answer(200, (), json.dumps({known["key"]: {"a": 1}, "phone": "1555"}))
    assert len([one for one in check(filled(expect, known, ""), other) if not one.passed]) == 2
