"""harness_executor: a change goes in, a commit with proof comes out, or an honest refusal."""

__version__ = "0.1.0"
