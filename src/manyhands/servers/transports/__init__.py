"""How bytes reach a server and come back: stdio, streamable HTTP, SSE. Import the modules by name."""
