"""A keyed digest over evidence, surveys and approvals, with a key that lives outside every project."""

import hashlib
import hmac
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from harness_executor.clock import secret_bytes
from harness_executor.errors import HarnessError
from harness_executor.kernel.canonical import canonical
from harness_executor.kernel.events import ChangeApproved
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.lean import lean
from harness_executor.kernel.report import Evidence
from harness_executor.kernel.survey import ChangeSurveyed
from harness_executor.store.files import make_secret

S = TypeVar("S", Evidence, ChangeApproved, ChangeSurveyed)
_MARKS = {ChangeApproved: "approved", ChangeSurveyed: "surveyed"}
"""Facts are sealed under a name, so that none can pass for evidence or for another."""


@frozen
class Seal:
    """The key of this installation."""

    path: Path

    def put(self, value: S) -> S:
        """The evidence, survey or approval with its seal."""
        return replace(value, seal=self._digest(value))

    def fits(self, value: Evidence | ChangeApproved | ChangeSurveyed | None) -> bool:
        """Was this sealed here, and is it unchanged?"""
        if value is None:
            return False
        return hmac.compare_digest(str(value.seal).encode(errors="replace"), self._digest(value).encode())

    def _digest(self, value: Evidence | ChangeApproved | ChangeSurveyed) -> str:
        data = lean(replace(value, seal=""))
        mark = _MARKS.get(type(value))
        data = {mark: data} if mark else data
        return hmac.new(self._key(), canonical(data).encode(), hashlib.sha256).hexdigest()

    def _key(self) -> bytes:
        try:
            key = self.path.read_bytes()
        except FileNotFoundError:
            return make_secret(self.path, secret_bytes())
        if len(key) != 32:
            raise HarnessError(
                f"the key {self.path} has {len(key)} bytes, not 32",
                hint="remove it; a new one is made at the next run",
            )
        return key
