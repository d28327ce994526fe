import pytest

from slugs import slugify


@pytest.mark.parametrize(("text", "slug"), [("Hello, World", "hello-world"), ("Ångström 2", "angstrom-2")])
def test_slugify(text, slug):
    assert slugify(text) == slug


def test_nothing_left():
    with pytest.raises(ValueError):
        slugify("!!!")
