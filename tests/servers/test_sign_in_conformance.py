"""Our connection and sign-in against the authorization servers that the MCP conformance suite brings."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "tests/node/node_modules/@modelcontextprotocol/conformance/dist/index.js"
NODE = Path(sys.executable).with_name("node")
COMMAND = Path(__file__).with_name("conformance_command.py")

# Each of the suite's suites runs its scenarios in one process.
SUITES = ("auth", "draft", "extensions", "backcompat")
SCENARIOS = (
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    "auth/2025-03-26-oauth-metadata-backcompat",
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
    "auth/authorization-server-migration",
    "auth/iss-supported",
    "auth/iss-not-advertised",
    "auth/iss-supported-missing",
    "auth/iss-wrong-issuer",
    "auth/iss-unexpected",
    "auth/iss-normalized",
    "auth/metadata-issuer-mismatch",
    "auth/client-credentials-basic",
    "auth/client-credentials-jwt",
)
LEFT_OUT = {
    "auth/dpop": "the SDK does not bind tokens to keys",
    "auth/dpop-nonce": "likewise",
    "auth/wif-jwt-bearer": "the SDK does not exchange workload identities",
    "auth/enterprise-managed-authorization": "an extension for companies' identity providers",
}


@dataclass(frozen=True)
class Verdict:
    """How a scenario was judged: as a whole, and the ids of its checks by status."""

    passed: bool
    checks: dict[str, list[str]]
    output: str


def run(suite: str, port: int, directory: Path) -> dict[str, Verdict]:
    command = f"{sys.executable} -S -E {COMMAND} {port}"
    options = ["--command", command, "--suite", suite, "--timeout", "120000", "-o", str(directory)]
    finished = subprocess.run(
        [NODE, SUITE, "client", *options], capture_output=True, text=True, timeout=240, check=False
    )
    output = finished.stdout + finished.stderr
    passed = set(re.findall(r"^✓ (\S+):", finished.stdout, re.MULTILINE))
    found = {}
    for report in directory.rglob("checks.json"):
        name = report.parent.relative_to(directory).as_posix()
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT[\dZ-]+$", "", name)  # when it was run
        found[scenario] = Verdict(scenario in passed, read_checks(report), output)
    return found


def read_checks(report: Path) -> dict[str, list[str]]:
    checks: dict[str, list[str]] = {}
    for check in json.loads(report.read_text(encoding="utf-8")):
        checks.setdefault(check["status"], []).append(check["id"])
    return checks


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where our client takes scenarios from the suite."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.servers.conformance_client"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as client:
        assert client.stdout is not None
        yield int(client.stdout.readline())
        assert client.stdin is not None
        client.stdin.close()


@pytest.fixture(scope="module")
def verdicts(port: int, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    """All scenarios, two suites at a time."""
    directories = [tmp_path_factory.mktemp("suite") for _ in SUITES]
    with ThreadPoolExecutor(2) as pool:
        judged = pool.map(run, SUITES, [port] * len(SUITES), directories)
        return {scenario: verdict for suite in judged for scenario, verdict in suite.items()}


@pytest.mark.requirement("L27")
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_signing_in_conforms(verdicts: dict[str, Verdict], scenario: str) -> None:
    verdict = verdicts[scenario]
    assert verdict.passed, verdict.output
    assert verdict.checks.get("SUCCESS"), verdict.output
    assert not verdict.checks.get("FAILURE"), verdict.output
    assert not verdict.checks.get("WARNING"), verdict.output


def test_every_scenario_of_the_suite_is_run_or_left_out_for_a_reason() -> None:
    listed = subprocess.run(
        [NODE, SUITE, "list", "--client"], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    known = {word for word in listed.split() if word.startswith("auth/")}
    assert known == {*SCENARIOS, *LEFT_OUT}
