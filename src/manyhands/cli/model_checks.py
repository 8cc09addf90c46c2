"""What `manyhands doctor` asks the hub about models: each is asked for one word."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from manyhands.cli.checks import Finding
from manyhands.cli.client import Api, Json, pages, segment
from manyhands.cli.models import TEST_TIMEOUT_S
from manyhands.cli.output import human_duration
from manyhands.cli.progress import Progress
from manyhands.errors import ManyhandsError


def check_models(api: Api, progress: Progress) -> Iterator[Finding]:
    """Each model, and a word of what to do when there is none but the demo."""
    models = pages(api, "/models")
    if all(model["provider"] == "demo" for model in models):
        fix = "put OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY into the environment, start Ollama, or"
        yield Finding("models", "note", "only the demo", f"{fix} `manyhands models add`")
    for model in models:
        progress.title(f"asking {model['id']}")
        yield _check_model(api, model)


def _check_model(api: Api, model: Json) -> Finding:
    name = model["id"]
    try:
        trial = api.request("POST", f"/models/{segment(model['id'])}/test", {}, timeout=TEST_TIMEOUT_S)
    except ManyhandsError as error:
        return Finding(name, "broken", error.message, error.hint or "")
    if not trial["ok"]:
        fix = f"manyhands models test {quote(name)}"
        return Finding(name, "broken", trial.get("error") or "does not answer", fix)
    return Finding(name, "ok", f"answers in {human_duration((trial['latency_ms'] or 0) / 1000)}")
