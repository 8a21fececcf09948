// What this page knows, and who wants to hear of changes. Everything comes from the server's stream.

import { Turns } from "./turns.js";

export const state = {
  me: "", bot: "", connected: false, online: false, model: "", offline: false, data: "", guild: "",
  users: {}, people: [], channels: [], current: "",
  messages: new Map(), // channel -> messages, oldest first
  more: new Map(), // channel -> whether there are older ones
  typing: new Map(), // channel -> user -> until when
  unread: new Map(), // channel -> {count, ping}
  turns: new Turns(),
};

const listeners = new Map();

export function on(names, f) {
  for (const name of names.split(" ")) {
    if (!listeners.has(name)) listeners.set(name, []);
    listeners.get(name).push(f);
  }
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

export function select(id) {
  if (!channel(id)) return;
  state.current = id;
  state.unread.delete(id);
  emit("select");
  emit("channels");
}

// Snowflakes are too long for numbers.
const older = (a, b) => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);

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

// kept bounds what a page holds of one channel.
const kept = 500;

const take = {
  snapshot(s) {
    const samePerson = state.me === s.me;
    Object.assign(state, {
      me: s.me, bot: s.bot, connected: s.connected, model: s.model, offline: s.offline, data: s.data, guild: s.guild,
      users: s.users, people: s.people, channels: s.channels,
    });
    state.messages = new Map(Object.entries(s.messages));
    state.more = new Map(s.channels.map((c) => [c.id, c.more]));
    state.typing = new Map();
    if (!samePerson) state.unread = new Map();
    state.turns.reset(s.turns || [], s.decisions || []);
    if (!channel(state.current)) state.current = s.channels[0]?.id || "";
    emit("snapshot");
    emit("select");
    emit("channels");
    emit("commands");
    emit("turns");
  },
  message(m) {
    if (!state.messages.has(m.channel)) state.messages.set(m.channel, []);
    const list = state.messages.get(m.channel);
    const isNew = put(list, m);
    if (list.length > kept) {
      list.shift();
      state.more.set(m.channel, true);
    }
    state.typing.get(m.channel)?.delete(m.author);
    if (isNew && m.author !== state.me && (m.channel !== state.current || document.hidden)) {
      const u = state.unread.get(m.channel) || { count: 0, ping: 0 };
      u.count++;
      if ((m.pings || []).includes(state.me) || channel(m.channel)?.kind === "dm") u.ping++;
      if (m.channel !== state.current) state.unread.set(m.channel, u);
      emit("channels");
    }
    emit("message", { message: m, isNew });
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

export function addOlder(c, messages, more) {
  state.messages.set(c, [...messages.filter((m) => !messagesIn(c).some((x) => x.id === m.id)), ...messagesIn(c)]);
  state.more.set(c, more);
  emit("older");
}
