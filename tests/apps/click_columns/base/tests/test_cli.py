from click.testing import CliRunner

from columns.cli import main


def test_sum(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("name,amount\na,1\nb,2.5\n")
    done = CliRunner().invoke(main, ["sum", str(path), "amount"])
    assert done.output == "3.5\n"
