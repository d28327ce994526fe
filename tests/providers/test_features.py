"""What a service is asked for beyond the plain request, until it says that it does not know it."""

from dataclasses import replace

import pytest

from harness_executor.errors import ContextOverflow, Fault, ProviderError, ProviderFault, RequestRefused
from harness_executor.providers.base import Request, Said, ToolSpec
from harness_executor.providers.features import Feature, Features

PLAIN = Request("executor", "m", "", (Said("x"),))
FULL = replace(PLAIN, tools=(ToolSpec("t", "", {}, strict=True),), schema={})


def _refused(features: Features, words: str, status: int = 400, request: Request = FULL) -> ProviderError:
    with pytest.raises(ProviderError) as raised, features.minded(request):
        raise RequestRefused(words, said=Fault(status, "r1"))
    return raised.value


@pytest.mark.parametrize(
    ("words", "feature"),
    [
        ("adaptive thinking is not supported on this model", Feature.THINKING),
        ("cache_control: Extra inputs are not permitted", Feature.CACHING),
        ("tools.0.custom.strict: Extra inputs are not permitted", Feature.STRICT),
        ("[{'loc': ['body', 'tools', 0, 'strict'], 'msg': 'Extra inputs'}]", Feature.STRICT),
        ("output_config: Extra inputs are not permitted", Feature.SCHEMA),
        ("output_format.schema: too complex", Feature.SCHEMA),
        ("'response_format' of type 'json_schema' is not supported", Feature.SCHEMA),
        ("json_schema.strict is unknown", Feature.SCHEMA),
        ("Unknown parameter: 'text.format'", Feature.SCHEMA),
        ("{'loc': ['body', 'text', 'format']}", Feature.SCHEMA),
    ],
)
@pytest.mark.parametrize("status", [400, 422])
def test_a_feature_that_is_named_is_left_out(words: str, feature: Feature, status: int) -> None:
    """The refusal is a fault that keeps its words, asked again at once, and no other feature goes."""
    features = Features(Feature.THINKING, Feature.CACHING)
    before = features.asked
    error = _refused(features, words, status)
    assert type(error) is ProviderFault
    assert (error.message, error.said) == (words, Fault(status, "r1", 0.0))
    assert feature.value in error.hint
    assert before - features.asked == {feature}
    assert feature not in features


def test_a_schema_loses_its_second_name_first() -> None:
    """Both names are one word to a service that refuses, so the doubtful one goes before the other."""
    features = Features(Feature.SCHEMA_TWICE)
    for feature in (Feature.SCHEMA_TWICE, Feature.SCHEMA):
        assert feature in features
        assert type(_refused(features, "response_format is unknown")) is ProviderFault
        assert feature not in features
    assert type(_refused(features, "response_format is unknown")) is RequestRefused


@pytest.mark.parametrize(
    ("words", "status", "request_"),
    [
        ("messages: roles must alternate", 400, FULL),
        ("strict", 404, FULL),
        ("strict", 400, PLAIN),
        ("json_schema", 400, PLAIN),
        ("a restricted model", 400, FULL),
        ("thinking", 400, FULL),
    ],
)
def test_any_other_refusal_is_one(words: str, status: int, request_: Request) -> None:
    """What names no feature that was asked for, or has another status, is not asked again."""
    features = Features()
    assert type(_refused(features, words, status, request_)) is RequestRefused
    assert {Feature.SCHEMA, Feature.STRICT} <= features.asked


def test_other_errors_pass_through() -> None:
    """A full window is no matter of features, whatever it names."""
    features = Features()
    with pytest.raises(ContextOverflow), features.minded(FULL):
        raise ContextOverflow("strict", said=Fault(400))
    assert Feature.STRICT in features
