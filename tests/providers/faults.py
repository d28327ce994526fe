"""One call through the real SDKs to a loopback model in trouble, with a clock that costs no time."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from harness_executor.errors import ProviderError
from harness_executor.providers import anthropic, openai
from harness_executor.providers.base import Patience, Provider, Reply, Request, Said
from harness_executor.providers.chat import ChatProvider
from harness_executor.providers.loopback import LoopbackModel, Trouble
from harness_executor.providers.responses import ResponsesProvider
from harness_executor.providers.retrying import Retrying, Stumble, uniform
from harness_executor.providers.script import Script
from harness_executor.providers.wire import Access, Limits
from tests.providers.virtual import VirtualClock

APIS = ("messages", "responses", "chat")
ASKED = Request("executor", "m-1", "You are the executor.", (Said("add a route"),), max_tokens=500)
SCRIPT = Script({"executor": [{"replies": [{"text": "all is well"}]}]})
PATIENCE = Patience()
LIMITS = Limits(seconds=60, first=30, idle=20)


def reach(api: str, url: str, *, stream: bool = True, limits: Limits = LIMITS) -> Provider:
    """A provider with its real SDK, and no retries of its own."""
    access = Access(url if api == "messages" else f"{url}/v1", "sk-test-key", stream, limits)
    match api:
        case "messages":
            return anthropic.direct(access)
        case "responses":
            return ResponsesProvider(openai.direct(access), stream=stream)
    return ChatProvider(openai.direct(access), stream=stream)


@dataclass
class Call:
    """How a call went."""

    told: list[Stumble] = field(default_factory=list)
    clock: VirtualClock = field(default_factory=VirtualClock)
    reply: Reply | None = None
    error: ProviderError | None = None
    sent: int = 0
    """Requests that the server saw."""

    @property
    def text(self) -> str:
        """What was answered, or nothing."""
        return self.reply.text if self.reply else ""

    def make(
        self, provider: Provider, patience: Patience = PATIENCE, draw: Callable[[], float] = uniform
    ) -> "Call":
        """Make it."""
        try:
            self.reply = Retrying(provider, patience, self.clock, self.told.append, draw).complete(ASKED)
        except ProviderError as error:
            self.error = error
        return self


def call(api: str, *troubles: Trouble | None, patience: Patience = PATIENCE, stream: bool = True) -> Call:
    """One call to a model that meets these troubles, one for each request."""
    return call_scripted(api, SCRIPT, troubles, patience=patience, stream=stream)


def call_scripted(
    api: str,
    script: Script,
    troubles: Iterable[Trouble | None],
    *,
    patience: Patience = PATIENCE,
    stream: bool = True,
) -> Call:
    """The same with a script."""
    with LoopbackModel(script, troubles) as model:
        made = Call().make(reach(api, model.url, stream=stream), patience)
        made.sent = len(model.requests)
    return made
