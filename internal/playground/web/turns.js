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

  // windows are the affordance windows of a turn's channel: for how many turns each tool was still offered before the
  // turn (counting it), and is after it. "?" stands for a window opened before the oldest kept turn.
  windows(turn) {
    const left = new Map();
    for (const t of this.list) {
      if (t.channel !== turn.channel || !t.plan) continue;
      const before = new Map();
      for (const tool of t.plan.windows || []) before.set(tool, left.get(tool) ?? "?");
      for (const [tool, n] of left) {
        // A turn that takes over from an interrupted one is not counted again.
        if (n === "?" || t.reason.endsWith(":follow_up")) continue;
        if (n <= 1) left.delete(tool);
        else left.set(tool, n - 1);
      }
      for (const c of t.calls.values()) if (c.window) left.set(c.tool, c.window);
      if (t !== turn) continue;
      const rows = [];
      for (const tool of new Set([...before.keys(), ...left.keys()])) {
        const after = left.get(tool) ?? (before.get(tool) === "?" ? "?" : 0);
        rows.push({ tool, before: before.get(tool) ?? 0, after });
      }
      return rows.sort((a, b) => (a.tool < b.tool ? -1 : 1));
    }
    return [];
  }
}

function newTurn(e) {
  return {
    id: e.turn_id, channel: e.channel_id, guild: e.guild_id, message: e.message_id, owner: e.owner_id,
    status: "queued", reason: "", model: "", provider: "", queuedAt: e.at, startedAt: "", endedAt: "", error: "", stopWord: "",
    iterations: [], calls: new Map(), notices: [], attempts: [], plan: null, cut: false,
  };
}

function iteration(t, e) {
  const i = e.iteration || 0;
  while (t.iterations.length <= i) {
    t.iterations.push({ n: t.iterations.length, items: [], usage: null, finish: "", model: t.model, at: e.at });
  }
  return t.iterations[i];
}

// piece joins text to what came just before it in the same iteration.
function piece(t, e, kind) {
  const items = iteration(t, e).items;
  const last = items[items.length - 1];
  if (last && last.kind === kind) last.text += e.text || "";
  else items.push({ kind, text: e.text || "" });
}

function call(t, c, e) {
  let known = t.calls.get(c.key);
  if (!known) {
    known = {
      kind: "call", key: c.key, tool: c.tool, arguments: "", status: "running", reason: "", result: "", took: 0, card: false, at: e.at,
      gates: [], approval: null, window: 0, readOnly: false,
    };
    t.calls.set(c.key, known);
    iteration(t, { iteration: c.iteration, at: e.at }).items.push(known);
  }
  known.status = c.status || known.status;
  known.reason = c.reason || "";
  if (c.arguments) known.arguments = c.arguments;
  if (c.result) known.result = c.result;
  if (c.duration_ns) known.took = c.duration_ns / 1e6;
  if (c.card) known.card = true;
  if (c.gates) known.gates = c.gates;
  if (c.approval) known.approval = c.approval;
  if (c.window) known.window = c.window;
  if (c.read_only) known.readOnly = true;
}

function admission(t, e) {
  if ((e.text || "").startsWith("stop:")) t.stopWord = e.message_id; // the owner said stop; the turn's own admission stays
  else t.reason = e.text || "";
}

function apply(t, e) {
  t.message ||= e.message_id;
  t.owner ||= e.owner_id;
  if (e.model) t.model = e.model;
  if (e.provider) t.provider = e.provider;
  switch (e.kind) {
    case "admission":
      admission(t, e);
      break;
    case "started":
      t.status = "running";
      t.startedAt = e.at;
      break;
    case "planned":
      t.plan = e.plan || {};
      break;
    case "attempt":
      t.attempts.push({ model: e.model || "", provider: e.provider || "", after: e.text || "", iteration: e.iteration || 0 });
      break;
    case "delta":
      piece(t, e, "text");
      break;
    case "thinking":
      piece(t, e, "thinking");
      break;
    case "usage": {
      const i = iteration(t, e);
      i.usage = e.usage || null;
      i.finish = e.finish || "";
      i.model = e.model || i.model;
      i.endedAt = e.at;
      break;
    }
    case "tool_call":
    case "tool_result":
      if (e.call) call(t, e.call, e);
      break;
    case "context_added":
      iteration(t, e).items.push({ kind: "context", text: e.text || "" });
      break;
    case "hidden_notice":
      t.notices.push(e.text);
      break;
    case "done":
      t.status = e.status || "completed";
      t.done = e.done;
      t.error = e.error || "";
      t.endedAt = e.at;
      break;
  }
}

export function usageOf(t) {
  const sum = { input: 0, output: 0, cached: 0, nanos: 0, unpriced: false, known: false };
  for (const { usage } of t.iterations) {
    if (!usage) continue;
    sum.known = true;
    sum.input += usage.input_tokens || 0;
    sum.output += usage.output_tokens || 0;
    sum.cached += usage.cache_read_tokens || 0;
    sum.nanos += usage.cost_nanos || 0;
    sum.unpriced ||= Boolean(usage.unpriced);
  }
  return sum;
}

// price is a cost in billionths of a dollar as people read it; empty where none is told.
export function price(nanos, unpriced) {
  if (!nanos) return "";
  const dollars = nanos / 1e9;
  return `${unpriced ? "at least " : ""}$${dollars < 0.01 ? dollars.toPrecision(2) : dollars.toFixed(3)}`;
}

export const isOpen = (t) => t.status === "running" || t.status === "queued";
