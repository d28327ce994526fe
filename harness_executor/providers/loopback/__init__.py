"""A model server on this machine that speaks the real wire protocols and plays a script."""

from harness_executor.providers.loopback.server import ROLES, LoopbackModel
from harness_executor.providers.loopback.trouble import Trouble

__all__ = ["ROLES", "LoopbackModel", "Trouble"]
