"""The lines of the log and their chain."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from harness_executor.errors import LogDamaged, LogError
from harness_executor.kernel import events as e
from harness_executor.kernel.acts import Call
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.scenario import Scenario, Step
from harness_executor.store.record import GENESIS, SCHEMA, Record, read
from harness_executor.store.witness import Witness
from tests.kernel.examples import EXAMPLES
from tests.store.place import body, chained, lines_of, notes

TEN = lines_of(notes(10))
STARTS = [sum(len(line) for line in TEN[:number]) for number in range(10)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where a log is put."""
    return tmp_path / "events.jsonl"


def refusal(log: Path, content: bytes) -> str:
    """The words with which a log is refused; it is left as it was."""
    log.write_bytes(content)
    with pytest.raises(LogDamaged) as refused:
        read(log)
    assert log.read_bytes() == content
    return refused.value.message


def test_every_record_holds_the_hash_of_the_one_before() -> None:
    """The first record follows sixty-four zeros, every other one its neighbour."""
    records = [json.loads(line) for line in TEN]
    assert [record["prev"] for record in records] == [GENESIS, *(record["hash"] for record in records[:-1])]
    assert [record["seq"] for record in records] == list(range(1, 11))
    assert {record["schema"] for record in records} == {SCHEMA}


def test_reads_back_every_kind_of_fact(log: Path) -> None:
    """A log of one fact of each kind reads as those facts."""
    log.write_bytes(b"".join(lines_of(list(EXAMPLES))))
    reading = read(log)
    assert tuple(record.fact for record in reading.records) == EXAMPLES
    assert (reading.good, reading.torn) == (log.stat().st_size, b"")
    assert reading.last == reading.records[-1]


@pytest.mark.parametrize("content", [None, b""])
def test_a_log_that_is_not_there_has_no_records(log: Path, content: bytes | None) -> None:
    """No file and an empty file are the same: nothing happened yet."""
    if content is not None:
        log.write_bytes(content)
    reading = read(log)
    assert (reading.records, reading.good, reading.torn, reading.last) == ((), 0, b"", None)


@pytest.mark.parametrize("bit", range(8))
def test_one_flipped_bit_anywhere_is_noticed(log: Path, bit: int) -> None:
    """Each bit of ten records is missed at its record; the last newline is missed by the witness."""
    content = b"".join(TEN)
    log.write_bytes(content)
    witness = Witness(log.with_name("seen"))
    witness.saw(read(log).records[-1])
    with log.open("r+b", buffering=0) as disk:
        for start, line in zip(STARTS, TEN, strict=True):
            for at, byte in enumerate(line, start):
                os.pwrite(disk.fileno(), bytes([byte ^ 1 << bit]), at)
                said = _said_by(log)
                assert f"at byte {start}:" in said or "schema" in said or at == len(content) - 1
                os.pwrite(disk.fileno(), bytes([byte]), at)
        os.pwrite(disk.fileno(), bytes([content[-1] ^ 1 << bit]), len(content) - 1)
    assert len(read(log).records) == 9
    with pytest.raises(LogDamaged, match="it had 10 records, 9 are there"):
        witness.read(log)


def _said_by(log: Path) -> str:
    try:
        read(log)
    except LogDamaged as refused:
        return refused.message
    return ""


def test_a_torn_last_record_is_a_tail(log: Path) -> None:
    """A write that stopped at any byte, even one before its newline, leaves nine records and a tail."""
    for length in range(len(TEN[-1])):
        log.write_bytes(b"".join(TEN[:-1]) + TEN[-1][:length])
        reading = read(log)
        assert (len(reading.records), reading.good, reading.torn) == (9, STARTS[9], TEN[-1][:length])


@pytest.mark.parametrize(
    "tail",
    [
        b"\0",
        b"\0" * 4096,
        TEN[-1][:100] + b"\0" * 300,
        b"\0" * 300 + b"\n",
        b"\0" * 100 + TEN[-1][100:],
        TEN[-1][:1] + b"\0" * 200 + TEN[-1][201:],
        b"\0" + TEN[-1][1:],
        b"\n",
        b"garbage",
        b"\xff\xfe",
    ],
    ids=[
        "nul",
        "page",
        "half",
        "nul line",
        "hole before",
        "hole inside",
        "one byte",
        "newline",
        "text",
        "bytes",
    ],
)
def test_what_a_crash_can_leave_at_the_end_is_a_tail(log: Path, tail: bytes) -> None:
    """Zeros where data never arrived, from any byte to any byte of the last write, are not damage."""
    log.write_bytes(b"".join(TEN[:-1]) + tail)
    reading = read(log)
    assert (len(reading.records), reading.good, reading.torn) == (9, STARTS[9], tail)


