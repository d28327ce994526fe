"""Messages to models, made from Jinja templates that cannot run anything."""

from functools import cache
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from harness_executor.errors import HarnessError
from harness_executor.resources import bundled


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    return ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(bundled("prompts")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        autoescape=False,
    )


def render(template: str, **values: Any) -> str:
    """The text of a template; a value that holds template syntax stays text."""
    try:
        return _environment().get_template(f"{template}.md.j2").render(**values).strip()
    except TemplateError as error:
        raise HarnessError(
            f"prompts/{template}.md.j2: {error}", hint="install harness-executor again"
        ) from error
