// What this page knows, and who wants to hear of changes. Everything comes from the server's stream.

import { Turns } from "./turns.js";

export const state = {
  me: "", bot: "", connected: false, online: false, model: "", offline: false, data: "", guild: "", guildID: "",
  users: {}, roles: {}, people: [], channels: [], current: "",
  messages: new Map(), // channel -> the part of it that this page holds, oldest first
  more: new Map(), // channel -> whether there are older ones than these
  newer: new Map(), // channel -> how many newer ones came that are not held; absent when the part reaches the end
  typing: new Map(), // channel -> user -> until when
  unread: new Map(), // channel -> {count, ping, first}
  newFrom: "", // the first message of the current channel that was new when it was opened
  atEnd: true, // the newest message of the current channel is on the screen
  turns: new Turns(),
  wire: [], // what passed between the bot and Discord, oldest first
  tour: [], // the steps that have happened
  models: [], modelID: "", mishaps: [],
};

const listeners = new Map();

// on calls f for each of some events. What it returns ends that.
export function on(names, f) {
  for (const name of names.split(" ")) {
    if (!listeners.has(name)) listeners.set(name, []);
    listeners.get(name).push(f);
  }
  return () => {
    for (const name of names.split(" ")) listeners.set(name, listeners.get(name).filter((x) => x !== f));
  };
}

export function emit(name, value) {
  for (const f of listeners.get(name) || []) f(value);
}

export const user = (id) => state.users[id] || { name: "someone" };
export const me = () => user(state.me);
export const channel = (id) => state.channels.find((c) => c.id === id);
export const here = () => channel(state.current);
export const messagesIn = (id) => state.messages.get(id) || [];

export function findMessage(id) {
  for (const list of state.messages.values()) {
    const m = list.find((x) => x.id === id);
    if (m) return m;
  }
  return undefined;
}

// pinged tells whether a message called the current person.
export function pinged(m) {
  if (m.author === state.me) return false;
  return Boolean(m.ping_all) || (m.pings || []).includes(state.me) || (m.ping_roles || []).some((r) => (me().roles || []).includes(r));
}

// threadOf is the open thread that was made from a message; it has the message's id.
export const threadOf = (m) => state.channels.find((c) => c.kind === "thread" && c.id === m.id);

export function select(id) {
  if (!channel(id)) return;
  state.newFrom = state.unread.get(id)?.first || "";
  state.current = id;
  state.atEnd = true;
  state.unread.delete(id);
  emit("select");
  emit("channels");
}

// Snowflakes are too long for numbers.
export const older = (a, b) => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);

function put(list, m) {
  let i = list.length;
  while (i > 0 && older(list[i - 1].id, m.id) > 0) i--;
  if (i > 0 && list[i - 1].id === m.id) {
    list[i - 1] = m;
    return false;
  }
  list.splice(i, 0, m);
  return true;
}

// kept bounds what a page holds, and draws, of one channel.
export const kept = 300;

function unseen(m) {
  const u = state.unread.get(m.channel) || { count: 0, ping: 0, first: m.id };
  u.count++;
  if (pinged(m) || channel(m.channel)?.kind === "dm") u.ping++;
  if (m.channel !== state.current) state.unread.set(m.channel, u);
  emit("channels");
}

// hold keeps a live message and tells whether it is new. "ahead" is one behind what this page holds: it is read when
// somebody goes there.
function hold(m) {
  const list = state.messages.get(m.channel);
  if (!list) return "ahead";
  const at = list.findIndex((x) => x.id === m.id);
  if (at >= 0) {
    list[at] = m;
    return "changed";
  }
  // What comes before all that is held is an older one that was changed.
  if (list.length && older(m.id, list[0].id) < 0 && state.more.get(m.channel)) return "ahead";
  const reading = m.channel === state.current && !state.atEnd;
  if (state.newer.has(m.channel) || (reading && list.length >= kept)) {
    if (older(m.id, list[list.length - 1]?.id || "") < 0) return "ahead";
    state.newer.set(m.channel, (state.newer.get(m.channel) || 0) + 1);
    return "ahead";
  }
  put(list, m);
  if (!reading && list.length > kept + 50) {
    const gone = list.splice(0, list.length - kept);
    state.more.set(m.channel, true);
    emit("dropped", { channel: m.channel, gone });
  }
  return "new";
}

