"""JavaScript and TypeScript, read without a parser."""

from harness_executor.workspace.detect.jsource import bare


def test_comments_are_taken_out_and_nothing_else() -> None:
    """What begins as a comment and never ends is code, such as a path that stands for many."""
    text = "a /* b\n// c */ d; // e\nuse('/api/*', f) // g\nh 'http://i'\n"
    assert bare(text) == "a   d;  \nuse('/api/*', f)  \nh 'http://i'\n"
    assert bare("// a\nb") == " \nb"
    assert bare("/* a // b") == "/* a  "
