"""The description of the API without a hub: `python -m manyhands.api.description` prints OpenAPI as JSON.

The web UI is built against it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from manyhands.api.app import describe_app


def describe() -> dict[str, Any]:
    """OpenAPI of every public route."""
    return describe_app().openapi()


if __name__ == "__main__":
    json.dump(describe(), sys.stdout)
