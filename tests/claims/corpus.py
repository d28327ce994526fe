"""Every claim there is."""

from tests.claims import (
    forged_behaviour,
    forged_choices,
    forged_commands,
    forged_gamed,
    forged_inside,
    forged_installed,
    forged_logs,
    forged_reports,
    forged_rules,
    forged_runners,
    forged_runs,
    forged_servers,
    forged_skips,
    forged_tests,
    honest_changes,
    honest_commands,
    honest_http,
    honest_projects,
    honest_rules,
    honest_skips,
    honest_tests,
)
from tests.claims.case import Case

_FORGED = (
    forged_reports,
    forged_logs,
    forged_servers,
    forged_behaviour,
    forged_gamed,
    forged_runs,
    forged_inside,
    forged_tests,
    forged_runners,
    forged_commands,
    forged_skips,
    forged_rules,
    forged_installed,
    forged_choices,
)
_HONEST = (
    honest_changes,
    honest_http,
    honest_projects,
    honest_tests,
    honest_commands,
    honest_skips,
    honest_rules,
)

CASES: tuple[Case, ...] = tuple(case for family in (*_FORGED, *_HONEST) for case in family.CORPUS.cases)
