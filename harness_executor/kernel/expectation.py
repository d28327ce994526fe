"""What an answer must be, as data."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, ClassVar

from harness_executor.kernel.canonical import STRICT
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.lean import LATER


class Op(StrEnum):
    """How a value found in an answer is compared."""

    EQUALS = "equals"
    NOT_EQUALS = "not_equals"
    EXISTS = "exists"
    ABSENT = "absent"
    TYPE = "type"
    LENGTH = "length"
    CONTAINS = "contains"
    MATCHES = "matches"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"
    LESS_THAN = "less_than"
    MORE_THAN = "more_than"
    SAME_ITEMS = "same_items"
    SUBSET_OF = "subset_of"
    SUPERSET_OF = "superset_of"
    SORTED = "sorted"
    UNIQUE = "unique"


@frozen
class JsonCheck:
    """A comparison with what stands at a path of the JSON answer."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    path: str
    """Such as $.items[0].id or $.items[*].name."""
    op: Op = Op.EQUALS
    value: Any = None
    """What to compare with; type: string number integer boolean array object null; sorted: asc desc."""


@frozen
class FileCheck:
    """What a file must be that a program was to write."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    exists: bool = True
    contains: tuple[str, ...] = ()
    matches: tuple[str, ...] = ()
    """Regular expressions, searched for."""
    equals: str | None = None


@frozen
class Expect:
    """What an answer must be; with neither status nor exit_code, that it worked: no 4xx or 5xx, or code 0."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    status: int | tuple[int, ...] | str | None = None
    """Of a request, such as 200, [200, 201] or "4xx"."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Header name to a text its value must contain."""
    json: tuple[JsonCheck, ...] = ()
    """Of the body, or of standard output."""
    body_contains: tuple[str, ...] = ()
    body_not_contains: tuple[str, ...] = ()
    body_matches: tuple[str, ...] = ()
    """Regular expressions, searched for."""
    exit_code: int | tuple[int, ...] | str | None = field(default=None, metadata=LATER)
    """Of a program, such as 0, [1, 2] or "nonzero"."""
    stdout_contains: tuple[str, ...] = field(default=(), metadata=LATER)
    stdout_not_contains: tuple[str, ...] = field(default=(), metadata=LATER)
    stdout_matches: tuple[str, ...] = field(default=(), metadata=LATER)
    stderr_contains: tuple[str, ...] = field(default=(), metadata=LATER)
    stderr_not_contains: tuple[str, ...] = field(default=(), metadata=LATER)
    stderr_matches: tuple[str, ...] = field(default=(), metadata=LATER)
    files: Mapping[str, FileCheck] = field(default_factory=dict, metadata=LATER)
    """Files of the folder it ran in, by their place."""

    @property
    def is_of_program(self) -> bool:
        """Does it look at what only a program has?"""
        streams = (self.stdout_contains, self.stdout_not_contains, self.stdout_matches)
        errors = (self.stderr_contains, self.stderr_not_contains, self.stderr_matches)
        return self.exit_code is not None or any((*streams, *errors, self.files))

    @property
    def is_of_server(self) -> bool:
        """Does it look at what only a server has?"""
        bodies = (self.body_contains, self.body_not_contains, self.body_matches)
        return self.status is not None or any((self.headers, *bodies))

    @property
    def patterns(self) -> tuple[str, ...]:
        """Every regular expression in it."""
        texts = (self.body_matches, self.stdout_matches, self.stderr_matches)
        files = (pattern for file in self.files.values() for pattern in file.matches)
        values = (str(check.value) for check in self.json if check.op is Op.MATCHES)
        return (*(pattern for group in texts for pattern in group), *files, *values)
