// The usual emojis with their names, and the box to pick one from.

import { h, fill } from "./dom.js";

const named = `grinning 😀 smiley 😃 smile 😄 grin 😁 laughing 😆 sweat_smile 😅 joy 😂 rofl 🤣 slight_smile 🙂 upside_down 🙃 wink 😉 blush 😊 innocent 😇 heart_eyes 😍 star_struck 🤩 kissing_heart 😘 yum 😋 stuck_out_tongue 😛 zany 🤪 hugging 🤗 hand_over_mouth 🤭 shushing 🤫 thinking 🤔 salute 🫡 zipper_mouth 🤐 neutral_face 😐 expressionless 😑 smirk 😏 unamused 😒 rolling_eyes 🙄 grimacing 😬 relieved 😌 pensive 😔 sleepy 😪 sleeping 😴 mask 😷 nauseated 🤢 hot_face 🥵 cold_face 🥶 dizzy_face 😵 exploding_head 🤯 cowboy 🤠 partying 🥳 sunglasses 😎 nerd 🤓 monocle 🧐 confused 😕 worried 😟 frowning ☹️ open_mouth 😮 astonished 😲 flushed 😳 pleading 🥺 anguished 😧 fearful 😨 cry 😢 sob 😭 scream 😱 disappointed 😞 sweat 😓 weary 😩 yawning 🥱 triumph 😤 rage 😡 skull 💀 poop 💩 clown 🤡 ghost 👻 alien 👽 robot 🤖 heart ❤️ orange_heart 🧡 yellow_heart 💛 green_heart 💚 blue_heart 💙 purple_heart 💜 black_heart 🖤 broken_heart 💔 hundred 💯 boom 💥 dizzy 💫 sweat_drops 💦 zzz 💤 wave 👋 ok_hand 👌 pinched 🤌 v ✌️ crossed_fingers 🤞 metal 🤘 call_me 🤙 point_left 👈 point_right 👉 point_up 👆 point_down 👇 thumbsup 👍 thumbsdown 👎 fist ✊ punch 👊 clap 👏 raised_hands 🙌 open_hands 👐 handshake 🤝 pray 🙏 writing ✍️ muscle 💪 eyes 👀 brain 🧠 baby 👶 shrug 🤷 facepalm 🤦 dog 🐶 cat 🐱 mouse 🐭 fox 🦊 bear 🐻 panda 🐼 frog 🐸 monkey 🐵 chicken 🐔 penguin 🐧 owl 🦉 unicorn 🦄 bee 🐝 bug 🐛 butterfly 🦋 snail 🐌 turtle 🐢 octopus 🐙 whale 🐳 dragon 🐉 cactus 🌵 tree 🌳 herb 🌿 four_leaf_clover 🍀 mushroom 🍄 rose 🌹 sunflower 🌻 sun ☀️ cloud ☁️ rain 🌧️ snowflake ❄️ zap ⚡ fire 🔥 rainbow 🌈 star ⭐ sparkles ✨ moon 🌙 earth 🌍 apple 🍎 banana 🍌 strawberry 🍓 avocado 🥑 bread 🍞 cheese 🧀 pizza 🍕 burger 🍔 fries 🍟 taco 🌮 sushi 🍣 cookie 🍪 cake 🍰 birthday 🎂 coffee ☕ tea 🍵 beer 🍺 wine 🍷 soccer ⚽ basketball 🏀 trophy 🏆 medal 🏅 dart 🎯 game 🎮 dice 🎲 art 🎨 guitar 🎸 headphones 🎧 rocket 🚀 airplane ✈️ car 🚗 bike 🚲 train 🚆 house 🏠 tada 🎉 gift 🎁 balloon 🎈 bell 🔔 megaphone 📣 bulb 💡 computer 💻 keyboard ⌨️ phone 📱 camera 📷 book 📖 memo 📝 pencil ✏️ pushpin 📌 paperclip 📎 scissors ✂️ lock 🔒 key 🔑 hammer 🔨 wrench 🔧 gear ⚙️ link 🔗 package 📦 calendar 📅 chart 📈 hourglass ⏳ alarm ⏰ mag 🔍 shield 🛡️ warning ⚠️ no_entry ⛔ check ✅ x ❌ question ❓ exclamation ❗ plus ➕ minus ➖ recycle ♻️ arrow_right ➡️ arrow_left ⬅️ arrow_up ⬆️ arrow_down ⬇️ repeat 🔁 play ▶️ pause ⏸️ stop ⏹️ red_circle 🔴 green_circle 🟢 blue_circle 🔵 one 1️⃣ two 2️⃣ three 3️⃣ flag 🚩`.split(" ");

