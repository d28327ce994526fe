"""`harness trust`: a person grants what a project's settings ask for."""

from harness_executor.cli.consent import consents, with_yes
from harness_executor.cli.parsing import Parser, print_text, with_project
from harness_executor.config import read_settings
from harness_executor.home import open_home


def main(words: list[str]) -> int:
    """Show what a project asks for beyond your own settings, and grant it if you say so."""
    parser = Parser("harness trust", description="Grant what a project's settings ask for.")
    with_project(parser)
    with_yes(parser)
    options = parser.parse_args(words[1:])
    home = open_home(options.repo)
    settings = read_settings(home.layout.harness, granted=home.trust.granted())
    for note in settings.notes:
        print_text(note)
    if not settings.wish:
        print_text("the project asks for nothing that can be granted")
        return 0
    print_text(f"the project asks for:\n{settings.wish}")
    if settings.wish.digest == home.trust.granted():
        print_text("this is granted")
        return 0
    if not consents("grant exactly this?", yes=options.yes):
        print_text("not granted; nothing was changed")
        return 3
    home.trust.grant(settings.wish)
    print_text("granted; a change of it will be asked for again")
    return 0
