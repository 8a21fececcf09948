// What this page asks of the server. Errors are told to the person at once.

import { state } from "./store.js";
import { toast } from "./dom.js";

async function answer(response) {
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refusal(body, response.status);
  return body;
}

// Refusal is what the server did not do; where Discord is it that refuses, with Discord's code and the fields' problems.
class Refusal extends Error {
  constructor(body, status) {
    super(body.code ? `${body.error} (${body.code})` : sentence(body.error || `the playground answered ${status}`));
    this.more = (body.problems || []).map((p) => `${p.path}: ${p.message} (${p.code})`);
  }
}

// act does something as the current person. It answers undefined when that failed, which the person was told then.
export async function act(name, fields) {
  try {
    return await answer(await fetch(`/api/${name}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ person: state.me, ...fields }),
    }));
  } catch (err) {
    if (err instanceof Refusal) toast(err.message, err.more);
    else toast(err instanceof TypeError ? "The playground is not running any more." : String(err));
    return undefined;
  }
}

export async function look(name, query) {
  try {
    return await answer(await fetch(`/api/${name}?${new URLSearchParams({ person: state.me, ...query })}`));
  } catch {
    return undefined;
  }
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

// encodeFile reads a file as the server takes it.
export function encodeFile(f) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve({ name: f.name || "image.png", type: f.type, data: String(reader.result).split(",", 2)[1] || "" });
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(f);
  });
}
