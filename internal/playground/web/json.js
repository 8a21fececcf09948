// JSON as people read it.

// pretty shows JSON indented, as the text it is: numbers keep their digits. Other text stays as it is.
export function pretty(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let out = "", depth = 0, quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      out += c;
      if (c === "\\") out += text[++i];
      else if (c === "\"") quoted = false;
      continue;
    }
    if (/\s/.test(c)) continue;
    const line = () => "\n" + "  ".repeat(depth);
    if (c === "\"") { quoted = true; out += c; }
    else if (c === "{" || c === "[") {
      const rest = text.slice(i + 1).match(/^\s*([}\]])/);
      if (rest) { out += c + rest[1]; i += rest[0].length; }
      else { depth++; out += c + line(); }
    }
    else if (c === "}" || c === "]") { depth--; out += line() + c; }
    else if (c === ",") out += c + line();
    else if (c === ":") out += ": ";
    else out += c;
  }
  return out;
}
