// The top of a channel: where one is and how to begin. It is part of the page, not a message, so no model reads it.

import { h } from "./dom.js";
import { state, emit, here, user } from "./store.js";

function phrases(bot, dm) {
  const to = dm ? "" : `@${bot} `;
  if (!state.offline) {
    return [[to + "what can you do?", "ask it"], [to + "remember that I like tea", "it keeps what you tell it"], [to + "what do you know about me?", "and finds it again"]];
  }
  return [
    [to + "help", "what the offline model can be told to do"],
    [to + "remember that I like tea", "it uses a tool to keep that"],
    [to + "what do you know about me", "and one to find it again"],
    [to + "slow 150ms; say This answer takes its time, so that you can stop it", "something to /kill"],
    [to + "call risky_note {\"text\":\"hello board\"}; then; say noted", "a tool that asks for approval first"],
  ];
}

export function welcome() {
  const c = here();
  if (!c) return null;
  const bot = user(state.bot).name;
  const dm = c.kind === "dm";
  return h("section", { class: "welcome", "aria-label": "How to begin" },
    h("h1", null, dm ? bot : c.kind === "thread" ? c.name : `Welcome to #${c.name}`),
    h("p", null, dm ? `This is your private chat with ${bot}: everything you write here is for it.` :
      `This is a small Discord on your own machine. Mention @${bot} to talk to it, reply to one of its messages, or write to it privately.`,
    state.offline ? " The model is an offline stand-in that follows a script you write, so you can watch every step." : ` The model is ${state.model}.`),
    h("p", null, "Try one of these, then press Enter:"),
    h("ul", { class: "phrases" }, phrases(bot, dm).map(([text, why]) => h("li", null,
      h("button", { type: "button", class: "phrase", onclick: () => emit("compose", text) }, text), h("span", null, why)))),
    h("p", null, h("button", { type: "button", class: "phrase", onclick: () => emit("compose", "/kill") }, "/kill"),
      " stops whatever runs in this channel, ", h("button", { type: "button", class: "phrase", onclick: () => emit("compose", "/status") }, "/status"),
      " shows what does. The panel on the right shows what the bot did and why."));
}
