// A plain listing of the OpenAPI description: nothing is loaded from elsewhere.
"use strict";

function el(tag, props, ...children) {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function operations(description) {
  const areas = new Map();
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const area = (operation.tags || ["other"])[0];
      if (!areas.has(area)) areas.set(area, []);
      areas.get(area).push({ path, method: method.toUpperCase(), ...operation });
    }
  }
  return areas;
}

function schemaOf(holder) {
  return Object.values((holder && holder.content) || {}).map((media) => media.schema).find(Boolean);
}

function inline(schema, description, depth = 0) {
  if (!schema || typeof schema !== "object") return schema;
  if (Array.isArray(schema)) return schema.map((part) => inline(part, description, depth));
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    return depth > 4 ? { $ref: name } : inline(description.components.schemas[name], description, depth + 1);
  }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, inline(value, description, depth)]));
}

function part(title, value) {
  return value ? el("div", {}, el("strong", { textContent: title }), el("pre", { textContent: JSON.stringify(value, null, 1) })) : null;
}

function show(operation, description) {
  const good = Object.entries(operation.responses || {}).find(([status]) => status.startsWith("2"));
  const parameters = (operation.parameters || []).map(({ name, in: place, required, schema, description }) => ({ name, in: place, required, description, ...schema }));
  return el("details", {},
    el("summary", {}, el("code", { textContent: `${operation.method} ${operation.path}` })),
    el("p", { textContent: operation.description || operation.summary || "" }),
    part("Parameters", parameters.length ? parameters : null),
    part("Body", inline(schemaOf(operation.requestBody), description)),
    part(`Answer ${good ? good[0] : ""}`, inline(schemaOf(good && good[1]), description)));
}

async function main() {
  const response = await fetch("/api/openapi.json");
  const description = await response.json();
  const sections = [...operations(description)].map(([area, found]) =>
    el("section", {}, el("h2", { textContent: area }), ...found.map((operation) => show(operation, description))));
  document.getElementById("areas").replaceChildren(el("p", { textContent: description.info.description || "" }), ...sections);
}

main().catch((error) => { document.getElementById("areas").textContent = error.message; });
