// What this page asks of the server. Errors are told to the person at once.

import { state } from "./store.js";
import { toast } from "./dom.js";

async function answer(response) {
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.error || `the playground answered ${response.status}`);
  return body;
}

// act does something as the current person. It answers undefined when that failed, which the person was told then.
export async function act(name, fields) {
  try {
    return await answer(await fetch(`/api/${name}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ person: state.me, ...fields }),
    }));
  } catch (err) {
    toast(err instanceof TypeError ? "The playground is not running any more." : sentence(err.message));
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

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + ".";

// encodeFile reads a file as the server takes it.
export function encodeFile(f) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve({ name: f.name || "image.png", type: f.type, data: String(reader.result).split(",", 2)[1] || "" });
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(f);
  });
}
