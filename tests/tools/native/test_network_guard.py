"""Which addresses may be fetched from: public ones, and those the person allowed."""

from __future__ import annotations

import ipaddress

import pytest

from manyhands.errors import ToolFault, ToolRefusal
from manyhands.tools.native.network_guard import is_allowed, is_public, resolve


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
)
def test_public_addresses(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0"),
        *("100.64.0.1", "192.0.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
        *("::1", "::", "fe80::1", "fe80::1%lo", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1", "fec0::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::"),
        *("2001::1", "64:ff9b:1::1", "192.88.99.1", "192.0.0.192", "3fff::1", "5f00::1", "100:0:0:1::1"),
    ],
)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    ("entry", "allowed"),
    [
        ("intra.example", True),
        ("*.example", True),
        ("INTRA.Example.", True),
        ("10.0.0.0/8", True),
        ("10.1.2.3", True),
        ("intra.example:8080", True),
        ("10.1.2.3:8080", True),
        ("intra.example:80", False),
        ("other.example", False),
        ("example", False),
        ("10.2.0.0/16", False),
        ("fd00::/8", False),
        ("", False),
        (" ", False),
    ],
)
def test_what_an_entry_of_the_list_allows(entry: str, allowed: bool) -> None:
    address = ipaddress.ip_address("10.1.2.3")
    assert is_allowed("intra.example", 8080, address, [entry]) is allowed


def test_addresses_of_version_6_in_the_list() -> None:
    address = ipaddress.ip_address("fd00::5")
    for entry in ("fd00::/8", "fd00::5", "[fd00::5]", "[fd00::5]:443"):
        assert is_allowed("x", 443, address, [entry])
    assert not is_allowed("x", 80, address, ["[fd00::5]:443"])


@pytest.mark.anyio
@pytest.mark.parametrize(
    "host",
    ["localhost", "127.0.0.1", "2130706433", "0177.0.0.1", "0x7f.1", "127.1", "::1", "::ffff:127.0.0.1", "0"],
)
async def test_every_way_to_write_this_machine_is_refused(host: str) -> None:
    with pytest.raises(ToolRefusal, match="private network"):
        await resolve(host, 80, ())


@pytest.mark.anyio
async def test_an_allowed_host_resolves_to_its_address() -> None:
    assert await resolve("127.0.0.1", 80, ["127.0.0.0/8"]) == "127.0.0.1"


@pytest.mark.anyio
@pytest.mark.parametrize("host", ["no-such-host.invalid", "a" * 300, "a..b", "\ud800"])
async def test_a_host_that_does_not_exist_is_a_clear_error(host: str) -> None:
    with pytest.raises(ToolFault):
        await resolve(host, 80, ())
