"""MCP over streamable HTTP, for both eras of the protocol: `/mcp`, and `/mcp/{project}` to be at home in a project.

Nothing is kept between requests, so a connection survives a restart of the daemon. Our errors are results with the
fix, because a model can act on them. The header `Recollect-Folder` names the folder the assistant works in; tools are
chosen by `?tools=core,reference` or the header `Recollect-Tools`, and all can be called, listed or not.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote

import anyio.to_thread
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from .. import __version__
from ..agents.access import Caller
from ..agents.home import FOLDER, at_home
from ..engine import Engine
from ..errors import BadInput, RecollectError
from ..nouns import wire
from ..ops import advice
from ..ops.operation import Operation
from ..ops.parameters import read_file
from . import prompts, resources, tools
from .tenants import Tenants
from .tools import Batch

Context = ServerRequestContext[Any, Request]
TOOLS = "recollect-tools"
SOME_MINUTES = CacheHint(ttl_ms=5 * 60_000, scope="private")
AT_ONCE = CacheHint(ttl_ms=0, scope="private")

_TEXTS = read_file("serve", "mcp.toml")["instructions"]
INSTRUCTIONS, ELSEWISE = _TEXTS["core"], _TEXTS["others"]


class Endpoint:
    """The MCP server of one application."""

    def __init__(self, tenants: Tenants, caller_of: Callable[[Request], Caller]) -> None:
        self._tenants = tenants
        self._caller_of = caller_of
        self._own, self._others = self._server(INSTRUCTIONS), self._server(ELSEWISE)

    def _server(self, instructions: str) -> StreamableHTTPSessionManager:
        server: Server[dict[str, Any]] = Server(
            "recollect", version=__version__, title="Recollect", instructions=instructions,
            description="Long-term memory for assistants that write code.",
            cache_hints={
                "tools/list": SOME_MINUTES, "prompts/list": SOME_MINUTES, "resources/list": SOME_MINUTES,
                "resources/templates/list": SOME_MINUTES, "server/discover": SOME_MINUTES, "resources/read": AT_ONCE,
            },
            # No tool has parameters that travel in headers, so there is nothing to look up before a call.
            get_tool_input_schema=lambda name: None,
            on_list_tools=self._list_tools, on_call_tool=self._call_tool,
            on_list_resources=self._list_resources, on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource, on_list_prompts=self._list_prompts, on_get_prompt=self._get_prompt,
        )  # fmt: skip
        most = self._tenants.settings.request_limit  # which the gate has looked at already, and says more clearly
        return StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=most)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """What must be running while requests are served."""
        async with self._own.run(), self._others.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        own = tools.own(_chosen(Request(scope)))
        await (self._own if own else self._others).handle_request(scope, receive, send)

    def _enter(self, context: Context) -> tuple[Engine, Caller]:
        request = _request(context)
        caller = self._caller_of(request).for_model()
        caller = at_home(caller, unquote(request.headers.get(FOLDER, "")), request.path_params.get("project", ""))
        engine = self._tenants.engine(caller)
        return engine, engine.agents.enter(caller)

    async def _answered(self, context: Context, work: Callable[[Engine, Caller], Any], **told: str) -> Any:
        """Run some work for whoever asks, in a thread; our errors are errors of the protocol, with what is `told`."""

        def act() -> Any:
            engine, caller = self._enter(context)
            caller.able("memory_read", "Reading")
            return work(engine, caller)

        try:
            return await anyio.to_thread.run_sync(act)
        except RecollectError as error:
            raise _failed(error, **told) from error

    async def _list_tools(self, context: Context, params: Any) -> types.ListToolsResult:
        request = _request(context)
        try:
            chosen = tools.listed(_chosen(request))
        except BadInput as error:
            raise _failed(error) from error
        return types.ListToolsResult(tools=[_shown(tool) for tool in chosen])

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tools.TOOLS.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name:.100}")
        given = params.arguments or {}
        try:
            if tool is tools.BATCH:
                return await self._call_batch(context, given)
            return await anyio.to_thread.run_sync(lambda: _called(tool, *self._enter(context), given))
        except RecollectError as error:
            return _told(f"{advice.for_model(error)} [{error.code}]", failed=True)

    async def _call_batch(self, context: Context, given: dict[str, Any]) -> types.CallToolResult:
        """Call by call, so that a client hears how far it is and can stop it between two."""
        engine, caller = await anyio.to_thread.run_sync(lambda: self._enter(context))
        batch = Batch(engine, caller, given)
        calls = iter(batch)
        while done := await anyio.to_thread.run_sync(lambda: next(calls, None)):
            await context.session.report_progress(done.number + 1, len(batch.calls), done.tool)
        return _told(batch.text(), failed=batch.failed)

    async def _list_resources(self, context: Context, params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=one.uri, name=one.name, title=one.title, description=one.description, mime_type="text/plain"
                )
                for one in resources.RESOURCES
            ]
        )

    async def _list_templates(self, context: Context, params: Any) -> types.ListResourceTemplatesResult:
        item = types.ResourceTemplate(
            uri_template=f"{resources.ITEM}{{id}}", name="item", title="A memory", description="One memory, as JSON.",
            mime_type="application/json",
        )  # fmt: skip
        return types.ListResourceTemplatesResult(resource_templates=[item])

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        text, kind = await self._answered(context, lambda engine, caller: resources.read(engine, caller, uri), uri=uri)
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=kind, text=text)])

    async def _list_prompts(self, context: Context, params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=one.name, title=one.title, description=one.description,
                    arguments=[
                        types.PromptArgument(name=name, description=meaning, required=not one.optional(name))
                        for name, meaning in one.arguments.items()
                    ],
                )
                for one in prompts.PROMPTS.values()
            ]
        )  # fmt: skip

    async def _get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        given = params.arguments or {}
        prompt, text = await self._answered(
            context, lambda engine, caller: prompts.get(engine, caller, params.name, given)
        )
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])


def _failed(error: RecollectError, **told: str) -> MCPError:
    """An error of ours as one of the protocol."""
    data = {**error.as_dict(), "fix": advice.fix(error.fix), **told}
    return MCPError(types.INVALID_PARAMS, advice.for_model(error), data)


def _request(context: Context) -> Request:
    if context.request is None:
        raise RuntimeError("MCP is served over HTTP only")
    context.request.state.operation = "mcp"  # for the metrics
    return context.request


def _chosen(request: Request) -> str:
    """The profiles that are asked for."""
    return request.query_params.get("tools") or request.headers.get(TOOLS, "")


def _called(tool: Operation, engine: Engine, caller: Caller, given: dict[str, Any]) -> types.CallToolResult:
    result = tool.call(engine, caller, given, loose=True)
    return _told(tool.text(result), wire(result) if tool.output else None)


def _told(text: str, structured: Any = None, *, failed: bool = False) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=text)], structured_content=structured, is_error=failed
    )  # fmt: skip


def _shown(tool: Operation) -> types.Tool:
    return types.Tool(
        name=tool.mcp, title=tool.title, description=tool.about, input_schema=tool.schema(rare=False),
        output_schema=tool.output_schema(),
        annotations=types.ToolAnnotations(
            title=tool.title, read_only_hint=tool.read_only, destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent, open_world_hint=False,
        ),
    )  # fmt: skip
