// The built-in page: what is connected, what waits, what was called. It follows the events and never polls.
"use strict";

const $ = (id) => document.getElementById(id);
const STYLES = { connected: "good", success: "good", connecting: "warn", needs_auth: "warn", pending: "warn", error: "bad", timeout: "bad", denied: "bad" };
let lastSeq = null;
let tools = [];

function el(tag, props, ...children) {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const tag = (text) => el("span", { className: `tag ${STYLES[text] || ""}`, textContent: text.replace("_", " ") });

async function api(method, path, body) {
  const response = await fetch(`/api${path}`, {
    method,
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer = response.status === 204 ? null : await response.json();
  if (!response.ok) throw new Error([answer.detail, answer.hint].filter(Boolean).join(" "));
  return answer;
}

function notice(text) {
  $("notice").textContent = text;
  $("notice").hidden = !text;
}

async function act(button, work) {
  button.disabled = true;
  try {
    notice("");
    await work();
  } catch (error) {
    notice(error.message);
  } finally {
    button.disabled = false;
  }
}

function button(label, work, main) {
  const made = el("button", { textContent: label, className: main ? "main" : "" });
  made.addEventListener("click", () => act(made, work));
  return made;
}

async function showServers() {
  const { items } = await api("GET", "/servers?limit=500");
  $("servers").replaceChildren(...items.map(serverCard));
  if (!items.length) {
    $("servers").replaceChildren(
      el("p", { className: "quiet" }, "No servers yet. Try ", el("code", { textContent: "manyhands servers add time --trust trusted -- uvx mcp-server-time" })));
  }
}

function serverCard(server) {
  const facts = [server.transport, `${server.tool_count} tools`, server.version && `version ${server.version}`, server.project];
  const trouble = server.error || server.problem;
  return el("article", { className: "card" },
    el("div", { className: "head" }, el("strong", { textContent: server.name }), tag(server.status)),
    el("p", { className: "quiet", textContent: facts.filter(Boolean).join(" · ") }),
    trouble ? el("p", { className: "bad-text", textContent: trouble }) : null,
    el("div", { className: "actions" }, ...serverActions(server)));
}

function serverActions(server) {
  const post = (action) => () => api("POST", `/servers/${server.id}/${action}?wait=false`);
  if (server.status === "disabled") return [button("Enable", post("enable"))];
  if (server.status === "needs_auth") return [button("Sign in", () => signIn(server), true)];
  if (server.status === "connected" || server.status === "connecting") return [button("Reconnect", post("reconnect")), button("Disconnect", post("disconnect"))];
  return [button("Connect", post("connect"))];
}

async function signIn(server) {
  const start = await api("POST", `/servers/${server.id}/login`);
  if (/^https?:/.test(start.url)) window.open(start.url, "_blank", "noopener");
}

async function showApprovals() {
  const { items } = await api("GET", "/approvals?state=pending&limit=100");
  $("approvals-section").hidden = !items.length;
  $("approvals").replaceChildren(...items.map(approvalCard));
}

function approvalCard(approval) {
  const answer = (decision, scope) => () => api("POST", `/approvals/${approval.id}`, { decision, scope });
  const isTool = approval.kind === "tool";
  const needsForm = approval.kind === "elicitation" && !approval.detail.url;
  const yes = needsForm ? [] : [button(isTool ? "Allow once" : "Approve", answer("approve", "once"), true)];
  if (isTool) yes.push(button("This session", answer("approve", "session")), button("Always this tool", answer("approve", "tool")));
  return el("article", { className: "card" },
    el("div", { className: "head" }, el("strong", { textContent: approval.title }), tag(approval.kind)),
    el("pre", { textContent: JSON.stringify(approval.detail, null, 1) }),
    needsForm ? el("p", { className: "quiet" }, "Fill in the form with ", el("code", { textContent: "manyhands approvals answer" })) : null,
    el("div", { className: "actions" }, ...yes, button("Reject", answer("reject", "once"))));
}

async function showTools() {
  const found = [];
  for (let cursor = ""; cursor !== null && found.length < 2000;) {
    const page = await api("GET", `/tools?limit=500${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    found.push(...page.items);
    cursor = page.next_cursor;
  }
  tools = found;
  listTools();
}

function listTools() {
  const wanted = $("tool-filter").value.toLowerCase();
  const shown = tools.filter((tool) => `${tool.fullName} ${tool.description}`.toLowerCase().includes(wanted));
  $("tool-count").textContent = `${tools.filter((tool) => tool.offered).length} offered of ${tools.length}`;
  $("tools").replaceChildren(...shown.slice(0, 100).map((tool) => el("li", { title: tool.reason },
    el("code", { textContent: tool.fullName }),
    el("span", { className: "grow quiet", textContent: tool.description }),
    tool.offered ? null : el("span", { className: "tag", textContent: "not offered" }))));
}

async function showCalls() {
  const { items } = await api("GET", "/tool-calls?limit=15");
  $("calls").replaceChildren(...items.map((call) => el("li", { title: call.at },
    el("code", { textContent: call.server === "native" ? call.tool : `${call.server} / ${call.tool}` }),
    el("span", { className: "grow quiet", textContent: call.error || call.result || "" }),
    el("span", { className: "quiet", textContent: call.duration_ms === null ? "" : `${call.duration_ms} ms` }),
    tag(call.status))));
}

async function showFacts() {
  const status = await api("GET", "/status");
  $("facts").textContent = `Version ${status.version} · ${status.home}`;
}

// One pending refresh an area, however many events come.
const waiting = new Set();
function refresh(show) {
  if (waiting.has(show)) return;
  waiting.add(show);
  setTimeout(() => {
    waiting.delete(show);
    show().catch((error) => notice(error.message));
  }, 150);
}

const ALL = [showServers, showApprovals, showTools, showCalls, showFacts];
function follow(type) {
  if (type === "gap") ALL.forEach(refresh);
  if (type.startsWith("mcp.") && type !== "mcp.log") refresh(showServers);
  if (type === "mcp.tools_changed" || type === "mcp.status" || type.startsWith("rule.")) refresh(showTools);
  if (type.startsWith("approval.")) refresh(showApprovals);
  if (type === "tool.started" || type === "tool.finished") refresh(showCalls);
}

function listen(pause) {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${location.host}/api/ws${lastSeq === null ? "" : `?since=${lastSeq}`}`);
  socket.addEventListener("open", () => {
    pause = 500;
    live("live", "good");
    if (lastSeq === null) ALL.forEach(refresh);
  });
  socket.addEventListener("message", (message) => {
    const event = JSON.parse(message.data);
    lastSeq = event.seq;
    follow(event.type);
  });
  socket.addEventListener("close", () => {
    live("not connected", "bad");
    setTimeout(() => listen(Math.min(pause * 2, 10000)), pause);
  });
}

function live(text, style) {
  $("live").textContent = text;
  $("live").className = `tag ${style}`;
}

$("tool-filter").addEventListener("input", listTools);
listen(500);
