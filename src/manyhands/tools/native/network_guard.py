"""Which addresses the hub fetches from: public ones, and those that the person allowed.

A name is resolved once, its addresses are judged, and the request goes to the judged address: a name that
answers differently the second time gains nothing. What a URL looks like (decimal, octal, mapped) does not
matter, because only resolved addresses are judged.
"""

from __future__ import annotations

import fnmatch
import ipaddress
import socket
from collections.abc import Sequence

import anyio

from manyhands.errors import ToolFault, ToolRefusal

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Addresses that some Python counts as global and that lead elsewhere than to a public host: translated,
# site-local, tunnelled and protocol assignments (where some clouds answer with credentials), for documents.
_ELSEWHERE = """
    192.0.0.0/24 192.88.99.0/24
    64:ff9b:1::/48 100:0:0:1::/64 2001::/23 3fff::/20 5f00::/16 fec0::/10
"""
_NEVER = tuple(map(ipaddress.ip_network, _ELSEWHERE.split()))


def is_public(address: Address) -> bool:
    """Whether it is an ordinary host of the internet; an address that wraps another is judged by that one."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = _wrapped(address)
        if inner is not None:
            return is_public(inner)
    if any(address in network for network in _NEVER if network.version == address.version):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _wrapped(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    compatible = int(address) >> 32 == 0 and int(address) > 1
    if address in _NAT64 or compatible:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def is_allowed(host: str, port: int, address: Address, allow: Sequence[str]) -> bool:
    """Whether the person's list names it: `host`, `*.host`, an address, a network, each also with `:port`."""
    return any(_entry_matches(entry.strip().lower(), host.lower(), port, address) for entry in allow)


def _entry_matches(entry: str, host: str, port: int, address: Address) -> bool:
    entry, wanted_port = _split_port(entry)
    if not entry or (wanted_port is not None and wanted_port != port):
        return False
    try:
        network = ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return fnmatch.fnmatchcase(host.rstrip("."), entry.rstrip("."))
    return address.version == network.version and address in network


def _split_port(entry: str) -> tuple[str, int | None]:
    head, colon, tail = entry.rpartition(":")
    if colon and tail.isdigit() and (":" not in head or head.endswith("]")):
        return head, int(tail)
    return entry, None


async def resolve(host: str, port: int, allow: Sequence[str]) -> str:
    """The address to connect to, or a refusal."""
    try:
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ToolFault(f"The host {host!r} was not found.", hint="Check the address.") from error
    except UnicodeError:
        raise ToolFault(f"{host!r} is not a host name.", hint="Check the address.") from None
    addresses = [ipaddress.ip_address(entry[4][0]) for entry in found]
    for address in addresses:
        if is_public(address) or is_allowed(host, port, address, allow):
            return str(address)
    raise ToolRefusal(
        f"{host!r} is in a private network, where fetch_url does not go.",
        hint="A person can allow it with the setting fetch_allow.",
    )
