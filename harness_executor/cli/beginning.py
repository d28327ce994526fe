"""What can be begun before the rest of the program is loaded: the project is found, and its box is tried."""

from argparse import Namespace
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from harness_executor.cli.parsing import boxed_as_asked
from harness_executor.config import Settings, read_settings
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.choice import Boxing, choose
from harness_executor.store.layout import Layout
from harness_executor.store.trust import trust_in
from harness_executor.workspace.repository import Repository, open_repository


@frozen
class Beginning:
    """A project whose box is being tried."""

    repository: Repository
    settings: Settings
    trial: Future[Boxing]


@contextmanager
def begin(options: Namespace) -> Iterator[Beginning]:
    """Find the project of a command line, and try its box meanwhile."""
    repository = open_repository(options.repo)
    layout = Layout(repository.root)
    layout.refuse_links()
    granted = trust_in(layout).granted()
    settings = boxed_as_asked(read_settings(layout.harness, granted=granted), options)
    with ThreadPoolExecutor(1) as beside:
        yield Beginning(repository, settings, beside.submit(choose, settings, repository.root))