@pytest.mark.parametrize(
    ("garbage", "words"),
    [
        (b"\0" * 200 + b"\n", "unreadable bytes stand before whole records"),
        (b"\n", "unreadable bytes stand before whole records"),
        (b"\0" * 50 + TEN[4][50:], "unreadable bytes stand before whole records"),
        (b"garbage\n", "not a record"),
        (b"{}\n", "not a record"),
        (b"[]\n", "not a record"),
        (b"null\n", "not a record"),
        (b'"schema"\n', "not a record"),
        (b"\xff\n", "not a record"),
        (TEN[4][:-1] + TEN[4], "not a record"),
        (TEN[4][:50] + TEN[4], "not a record"),
        (TEN[4].replace(b'"seq":5', b'"seq":5,"seq":5'), "key 'seq' appears twice"),
        (TEN[4].replace(b"note-5", b"note-6"), "the chain of hashes breaks here"),
        (b"", "the chain of hashes breaks here"),
        (TEN[4] + TEN[4], "the chain of hashes breaks here"),
    ],
)
def test_damage_in_the_middle_is_refused_with_its_place(log: Path, garbage: bytes, words: str) -> None:
    """Garbage, zeros, glued, doubled and missing records before whole ones are refused, and left alone."""
    message = refusal(log, b"".join(TEN[:4]) + garbage + b"".join(TEN[5:]))
    place = STARTS[4] + (len(TEN[4]) if garbage == TEN[4] * 2 else 0)
    assert f"is damaged at byte {place}: " in message
    assert words in message


@pytest.mark.parametrize("hole", [b"\n", b"\0" * 40 + b"\n"])
def test_a_hole_before_the_very_last_record_is_damage(log: Path, hole: bytes) -> None:
    """One whole record after it is enough to know that it is no tail, wherever it stands."""
    assert f"at byte {STARTS[8]}:" in refusal(log, b"".join(TEN[:8]) + hole + TEN[9])
    assert "at byte 0:" in refusal(log, hole + TEN[0])
    log.write_bytes(hole)
    assert read(log).torn == hole


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (body(2), "record 2 is out of order"),
        (body(4), "record 4 is out of order"),
        (body(3, epoch=0), "epoch 0 comes after epoch 1"),
        (body(3, type="MoonRose"), "MoonRose is not a fact this version knows"),
        (body(3, type="Fact"), "Fact is not a fact this version knows"),
        (body(3, data={"path": "a", "colour": "red"}), "Presented has no field colour"),
        (body(3, data={}), "missing 1 required positional argument"),
        (body(3, data=[]), "Presented is an object, not list"),
        (body(3, type="StepStarted", data={"step": "fly", "attempt": 1}), "'fly' is not a valid StepName"),
        (body(3, type="ProjectRead", data={"start": "", "checks": [1]}), "not a record"),
        (body(3, type="Validated", data={"tree": "", "results": 7}), "not a record"),
        (body(3, type=["Presented"]), "not a record"),
        (body(3, epoch="one"), "not a record"),
        ({key: value for key, value in body(3).items() if key != "epoch"}, "not a record"),
        ({key: value for key, value in body(3).items() if key != "at"}, "not a record"),
        ({key: value for key, value in body(3).items() if key != "data"}, "not a record"),
    ],
)
def test_a_chain_that_fits_is_not_enough(log: Path, last: dict[str, Any], words: str) -> None:
    """Doubled and missing numbers, older epochs and unknown facts are refused even with good hashes."""
    lines = chained([body(1), body(2), last])
    assert words in (message := refusal(log, b"".join(lines)))
    assert f"is damaged at byte {len(lines[0]) + len(lines[1])}: " in message


def test_a_newer_schema_is_refused_and_left_alone(log: Path) -> None:
    """The user is told to install the version that wrote it."""
    message = refusal(log, b"".join(chained([body(1), body(2, schema=2)])))
    assert message.endswith("has records of schema 2; this version reads 1")


def test_refuses_to_make_a_line_it_could_not_read() -> None:
    """A fact that nests too deep would make the log unreadable for ever, so it never gets there."""
    deep: Any = "x"
    for _ in range(95):
        deep = [deep]
    scenario = Scenario("deep", "", (Step(Call("/", "POST", json=deep), Expect(200)),))
    record = Record.after(None, e.ScenariosFrozen((scenario,), ""), epoch=1, at="")
    with pytest.raises(
        LogError, match="ScenariosFrozen cannot be written down: nested deeper than 100 levels"
    ):
        record.line(GENESIS)


def test_refuses_to_make_a_line_that_is_too_long() -> None:
    """Escapes make a text longer than it was; the line is what counts."""
    record = Record.after(None, e.Presented("\N{SNOWMAN}" * 1_400_000), epoch=1, at="")
    with pytest.raises(LogError, match="Presented cannot be written down: 8400224 characters of JSON"):
        record.line(GENESIS)
