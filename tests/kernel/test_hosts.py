"""Which hosts may be reached: a name counts in one spelling, and every other spelling is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.kernel.hosts import (
    Allowed,
    BadEntry,
    Entry,
    Target,
    canonical,
    is_public,
    may_lead_to,
    read_allowed,
    read_target,
)
from tests.sandbox.spellings import ENTRIES, HOSTS

LABELS = st.text("ab0x-_.%*\0\n\u0430\u212aA1", max_size=8)
HOSTISH = st.one_of(
    st.text(max_size=30),
    st.lists(st.one_of(LABELS, st.sampled_from(["a", "com", "a.com", "w.example", "evil"])), max_size=5).map(
        ".".join
    ),
    st.tuples(LABELS, st.sampled_from(["a.com", "w.example", "10.0.0.1"]), LABELS).map("".join),
)


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("pypi.org", Entry("pypi.org")),
        ("PyPI.org", Entry("pypi.org")),
        ("files.pythonhosted.org:443", Entry("files.pythonhosted.org", (443,))),
        ("*.npmjs.org", Entry("npmjs.org", below=True)),
        ("*.npmjs.org:8443", Entry("npmjs.org", (8443,), below=True)),
        ("xn--bcher-kva.example", Entry("xn--bcher-kva.example")),
        ("localhost:8080", Entry("localhost", (8080,))),
        ("192.0.2.7", Entry("192.0.2.7")),
        ("[2001:DB8:0::7]:443", Entry("[2001:db8::7]", (443,))),
    ],
)
def test_an_entry_names_a_host_a_port_or_the_hosts_below(text: str, entry: Entry) -> None:
    """A host, a host with a port, and `*.` before a host are read."""
    assert read_allowed([text]).entries == (entry,)


@pytest.mark.parametrize(
    "text",
    [
        *("", "*", "*.", "*.com", "*.*.com", "a.*.com", "*a.com", "*:443", "**.a.com", ".a.com", "a.com."),
        *(
            "https://a.com",
            "a.com/",
            "a.com/simple",
            "user@a.com",
            "a.com:0",
            "a.com:65536",
            "a.com:",
            "a.com:x",
        ),
        *("a.com, b.com", "a com", " a.com", "a.com\n", "b\u00fccher.example", "a%2ecom", "a_b.com"),
        *(
            "*.10.0.0.1",
            "*.[::1]",
            "*.localhost",
            "127.1",
            "0x7f000001",
            "010.0.0.1",
            "::1",
            "[::ffff:10.0.0.1]",
        ),
    ],
)
def test_an_entry_that_names_no_host_is_an_error(text: str) -> None:
    """Whatever is not a host as hosts are written is refused with its text, never guessed at."""
    with pytest.raises(BadEntry, match=r"names no host|no such port") as error:
        read_allowed(["a.com", text])
    assert repr(text) in str(error.value)


def test_an_empty_list_allows_nothing() -> None:
    """Without entries no host is allowed, neither one that is named nor an empty one."""
    assert not any(read_allowed([]).is_allowed(host, 443) for host in ("a.com", "", "*", "localhost"))
    assert not Allowed().is_allowed("a.com", 443)


@pytest.mark.parametrize("host", ["a.com", "A.COM", "a.CoM", "x.w.example", "x.y.W.example"])
@pytest.mark.parametrize("port", [80, 443])
def test_a_listed_host_is_allowed_in_any_case(host: str, port: int) -> None:
    """Capitals are the same name."""
    assert read_allowed(ENTRIES).is_allowed(host, port)


def test_a54_every_spelling_is_refused() -> None:
    """No host of the corpus is read as a target that is allowed, and the corpus has more than 40."""
    allowed = read_allowed(ENTRIES)
    read = [(text, read_target(text)) for text in HOSTS]
    assert [text for text, target in read if target and allowed.is_allowed(target.host, target.port)] == []
    assert len(set(HOSTS)) == len(HOSTS) > 40


@pytest.mark.parametrize(
    ("careless", "host"),
    [
        (lambda host: host.startswith("a.com"), "a.com.evil.example"),
        (lambda host: host.endswith("a.com"), "evila.com"),
        (lambda host: "a.com" in host, "evil.example?a.com"),
        (
            lambda host: host.split("\0")[0].endswith("a.com") or host.endswith(".a.com"),
            "evil.example\0.a.com",
        ),
        (lambda host: host.rstrip(".") == "a.com", "a.com."),
        (lambda host: host.split("@")[-1] == "a.com", "evil.example@a.com"),
        (lambda host: host.casefold() == "k.com", "\u212a.com"),
        (lambda host: not [] or host == "a.com", "evil.example"),
    ],
)
def test_a54_careless_checks_are_fooled_where_this_one_is_not(careless: object, host: str) -> None:
    """Each usual mistake lets its spelling pass: a prefix, a suffix, a part, a NUL, a dot, an empty list."""
    assert callable(careless)
    assert careless(host)
    assert not read_allowed(["a.com", "k.com"]).is_allowed(host, 443)


@given(host=HOSTISH, port=st.sampled_from([22, 80, 443, 8443]))
def test_only_an_equal_name_or_one_below_is_ever_allowed(host: str, port: int) -> None:
    """Whatever is allowed is, in its one spelling, an entry or has labels before one and a dot between."""
    entries = ("a.com", "*.w.example", "b.example:8443", "10.0.0.1")
    if not read_allowed(entries).is_allowed(host, port):
        return
    name = canonical(host)
    assert name is not None
    assert name == host.lower()
    exact = {"a.com": (80, 443), "b.example": (8443,), "10.0.0.1": (80, 443)}
    *below, last, top = name.split(".")
    is_below = bool(below) and (last, top) == ("w", "example") and port in (80, 443)
    assert is_below or port in exact.get(name, ())


@given(HOSTISH)
def test_one_spelling_is_the_only_one(host: str) -> None:
    """A canonical host is its own canonical form, in ASCII, and can be written into a request line."""
    name = canonical(host)
    if name is not None:
        assert canonical(name) == name
        assert name.isascii()
        assert not set(name) & set(" \t\r\n\0%@/\\?#")


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("a.com:443", Target("a.com", 443)),
        ("A.com:1", Target("a.com", 1)),
        ("[::1]:65535", Target("[::1]", 65535)),
        ("a.com", None),
        ("a.com:65536", None),
        ("", None),
        (":443", None),
    ],
)
def test_a_target_has_a_host_and_a_port(text: str, target: Target | None) -> None:
    """Both are needed, unless there is a default for the port."""
    assert read_target(text) == target
    assert read_target("a.com", 80) == Target("a.com", 80)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *(
            "100.100.100.200",
            "192.0.0.192",
            "168.63.129.16",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
        ),
        *(
            "198.18.0.1",
            "192.0.2.1",
            "::1",
            "::",
            "fe80::1",
            "fe80::1%lo",
            "fc00::1",
            "fd00:ec2::254",
            "ff0e::1",
        ),
        *("::ffff:93.184.216.34", "::ffff:a9fe:a9fe", "::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1"),
        *("2002:7f00:1::", "2002:5db8:d822::1", "2001:0:7f00:1::", "2001:db8::1", "fec0::1"),
        *("2606:2800:220:1::1%eth0", "", "a.com", "127.1", "2130706433"),
    ],
)
def test_an_address_that_is_not_public_is_known(address: str) -> None:
    """Own, private, link-local, shared, reserved, wrapped and multicast addresses are not public."""
    assert not is_public(address)
    assert not may_lead_to("a.com", address)


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946"])
def test_a_public_address_is_one(address: str) -> None:
    """A machine on the public network is where a name may lead."""
    assert may_lead_to("a.com", address)


def test_what_is_listed_by_its_address_leads_there_and_nowhere_else() -> None:
    """A listed address is itself; localhost is this machine."""
    assert may_lead_to("10.0.0.1", "10.0.0.1")
    assert may_lead_to("[fd00::1]", "fd00::1")
    assert not may_lead_to("10.0.0.1", "93.184.216.34")
    assert may_lead_to("localhost", "127.0.0.1")
    assert may_lead_to("localhost", "::1")
    assert not any(may_lead_to("localhost", other) for other in ("10.0.0.1", "93.184.216.34", "x"))
