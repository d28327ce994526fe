"""Which files say by what rules code is checked?"""

import re
from fnmatch import fnmatchcase

_RULES = (
    *(".eslintrc*", ".eslintignore", "eslint.config.*", ".oxlintrc.json", "tslint.json", ".jshintrc"),
    *(".prettierrc*", ".prettierignore", "prettier.config.*", "biome.json", "biome.jsonc"),
    *(".stylelintrc*", ".stylelintignore", "stylelint.config.*", ".xo-config*", "xo.config.*"),
    *("ruff.toml", ".ruff.toml", ".flake8", "mypy.ini", ".mypy.ini", ".pylintrc", "pylintrc", ".bandit"),
    *("pyrightconfig.json", "ty.toml", "setup.cfg", "tox.ini", ".isort.cfg", ".pydocstyle*"),
    *(".golangci.*", "clippy.toml", ".clippy.toml", "rustfmt.toml", ".rubocop*.yml"),
    *("phpstan*.neon*", "phpcs.xml*", "psalm.xml*", "checkstyle*.xml", "detekt*.yml"),
)
_OF_TYPESCRIPT = re.compile(r"[tj]sconfig(?:\.[\w.-]+)?\.json")


def sets_rules(path: str) -> bool:
    """Does this file say what a linter or compiler complains about?"""
    name = _name(path)
    return any(fnmatchcase(name, pattern) for pattern in _RULES)


def is_of_typescript(path: str) -> bool:
    """Does it say that, and what the code is made for besides?"""
    return _OF_TYPESCRIPT.fullmatch(_name(path)) is not None


def _name(path: str) -> str:
    return path.lower().rsplit("/", 1)[-1]
