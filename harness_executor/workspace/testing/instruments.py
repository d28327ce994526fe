"""Runners of tests, made to also write down which tests ran."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from harness_executor.clock import new_id
from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.testing.strays import settles_a_report

OF_PYTEST = "pytest.xml"
_FILES = Path(__file__).parent / "files"
_NODE = ("hook.cjs", "reporter.mjs")
_NODE_DEPTH = ("package.json", "*/package.json", "*/*/package.json")
_UNITTEST = re.compile(r"(?<=\s)-m\s+unittest(?=\s|$)")
_DJANGO = re.compile(r"(manage\.py\s+test)(?=\s|$)")
_GO = re.compile(r"((?:^|(?<=[\s;&|(]))go\s+test)(?=\s|$)")


@frozen
class Instruments:
    """What a tree is given so that its test command reports."""

    name: str
    """The folder in the tree that gets the reports."""
    leaves_pytest: bool = False
    """Has pytest settings that say where its report goes? Others may wait for it there."""

    def lay_out(self, tree: Path) -> Path:
        """Put the folder into a tree, with what runners load from it."""
        place = tree / self.name
        place.mkdir()
        (place / "run_unittest.py").write_text(_text("run_unittest.py"), encoding="utf-8")
        if any(found for pattern in _NODE_DEPTH for found in tree.glob(pattern)):
            for name in _NODE:
                (place / name).write_text(_text(name), encoding="utf-8")
            stand_in = place / "node"
            stand_in.write_text(_text("node.sh"), encoding="utf-8")
            stand_in.chmod(0o755)
        return place

    def command(self, command: str, root: Path) -> str:
        """The same command, with words that make runners report; `root` is where it sees the tree."""
        stand_in = shlex.quote(str(root / self.name / "run_unittest.py"))
        said = _UNITTEST.sub(lambda _: stand_in, command)
        return _GO.sub(r"\1 -json", _DJANGO.sub(r"\1 -v 2", said))

    def variables(self, env: Mapping[str, str], root: Path) -> dict[str, str]:
        """Variables that make runners report, over those that a command has anyway."""
        place = root / self.name
        report = "" if self.leaves_pytest else shlex.quote(f"--junitxml={place / OF_PYTEST}")
        asked = f"{report} -o junit_family=xunit1 --continue-on-collection-errors".strip()
        return {
            "PYTEST_ADDOPTS": f"{env.get('PYTEST_ADDOPTS', '')} {asked}".strip(),
            "PATH": f"{place}:{env.get('PATH', '')}",
        }


def new_instruments(tree: Path) -> Instruments:
    """Instruments in a folder that no repository can have brought."""
    return Instruments(f".harness-tests-{new_id()}", settles_a_report(tree))


def _text(name: str) -> str:
    return (_FILES / name).read_text(encoding="utf-8")
