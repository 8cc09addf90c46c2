"""The native tools, put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from manyhands.guardian import Guardian
from manyhands.secrets import Redactor
from manyhands.settings import CurrentSettings
from manyhands.tools.native import (
    edit_file,
    fetch_url,
    files,
    read_file,
    read_image,
    run_command,
    search_files,
    web_search,
)
from manyhands.tools.native.definition import NativeTool, needs_directory, needs_nothing
from manyhands.tools.native.files import in_directory
from manyhands.tools.types import Effect


def native_tools(
    settings: CurrentSettings,
    read_page: read_file.PageReader,
    *,
    guardian: Guardian | None = None,
    redactor: Redactor | None = None,
    hidden: Sequence[str] = (),
    mounts_of: run_command.MountsOf = run_command.no_mounts,
) -> Mapping[str, NativeTool]:
    """By name, in the order in which they are listed. What only reads is allowed, all else asks.

    `redactor` takes secrets out of what is cut before it is a result. `hidden`: directories that a command in
    a sandbox does not see. `mounts_of`: what it sees besides, for a channel's directory.
    """
    allow, ask = Effect.ALLOW, Effect.ASK
    redactor = redactor or Redactor()
    searching = web_search.WebSearch(settings)
    # `read_file` needs no directory to read on in large results.
    tools = [
        NativeTool(
            read_file.DEFINITION,
            read_file.ReadFile(settings, read_page, redactor.hide_cut),
            allow,
            needs_nothing,
        ),
        NativeTool(files.WRITE_FILE, in_directory(files.write_file), ask, needs_directory),
        NativeTool(files.RENAME_FILE, in_directory(files.rename_file), ask, needs_directory),
        NativeTool(files.DELETE_FILE, in_directory(files.delete_file), ask, needs_directory),
        NativeTool(files.LIST_DIRECTORY, in_directory(files.list_directory), allow, needs_directory),
        NativeTool(files.CREATE_DIRECTORY, in_directory(files.create_directory), ask, needs_directory),
        NativeTool(fetch_url.DEFINITION, fetch_url.FetchUrl(settings), ask, needs_nothing),
        NativeTool(web_search.DEFINITION, searching, ask, searching.missing),
        NativeTool(read_image.DEFINITION, in_directory(read_image.read_image), allow, needs_directory),
        NativeTool(edit_file.DEFINITION, in_directory(edit_file.edit_file), ask, needs_directory),
        NativeTool(search_files.DEFINITION, search_files.SearchFiles(settings), allow, needs_directory),
        NativeTool(
            run_command.DEFINITION,
            run_command.RunCommand(settings, guardian, hidden, mounts_of=mounts_of, redactor=redactor),
            ask,
            needs_directory,
            timeout_ms=run_command.TIMEOUT_MS,
        ),
    ]
    return {tool.definition.name: tool for tool in tools}