// emojis are [name, character].
export const emojis = [];
for (let i = 0; i < named.length; i += 2) emojis.push([named[i], named[i + 1]]);
const byName = new Map(emojis);

export const nameOf = (char) => emojis.find(([, c]) => c === char)?.[0] || "";

// withEmojis replaces :names: by what they name, outside of code.
export function withEmojis(text) {
  return text.replace(/(`{3}[^]*?`{3}|`[^`\n]*`|<a?:\w+:\d+>)|:(\w{1,32}):/g, (whole, code, name) => (code || !byName.has(name) ? whole : byName.get(name)));
}

export function matching(typed, limit) {
  const t = typed.toLowerCase();
  const first = emojis.filter(([n]) => n.startsWith(t)), then = emojis.filter(([n]) => !n.startsWith(t) && n.includes(t));
  return [...first, ...then].slice(0, limit);
}

// place puts a floating box beside what it belongs to, inside of the window.
export function place(box, anchor) {
  const a = anchor.getBoundingClientRect(), b = box.getBoundingClientRect();
  const above = a.top - b.height - 6;
  box.style.top = `${Math.max(8, above >= 8 ? above : Math.min(a.bottom + 6, innerHeight - b.height - 8))}px`;
  box.style.left = `${Math.max(8, Math.min(a.left + a.width - b.width, innerWidth - b.width - 8))}px`;
}

const columns = 8;
let open = null;

// pickEmoji offers the emojis beside an element. Arrows go through them, typing searches, Escape goes back.
export function pickEmoji(anchor, picked) {
  open?.();
  const back = document.activeElement;
  const close = (focus) => {
    box.remove();
    document.removeEventListener("pointerdown", outside, true);
    open = null;
    if (focus) (back?.isConnected ? back : anchor).focus?.({ preventScroll: true });
  };
  const outside = (e) => { if (!box.contains(e.target)) close(false); };
  const search = h("input", { type: "text", placeholder: "Search", "aria-label": "Search emojis", autocomplete: "off", spellcheck: false });
  const grid = h("div", { class: "grid", role: "group", "aria-label": "Emojis" });
  const name = h("div", { class: "name", "aria-hidden": "true" });
  const box = h("div", { class: "picker", role: "dialog", "aria-label": "Choose an emoji" }, search, grid, name);
  const choose = (c) => { close(true); picked(c); };
  const draw = () => {
    fill(grid, matching(search.value.trim().replace(/^:|:$/g, ""), 300).map(([n, c], i) => h("button", {
      type: "button", "aria-label": n.replaceAll("_", " "), tabIndex: i ? -1 : 0, onclick: () => choose(c), onfocus: () => { name.textContent = `:${n}:`; }, onpointerenter: () => { name.textContent = `:${n}:`; },
    }, c)));
    if (!grid.firstChild) fill(grid, h("span", { class: "hint" }, "Nothing found"));
  };
  search.addEventListener("input", draw);
  box.addEventListener("keydown", (e) => {
    e.stopPropagation();
    const all = [...grid.querySelectorAll("button")], at = all.indexOf(document.activeElement);
    const go = (to) => { e.preventDefault(); if (to < 0) search.focus(); else all[Math.min(to, all.length - 1)]?.focus(); };
    if (e.key === "Escape") { e.preventDefault(); close(true); }
    else if (e.key === "Tab") { e.preventDefault(); if (at < 0) go(0); else search.focus(); }
    else if (at < 0 && e.key === "ArrowDown") go(0);
    else if (at < 0 && e.key === "Enter") { e.preventDefault(); all[0]?.click(); }
    else if (at >= 0 && e.key === "ArrowRight") go(at + 1);
    else if (at >= 0 && e.key === "ArrowLeft") go(at - 1);
    else if (at >= 0 && e.key === "ArrowDown") go(at + columns);
    else if (at >= 0 && e.key === "ArrowUp") go(at - columns);
    else if (at >= 0 && e.key.length === 1 && e.key !== " ") search.focus();
  });
  draw();
  document.body.append(box);
  place(box, anchor);
  document.addEventListener("pointerdown", outside, true);
  open = () => close(false);
  search.focus({ preventScroll: true });
}
