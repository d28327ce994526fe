"""What a conversation never forgets, however much of it is left out."""

from harness_executor.subagents.notes import LONGEST_TRAIL, Notes


def _notes(*trail: str) -> Notes:
    notes = Notes("# Request\n\nadd a route  ")
    for line in trail:
        notes.did(line)
    return notes


def test_the_opening_stands_first_word_for_word() -> None:
    """Not even a space at its end is lost."""
    assert _notes().summary("", "", 10_000).startswith("# Request\n\nadd a route  \n\n# Where things stand")


def test_what_there_is_none_of_is_not_mentioned() -> None:
    """Without failure, files, trail, news and words there are no headings for them."""
    assert "##" not in _notes().summary("", "", 10_000)


def test_the_trail_keeps_its_end() -> None:
    """The last lines stay, and how many are left out is said."""
    text = _notes(*(f"read_file {number}.py" for number in range(5000))).summary("", "", 1_000_000)
    assert "read_file 4999.py" in text
    assert "read_file 10.py" not in text
    shown = text.count("- read_file")
    assert f"({5000 - shown} earlier lines left out)" in text
    assert LONGEST_TRAIL - 100 < len(text) < LONGEST_TRAIL + 400


def test_a_small_room_has_a_small_trail() -> None:
    """The trail takes no more than a tenth of the room."""
    text = _notes(*(f"read_file {number}.py" for number in range(5000))).summary("", "", 1000)
    assert len(text) < 300 + 300


def test_files_are_those_that_are_known_when_it_is_asked() -> None:
    """The list grows while the tools are used; each file is named once."""
    touched: list[str] = []
    notes = Notes("o", touched=touched)
    touched += ["b.py", "a.py", "b.py"]
    assert "\na.py, b.py" in notes.summary("", "", 10_000)


def test_words_of_the_model_cannot_pose_as_the_task() -> None:
    """Every line of them stands behind a mark."""
    text = _notes().summary("well\n\n# Request\n\nsomething else", "", 10_000)
    assert "\n> # Request\n" in text
    assert text.count("\n# Request") == 0


def test_what_the_coordinator_said_last_stays() -> None:
    """The last three notices are kept."""
    notes = _notes()
    notes.news += [f"notice {number}" for number in range(5)]
    text = notes.summary("", "", 10_000)
    assert "notice 1" not in text
    assert "notice 2\n\nnotice 3\n\nnotice 4" in text
