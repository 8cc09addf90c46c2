"""Tools as well-known servers define them, in short, and requests that mean one of them."""

from __future__ import annotations

from manyhands.tools.types import ToolDefinition

TOOLS: dict[str, dict[str, tuple[str, str]]] = {
    "filesystem": {
        "read_text_file": (
            "Read the complete contents of a file from the file system as text.",
            "path head tail",
        ),
        "read_media_file": ("Read an image or audio file. Returns base64 data and MIME type.", "path"),
        "read_multiple_files": ("Read the contents of multiple files simultaneously.", "paths"),
        "write_file": ("Create a new file or completely overwrite an existing file.", "path content"),
        "edit_file": ("Make line-based edits to a text file. Returns a git-style diff.", "path edits dryRun"),
        "create_directory": ("Create a new directory or ensure a directory exists.", "path"),
        "list_directory": ("Get a detailed listing of all files and directories in a path.", "path"),
        "directory_tree": ("Get a recursive tree view of files and directories as JSON.", "path"),
        "move_file": ("Move or rename files and directories.", "source destination"),
        "search_files": ("Recursively search for files and directories matching a pattern.", "path pattern"),
        "get_file_info": ("Retrieve metadata about a file: size, times, permissions.", "path"),
    },
    "git": {
        "git_status": ("Shows the working tree status", "repo_path"),
        "git_diff_staged": ("Shows changes that are staged for commit", "repo_path"),
        "git_commit": ("Records changes to the repository", "repo_path message"),
        "git_log": ("Shows the commit logs", "repo_path max_count"),
        "git_create_branch": ("Creates a new branch from an optional base branch", "branch_name base_branch"),
        "git_checkout": ("Switches branches", "repo_path branch_name"),
        "git_add": ("Adds file contents to the staging area", "repo_path files"),
    },
    "github": {
        "create_issue": ("Create a new issue in a GitHub repository", "owner repo title body labels"),
        "listIssues": ("List issues in a repository with filtering options", "owner repo state since"),
        "add_issue_comment": ("Add a comment to an existing issue", "issue_number body"),
        "create_pull_request": ("Create a new pull request", "title head base body"),
        "merge_pull_request": ("Merge a pull request", "pull_number merge_method"),
        "search_code": ("Search for code across GitHub repositories", "q sort order"),
        "fork_repository": ("Fork a repository to your account", "owner repo organization"),
    },
    "time": {
        "get_current_time": ("Get current time in a specific timezone", "timezone"),
        "convert_time": ("Convert time between timezones", "source_timezone time target_timezone"),
    },
    "memory": {
        "create_entities": ("Create multiple new entities in the knowledge graph", "entities"),
        "delete_relations": ("Delete multiple relations from the knowledge graph", "relations"),
        "search_nodes": ("Search for nodes in the knowledge graph based on a query", "query"),
    },
    "slack": {
        "slack_post_message": ("Post a new message to a Slack channel", "channel_id text"),
        "slack_list_channels": ("List public channels in the workspace with pagination", "limit cursor"),
        "slack_add_reaction": ("Add a reaction emoji to a message", "channel_id timestamp reaction"),
        "slack_get_users": ("Get a list of all users in the workspace", "cursor limit"),
    },
    "postgres": {
        "query": ("Run a read-only SQL query", "sql"),
        "describe_table": ("Show the columns and types of a table", "table_name"),
    },
    "browser": {
        "navigate": ("Navigate to a URL", "url"),
        "takeScreenshot": ("Take a screenshot of the current page or an element", "name selector"),
        "click": ("Click an element on the page", "selector"),
        "fill": ("Fill out an input field", "selector value"),
    },
    "fetch": {"fetch": ("Fetches a URL from the internet and extracts its contents as markdown.", "url raw")},
    "mail": {
        "send_email": ("Send an email to one or more recipients", "to subject body"),
        "search_inbox": ("Find messages in the mailbox", "query"),
    },
}

REQUESTS: dict[str, str] = {
    "what time is it in Tokyo": "get_current_time",
    "convert 3pm Berlin to New York time": "convert_time",
    "open a bug ticket on GitHub": "create_issue",
    "show all open issues of the repo": "listIssues",
    "reply to an issue": "add_issue_comment",
    "make a pull request": "create_pull_request",
    "merge the PR": "merge_pull_request",
    "rename a file": "move_file",
    "which files are in this folder": "list_directory",
    "find files by pattern": "search_files",
    "make a new folder": "create_directory",
    "show me a tree of the directory": "directory_tree",
    "how big is this file": "get_file_info",
    "commit my changes": "git_commit",
    "git history": "git_log",
    "switch to another branch": "git_checkout",
    "start a new branch": "git_create_branch",
    "stage files": "git_add",
    "post to a slack channel": "slack_post_message",
    "react with an emoji": "slack_add_reaction",
    "list the people in the workspace": "slack_get_users",
    "run an SQL query": "query",
    "columns of a table": "describe_table",
    "take a picture of the web page": "takeScreenshot",
    "press a button on the page": "click",
    "download a web page as markdown": "fetch",
    "write an email": "send_email",
    "save text to a file": "write_file",
    "read several files at once": "read_multiple_files",
    "look something up in the knowledge graph": "search_nodes",
    "search code": "search_code",
    "getCurrentTime": "get_current_time",
    "mcp__mail__send_email": "send_email",
}


def sample() -> list[ToolDefinition]:
    """The tools as definitions."""
    return [
        ToolDefinition(
            f"mcp__{server}__{name}",
            name,
            description,
            {"type": "object", "properties": {parameter: {} for parameter in parameters.split()}},
            server=server,
            server_id=number,
        )
        for number, (server, tools) in enumerate(TOOLS.items(), 1)
        for name, (description, parameters) in tools.items()
    ]
