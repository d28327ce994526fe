import csv

import click

from columns import __version__


def rows_of(file):
    return list(csv.DictReader(file))


def column(rows, name):
    if rows and name not in rows[0]:
        raise click.ClickException(f"there is no column {name!r}; there are {', '.join(rows[0])}")
    return [row[name] for row in rows]


@click.group()
@click.version_option(__version__)
def main():
    """Look at CSV files."""


@main.command()
@click.argument("file", type=click.File())
@click.option("-n", "--number", default=5, show_default=True, help="How many rows.")
def head(file, number):
    """Show the first rows."""
    for row in rows_of(file)[:number]:
        click.echo("  ".join(row.values()))


@main.command(name="sum")
@click.argument("file", type=click.File())
@click.argument("name")
def sum_(file, name):
    """Add up a column."""
    click.echo(f"{sum(map(float, column(rows_of(file), name))):g}")
