"""Tests that only got another name."""

from pathlib import Path

from harness_executor.workspace.testing.bodies import find_renamed

OLD = "class TestIt:\n    def test_a(self):\n        assert f(1) == 2\n\n\ndef test_b():\n    assert g()\n"


def _trees(tmp_path: Path, new: str) -> tuple[Path, Path]:
    base, change = tmp_path / "base", tmp_path / "change"
    for tree, text in ((base, OLD), (change, new)):
        tree.mkdir(parents=True)
        (tree / "test_x.py").write_text(text)
    return base, change


def test_the_same_body_is_the_same_test(tmp_path: Path) -> None:
    """In a class or not, whatever the layout and the line."""
    new = OLD.replace("test_a", "test_one").replace("assert f(1) == 2", "assert f( 1 )==2  # same")
    found = find_renamed(
        ["test_x.py::TestIt::test_a"], ["test_x.py::TestIt::test_one"], *_trees(tmp_path, new)
    )
    assert found == {"test_x.py::TestIt::test_a": "test_x.py::TestIt::test_one"}


def test_a_test_is_found_in_the_folder_it_ran_in(tmp_path: Path) -> None:
    """Names that begin in one folder of the project are read there; where two would fit, none is."""
    new = OLD.replace("def test_b", "def test_c")
    trees = _trees(tmp_path, new)
    for tree in trees:
        (tree / "back" / "tests").mkdir(parents=True)
        (tree / "test_x.py").rename(tree / "back" / "tests" / "test_x.py")
    names = ["tests/test_x.py::test_b"], ["tests/test_x.py::test_c"]
    assert find_renamed(*names, *trees) == {"tests/test_x.py::test_b": "tests/test_x.py::test_c"}
    twins = _trees(tmp_path / "twins", new)
    for tree in twins:
        for folder in ("front", "back"):
            (tree / folder / "tests").mkdir(parents=True)
            (tree / folder / "tests" / "test_x.py").write_text((tree / "test_x.py").read_text())
    assert find_renamed(*names, *twins) == {}
    longest = [f"{'x' * 300}.py::test_b"]
    assert find_renamed(longest, longest, *trees) == {}


def test_another_body_or_other_parameters_are_another_test(tmp_path: Path) -> None:
    """A weaker test under a new name is not the old one."""
    new = OLD.replace("def test_b():\n    assert g()", "def test_c():\n    assert True")
    base, change = _trees(tmp_path, new)
    assert find_renamed(["test_x.py::test_b"], ["test_x.py::test_c"], base, change) == {}
    assert find_renamed(["test_x.py::test_b[1]"], ["test_x.py::test_b[2]"], base, change) == {}


def test_a_test_put_into_a_class_is_the_same_test(tmp_path: Path) -> None:
    """The object of a method counts only where it is used."""
    body = "        assert g()\n"
    new = f"class TestB:\n    def test_b(self):\n{body}\n    def test_c(self, x):\n{body}"
    base, change = _trees(tmp_path, new)
    names = ["test_x.py::test_b"], ["test_x.py::TestB::test_c", "test_x.py::TestB::test_b"]
    assert find_renamed(*names, base, change) == {"test_x.py::test_b": "test_x.py::TestB::test_b"}
    used = _trees(tmp_path / "used", new.replace("g()", "self.g()"))
    assert find_renamed(*names, *used) == {}


def test_one_new_test_stands_for_one_old(tmp_path: Path) -> None:
    """Two tests of the same body do not both become one."""
    new = OLD.replace("def test_b", "def test_c")
    gone = ["test_x.py::test_b", "test_x.py::test_b"]
    assert len(find_renamed(gone, ["test_x.py::test_c"], *_trees(tmp_path, new))) == 1


def test_what_cannot_be_read_is_not_the_same(tmp_path: Path) -> None:
    """Damaged sources, other languages and ways out of the tree match nothing."""
    base, change = _trees(tmp_path, "def (")
    names = ["test_x.py::test_b", "a.test.js::x", "../base/test_x.py::test_b", "nowhere.py::x", "bare"]
    assert find_renamed(names, names, base, change) == {}
