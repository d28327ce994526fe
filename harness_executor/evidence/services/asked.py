"""A question of a scenario to a service, written down as everything that was done."""

import json
from dataclasses import replace

from harness_executor.clock import Clock
from harness_executor.errors import ServiceFailed
from harness_executor.evidence.services.running import Serving
from harness_executor.kernel.acts import Query
from harness_executor.kernel.expect import Ended
from harness_executor.kernel.report import Execution


def ask_service(service: Serving, query: Query, clock: Clock) -> Execution:
    """Ask a service; its rows are the answer, and a question it turns down ends like a program that fails."""
    began = clock.monotonic()
    title = f"query {query.service}: `{query.text.strip()}`"
    deed = Execution((service.service.type, query.service), query.text, {}, {}, None, title=title)
    try:
        code, rows, complaint = 0, json.dumps(service.query(query.text)), ""
    except ServiceFailed as error:
        code, rows, complaint = 1, "", error.message
    took = round((clock.monotonic() - began) * 1000, 1)
    return replace(deed, answer=Ended(code, (), rows, took, complaint, {}))
