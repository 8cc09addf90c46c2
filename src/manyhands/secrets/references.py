"""References inside texts: `${VAR}`, `${VAR:-default}`, `${keyring:NAME}`.

Pure: what they stand for is passed in. `${env:VAR}`, as other clients write it, means `${VAR}`; `$${` stands
for a literal `${`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from manyhands.errors import InvalidError

_REFERENCE = re.compile(
    r"\$\$(?=\{)"
    r"|\$\{keyring:(?P<secret>[^{}]*)\}"
    r"|\$\{(?:env:)?(?P<variable>[A-Za-z_][A-Za-z0-9_()]*)(?::-(?P<default>[^{}]*))?\}"
    r"|\$\{input:(?P<input>[^{}]*)\}"
)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/@-]{0,199}")


def reference_to(name: str) -> str:
    """How a text refers to the stored secret of that name."""
    return f"${{keyring:{checked_name(name)}}}"


def checked_name(name: str) -> str:
    """The name, if a secret may be called that."""
    if not _NAME.fullmatch(name):
        raise InvalidError(
            f"{name!r} cannot be the name of a secret.",
            hint="Use letters, digits and _ . : / @ -, at most 200 of them.",
        )
    return name


def has_reference(text: str) -> bool:
    """Whether something in this text stands for something else."""
    return any(match.lastgroup is not None for match in _REFERENCE.finditer(text))


def expand(text: str, variable: Callable[[str, str | None], str], secret: Callable[[str], str]) -> str:
    """The text with every reference replaced; what was put in is not looked at again."""

    def replace(match: re.Match[str]) -> str:
        if (name := match["secret"]) is not None:
            return secret(checked_name(name))
        if (name := match["variable"]) is not None:
            return variable(name, match["default"])
        if match["input"] is not None:
            raise InvalidError(
                f"{match[0]} asks for an input, which only the client that wrote it can give.",
                hint="Write the value itself, ${VAR} or ${keyring:NAME} instead.",
            )
        return "$"

    return _REFERENCE.sub(replace, text)
