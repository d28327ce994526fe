"""What a service is asked for beyond the plain request, until it says that it does not know it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum

from harness_executor.errors import ProviderFault, RequestRefused
from harness_executor.providers.base import Request

_STATUSES = (400, 422)


class Feature(StrEnum):
    """Something that not every service or model knows; the first that a refusal names is left out."""

    THINKING = "adaptive thinking"
    CACHING = "caching of prompts"
    SCHEMA_TWICE = "a schema by a second name"
    SCHEMA = "answers of a schema"
    STRICT = "strict tools"


_NAMES = {
    Feature.THINKING: r"\bthinking\b",
    Feature.CACHING: r"\bcache_control\b",
    Feature.SCHEMA_TWICE: r"\bresponse_format\b",
    Feature.SCHEMA: r"\b(?:output_config|output_format|response_format|json_schema|text\W{1,6}format)\b",
    Feature.STRICT: r"\bstrict\b",
}


class Features:
    """The features that one provider asks for."""

    def __init__(self, *features: Feature) -> None:
        self.asked = frozenset({Feature.SCHEMA, Feature.STRICT, *features})

    def __contains__(self, feature: Feature) -> bool:
        return feature in self.asked

    @contextmanager
    def minded(self, request: Request) -> Iterator[None]:
        """A refusal of this request that names a feature is a fault: it is asked again without."""
        sent = self.asked & _wanted(request)
        try:
            yield
        except RequestRefused as error:
            found = _named(error, sent)
            if found is None:
                raise
            self.asked -= {found}
            hint = f"the service does not know {found.value}; it is asked again without"
            raise ProviderFault(error.message, hint=hint, said=replace(error.said, after=0.0)) from error


def _wanted(request: Request) -> set[Feature]:
    found = {Feature.THINKING, Feature.CACHING}
    if request.schema is not None:
        found |= {Feature.SCHEMA, Feature.SCHEMA_TWICE}
    if request.schema is not None or request.tools:
        found.add(Feature.STRICT)
    return found


def _named(error: RequestRefused, sent: frozenset[Feature]) -> Feature | None:
    if error.said.status not in _STATUSES:
        return None
    return next((one for one in Feature if one in sent and re.search(_NAMES[one], error.message)), None)