const wireKept = 200;

const take = {
  snapshot(s) {
    const again = state.me === s.me;
    Object.assign(state, {
      me: s.me, bot: s.bot, connected: s.connected, model: s.model, offline: s.offline, data: s.data, guild: s.guild, guildID: s.guild_id,
      users: s.users, roles: s.roles || {}, people: s.people, channels: s.channels,
    });
    state.messages = new Map(Object.entries(s.messages));
    state.more = new Map(s.channels.map((c) => [c.id, c.more]));
    state.newer = new Map();
    state.typing = new Map();
    if (!again) {
      state.unread = new Map();
      state.newFrom = "";
    }
    state.turns.reset(s.turns || [], s.decisions || []);
    Object.assign(state, { wire: s.wire || [], tour: s.tour || [], models: s.models || [], modelID: s.model_id, mishaps: s.mishaps || [] });
    if (!channel(state.current)) state.current = s.channels[0]?.id || "";
    emit("snapshot", again);
    emit("select", again);
    emit("channels");
    emit("commands");
    emit("turns");
  },
  channels({ channels }) {
    state.channels = channels;
    for (const id of [...state.messages.keys()]) if (!channel(id)) state.messages.delete(id);
    if (!here()) select(channels[0]?.id);
    emit("channels");
    emit("here");
  },
  message(m) {
    state.typing.get(m.channel)?.delete(m.author);
    const was = hold(m);
    // An older message that was changed is no news.
    const news = was !== "changed" && Date.now() - new Date(m.created) < 60000 && !m.edited;
    if (news && m.author !== state.me && (m.channel !== state.current || document.hidden)) unseen(m);
    if (was === "ahead") emit("ahead", m.channel);
    else emit("message", { message: m, isNew: was === "new" });
    emit("typing");
  },
  delete({ id, channel: c }) {
    const list = state.messages.get(c);
    const i = list ? list.findIndex((m) => m.id === id) : -1;
    if (i < 0) return;
    list.splice(i, 1);
    emit("deleted", { id, channel: c });
  },
  typing({ channel: c, user: u }) {
    if (!state.typing.has(c)) state.typing.set(c, new Map());
    state.typing.get(c).set(u, Date.now() + 10000);
    emit("typing");
  },
  commands() { emit("commands"); },
  link({ connected }) {
    state.connected = connected;
    emit("link");
  },
  turn(e) {
    emit("turn", state.turns.take(e));
  },
  wire(l) {
    state.wire.push(l);
    if (state.wire.length > wireKept) state.wire.shift();
    emit("wire", l);
  },
  tour({ done }) {
    state.tour = done;
    emit("tour");
  },
};

let source;

// connect (re)opens the stream as somebody. The browser reconnects by itself and says where it was.
export function connect(person) {
  source?.close();
  source = new EventSource(`/api/stream?person=${encodeURIComponent(person)}`);
  const mine = source;
  for (const [name, f] of Object.entries(take)) {
    source.addEventListener(name, (e) => { if (mine === source) f(JSON.parse(e.data)); });
  }
  source.onopen = () => { state.online = true; emit("link"); };
  source.onerror = () => {
    if (mine !== source) return;
    state.online = false;
    emit("link");
    // A server that is gone for good refuses, and the browser then gives up; the page does not.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => { if (mine === source) connect(person); }, 2000);
  };
}

// addOlder and addNewer lengthen what is held of a channel; what is then too much is let go of at the other end, and
// returned. replace holds another part instead.
export function addOlder(c, { messages, older: more }) {
  const list = messagesIn(c);
  list.unshift(...messages.filter((m) => !list.some((x) => x.id === m.id)));
  state.more.set(c, more);
  if (list.length <= kept) return [];
  if (!state.newer.has(c)) state.newer.set(c, 0);
  return list.splice(kept);
}

export function addNewer(c, { messages, newer }) {
  const list = messagesIn(c);
  for (const m of messages) put(list, m);
  if (newer) state.newer.set(c, state.newer.get(c) || 0);
  else state.newer.delete(c);
  if (list.length <= kept) return [];
  state.more.set(c, true);
  return list.splice(0, list.length - kept);
}

export function replace(c, { messages, older: more, newer }) {
  state.messages.set(c, messages);
  state.more.set(c, more);
  if (newer) state.newer.set(c, 0);
  else state.newer.delete(c);
}
