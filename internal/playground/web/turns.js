// Turns made out of their events: the kept ones of a snapshot and the live ones go the same way.

export class Turns {
  constructor() {
    this.list = []; // oldest first
    this.decisions = []; // about messages that became no turn
  }

  reset(turns, decisions) {
    this.list = [];
    this.decisions = [];
    for (const d of decisions) this.take(d);
    for (const t of turns) {
      for (const e of t.events) this.take(e);
      const made = this.find(t.id);
      if (made) made.cut = Boolean(t.cut);
    }
  }

  find(id) { return this.list.find((t) => t.id === id); }

  // about finds the turn that a message started or answers.
  about(m) {
    return this.list.findLast((t) => t.message === m.id || (m.reply_to && t.message === m.reply_to.id));
  }

  decisionAbout(m) { return this.decisions.findLast((d) => d.message_id === m.id); }

  take(e) {
    if (!e.turn_id) {
      if (e.text === "ignore:self") return undefined; // The bot's own messages; that goes without saying.
      this.decisions.push(e);
      if (this.decisions.length > 60) this.decisions.shift();
      return undefined;
    }
    let t = this.find(e.turn_id);
    if (!t) {
      t = newTurn(e);
      this.list.push(t);
      if (this.list.length > 60) this.list.shift();
    }
    apply(t, e);
    return t;
  }
}

function newTurn(e) {
  return {
    id: e.turn_id, channel: e.channel_id, guild: e.guild_id, message: e.message_id, owner: e.owner_id,
    status: "queued", reason: "", model: "", provider: "", queuedAt: e.at, startedAt: "", endedAt: "",
    iterations: [], calls: new Map(), notices: [], cut: false,
  };
}

function iteration(t, n) {
  const i = n || 0;
  while (t.iterations.length <= i) t.iterations.push({ n: t.iterations.length, items: [], usage: null });
  return t.iterations[i];
}

// piece joins text to what came just before it in the same iteration.
function piece(t, e, kind) {
  const items = iteration(t, e.iteration).items;
  const last = items[items.length - 1];
  if (last && last.kind === kind) last.text += e.text || "";
  else items.push({ kind, text: e.text || "" });
}

function call(t, c, e) {
  let known = t.calls.get(c.key);
  if (!known) {
    known = { kind: "call", key: c.key, tool: c.tool, arguments: "", status: "running", reason: "", result: "", took: 0, card: false, at: e.at };
    t.calls.set(c.key, known);
    iteration(t, c.iteration).items.push(known);
  }
  known.status = c.status || known.status;
  known.reason = c.reason || "";
  if (c.arguments) known.arguments = c.arguments;
  if (c.result) known.result = c.result;
  if (c.duration_ns) known.took = c.duration_ns / 1e6;
  if (c.card) known.card = true;
}

function apply(t, e) {
  t.message ||= e.message_id;
  t.owner ||= e.owner_id;
  if (e.model) t.model = e.model;
  if (e.provider) t.provider = e.provider;
  switch (e.kind) {
    case "admission":
      t.reason = e.text;
      break;
    case "started":
      t.status = "running";
      t.startedAt = e.at;
      break;
    case "delta":
      piece(t, e, "text");
      break;
    case "thinking":
      piece(t, e, "thinking");
      break;
    case "usage":
      iteration(t, e.iteration).usage = e.usage;
      break;
    case "tool_call":
    case "tool_result":
      if (e.call) call(t, e.call, e);
      break;
    case "context_added":
      iteration(t, e.iteration).items.push({ kind: "context", text: e.text || "" });
      break;
    case "hidden_notice":
      t.notices.push(e.text);
      break;
    case "done":
      t.status = e.status || "completed";
      t.done = e.done;
      t.endedAt = e.at;
      break;
  }
}

export function usageOf(t) {
  const sum = { input: 0, output: 0, cached: 0, known: false };
  for (const i of t.iterations) {
    if (!i.usage) continue;
    sum.known = true;
    sum.input += i.usage.input_tokens || 0;
    sum.output += i.usage.output_tokens || 0;
    sum.cached += i.usage.cache_read_tokens || 0;
  }
  return sum;
}

export const isOpen = (t) => t.status === "running" || t.status === "queued";
