"""What this machine has seen of a log."""

import pytest

from harness_executor.errors import DiskError, LogDamaged
from harness_executor.kernel.canonical import parse
from harness_executor.store.record import read
from tests.store.place import OPENED, Place, lines_of, notes

TEN = lines_of(notes(10))


def test_remembers_the_newest_record(place: Place) -> None:
    """Only the last number and hash are kept, outside the project."""
    place.write(*notes(3))
    last = place.records()[-1]
    assert parse(place.witness.path.read_text()) == {"seq": 3, "hash": last.hash}
    assert place.layout.root not in place.witness.path.parents


def test_lets_a_log_through_that_only_grew(place: Place) -> None:
    """Records this machine did not see may follow the ones it did."""
    place.fill(b"".join(TEN[:4]))
    place.witness.saw(read(place.folder.log).records[-1])
    place.folder.log.write_bytes(b"".join(TEN))
    assert len(place.witness.read(place.folder.log).records) == 10


@pytest.mark.parametrize("left", range(10))
def test_notices_a_tail_that_was_cut(place: Place, left: int) -> None:
    """A log that ends earlier than it did is refused, though its chain is whole."""
    place.fill(b"".join(TEN))
    place.witness.saw(read(place.folder.log).records[-1])
    place.folder.log.write_bytes(b"".join(TEN[:left]))
    with pytest.raises(LogDamaged, match=f"it had 10 records, {left} are there"):
        place.records()


def test_notices_a_log_that_is_gone(place: Place) -> None:
    """A log that was deleted is a log that lost everything."""
    place.write(*notes(2))
    place.folder.log.unlink()
    with pytest.raises(LogDamaged, match="it had 2 records, 0 are there"):
        place.records()


def test_notices_a_log_that_was_made_anew(place: Place) -> None:
    """Another chain with as many records is another log."""
    place.fill(b"".join(TEN))
    place.witness.saw(read(place.folder.log).records[-1])
    place.folder.log.write_bytes(b"".join(lines_of(list(reversed(notes(12))))))
    with pytest.raises(LogDamaged, match="record 10 is another one, 12 are there"):
        place.records()


@pytest.mark.parametrize("words", ["", "garbage", "[]", "{}", '{"seq": "x", "hash": "y"}', '{"seq": null}'])
def test_a_witness_that_knows_nothing_says_nothing(place: Place, words: str) -> None:
    """A witness that was lost or spoilt does not stop a good log."""
    place.fill(b"".join(TEN))
    place.witness.path.parent.mkdir(parents=True)
    place.witness.path.write_text(words)
    assert len(place.records()) == 10


def test_a_witness_that_cannot_be_written_is_an_error(place: Place) -> None:
    """What cannot be remembered is not acknowledged; the log itself keeps what it has."""
    with place.open() as log:
        log.append(OPENED)
        place.witness.path.unlink()
        place.witness.path.mkdir()
        with pytest.raises(DiskError, match="cannot write"):
            log.append(notes(1)[0])
    assert [record.fact for record in read(place.folder.log).records] == [OPENED, *notes(1)]


def test_a_leftover_of_a_crash_is_never_read(place: Place) -> None:
    """A half-written witness beside the real one changes nothing."""
    place.write(*notes(2))
    place.witness.path.with_name(".task.tmp").write_text('{"seq": 9, "hash": "')
    place.write(*notes(1))
    assert len(place.records()) == 4
