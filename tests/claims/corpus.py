"""Every claim there is."""

from tests.claims import (
    forged_behaviour,
    forged_inside,
    forged_logs,
    forged_reports,
    forged_runs,
    forged_servers,
    honest_changes,
    honest_projects,
)
from tests.claims.case import Case

_FORGED = (forged_reports, forged_logs, forged_servers, forged_behaviour, forged_runs, forged_inside)
_HONEST = (honest_changes, honest_projects)

CASES: tuple[Case, ...] = tuple(case for family in (*_FORGED, *_HONEST) for case in family.CORPUS.cases)
