"""What the conformance suite starts for a scenario: hands it over to `conformance_client` at a given port."""

import json
import os
import socket
import sys

with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60) as connection:
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    connection.sendall(json.dumps({"url": sys.argv[-1], "scenario": scenario, "context": context}).encode())
    problem = json.loads(connection.recv(1 << 20))["problem"]
sys.exit(problem)
