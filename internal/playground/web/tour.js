// The guided tour: six steps, each brought about by one press and ticked when it really happened.

import { $, h, fill } from "./dom.js";
import { state, on, here, user } from "./store.js";
import { act } from "./api.js";
import { interact } from "./dialogs.js";
import { pref, keep } from "./prefs.js";
import { icon } from "./icons.js";
import { useOffline } from "./model.js";

const box = $("tour");

const steps = [
  {
    id: "talk", title: "Talk", look: "The bot is mentioned and answers. In the inspector its turn appears, with one round trip to the model.",
    run: () => say("hello there"),
  },
  {
    id: "tool", title: "Tool call", look: "The model speaks, calls a tool and speaks again: two round trips. Look at the checks the call went through, its arguments and its result.",
    run: () => say("say Let me look at the board.; call read_notes {}; then; say That is what is on it."),
  },
  {
    id: "memory", title: "Memory", look: "Something is kept in one turn and found again in the next. What is remembered about you can be seen and erased: /memory, /privacy.",
    async run() {
      await ended(await say("remember that I drink green tea"));
      await say("what do you know about me");
    },
  },
  {
    id: "approval", title: "Approval", look: "This tool asks first. Press Approve or Deny on the card in the chat; a moderator may, too. The inspector tells who decided, and after how long.",
    run: () => say("say I would like to write that down.; call risky_note {\"text\":\"Hello from the tour\"}; then; say It is on the board."),
  },
  {
    id: "deliberate", title: "Deliberate", look: "In deliberate mode, tools are offered only when a message asks for them. The first message asks for none, so its call is blocked; the second says “remember”, and the tool runs and stays offered for some turns.",
    async run() {
      await command("deliberate me", { mode: "on" });
      await ended(await say("call create_long_term_memory {\"memory_content\":\"the tour was here\",\"memory_scope\":\"target_user\"}; then; say That was not allowed."));
      await ended(await say("remember that I took the tour"));
      await command("deliberate me", { mode: "follow" });
    },
  },
  {
    id: "kill", title: "Kill", look: "A long answer begins, and /kill stops it in the middle of a word. The turn ends as stopped, and the next one is not hurt.",
    async run() {
      const t = await begun(await say("slow 120ms; say I could go on like this for a very long time, word after word and line after line, and nobody would get a word in before I am done, which is why everybody may stop their own turn"));
      if (t) await command("kill", {});
    },
  },
];

let chosen = ""; // the step whose text is shown
let running = "";

const done = (s) => state.tour.includes(s.id);

// say writes to the bot and gives the message's id.
async function say(text) {
  const to = here()?.kind === "dm" ? "" : `<@${state.bot}> `;
  return (await act("say", { channel: state.current, text: to + text }))?.id;
}

const command = (name, options) => interact("slash", { channel: state.current, name, options });

// turnOf waits until the turn of a message is as wanted; a turn that never comes is given up.
function turnOf(message, wanted) {
  return new Promise((resolve) => {
    const look = () => {
      const t = state.turns.list.find((x) => x.message === message);
      if (t && (wanted(t) || t.endedAt)) finish(t);
    };
    const finish = (t) => { off(); clearTimeout(late); resolve(t); };
    const off = on("turn turns", look);
    const late = setTimeout(() => finish(undefined), 20000);
    if (message) look();
    else finish(undefined);
  });
}

const ended = (message) => turnOf(message, (t) => t.endedAt);
// begun waits for some words of an answer: enough to see that it is stopped in the middle.
const begun = (message) => turnOf(message, (t) => t.iterations.some((i) => i.items.some((x) => x.kind === "text" && x.text.length > 40)));

async function start(s) {
  chosen = s.id;
  running = s.id;
  draw();
  try {
    await s.run();
  } finally {
    running = "";
    draw();
  }
}

function chip(s, n) {
  const ticked = done(s);
  return h("li", null, h("button", {
    type: "button", class: `step${ticked ? " done" : ""}${s.id === chosen ? " current" : ""}`, disabled: !state.offline || (running && running !== s.id),
    data: { step: s.id, done: String(ticked) }, "aria-current": s.id === chosen ? "step" : undefined, onclick: () => start(s),
  }, h("span", { class: "tick", "aria-hidden": "true" }, ticked ? icon("check", true) : String(n + 1)), s.title,
  ticked ? h("span", { class: "unseen" }, " (done)") : null));
}

function words() {
  if (!state.offline) {
    return [`The tour is played by the built-in model; ${state.model} answers now. `, h("button", { type: "button", class: "linklike", onclick: useOffline }, "Use the built-in one")];
  }
  const s = steps.find((x) => x.id === chosen);
  if (s) return [h("b", null, s.title, ": "), s.look];
  if (steps.every(done)) return ["You have seen it all. Write what you like: “help” shows what the built-in model can be told to do."];
  return [`Six steps show what ${user(state.bot).name} is about. Press one: it is done for you, with the built-in model.`];
}

function draw() {
  if (!state.me) return;
  const open = pref("tour", "open") === "open";
  const focus = box.contains(document.activeElement) ? document.activeElement.dataset.step || document.activeElement.dataset.focus : "";
  const count = steps.filter(done).length;
  fill(box,
    h("div", { class: "tour-head" },
      h("button", {
        type: "button", class: "tour-toggle", "aria-expanded": String(open), data: { focus: "toggle" },
        onclick: () => { keep("tour", open ? "closed" : "open"); draw(); },
      }, icon("down", true), h("b", null, "Tour"), ` ${count} of ${steps.length}`),
      h("span", { class: "answers" }, state.offline ? `${state.model} answers (offline)` : `${state.model} answers`)),
    open ? h("ol", { class: "steps" }, steps.map(chip)) : null,
    open ? h("p", { class: "look", role: "status" }, words()) : null);
  box.classList.toggle("closed", !open);
  if (focus) box.querySelector(`[data-step="${focus}"], [data-focus="${focus}"]`)?.focus();
}

on("snapshot tour", draw);
