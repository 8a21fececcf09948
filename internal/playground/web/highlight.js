// Colours for code: one small reader for the usual languages. It knows comments, strings, numbers and words, which is
// what makes code readable; it is no parser.

import { h } from "./dom.js";

// Beyond this, code is shown plain.
const longest = 20000;

const words = (text) => new Set(text.split(" "));

const cComments = ["//[^\\n]*", "/\\*[^]*?(?:\\*/|$)"];
const hash = ["#[^\\n]*"];
const quoted = ['"(?:\\\\.|[^"\\\\\\n])*"?', "'(?:\\\\.|[^'\\\\\\n])*'?"];
const cLike = "break case catch class const continue default do else enum false finally for goto if import new null private protected public return static struct super switch this throw true try typedef void while";

const languages = {
  js: { comments: cComments, strings: ["`(?:\\\\.|[^`\\\\])*`?", ...quoted], words: words(cLike + " async await debugger delete export extends from function get in instanceof let of set typeof undefined var with yield as interface type implements readonly declare namespace abstract keyof infer satisfies never unknown any string number boolean") },
  go: { comments: cComments, strings: ["`[^`]*`?", ...quoted], words: words("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota any error string int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 byte rune bool float32 float64 append cap clear close copy delete len make max min new panic print println recover") },
  python: { comments: hash, strings: ['[rbfuRBFU]{0,2}"""[^]*?(?:"""|$)', "[rbfuRBFU]{0,2}'''[^]*?(?:'''|$)", ...quoted], words: words("and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match case None nonlocal not or pass raise return self True try while with yield"), meta: "@[\\w.]+" },
  rust: { comments: cComments, strings: ['r#*"[^]*?"#*', '"(?:\\\\.|[^"\\\\])*"?', "'(?:\\\\.|[^'\\\\\\n])'"], words: words("as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 String Vec Option Result Some None Ok Err"), meta: "#!?\\[[^\\]\\n]*\\]" },
  c: { comments: cComments, strings: quoted, words: words(cLike + " auto bool char const_cast constexpr decltype delete double explicit extern float friend inline int long namespace noexcept nullptr operator override register short signed sizeof template typename union unsigned using virtual volatile size_t NULL string let val var fun when is object internal sealed data override open companion package extends implements interface abstract final throws synchronized transient native instanceof boolean byte foreach in out ref readonly async await get set where yield func guard defer extension protocol init self nil let some any"), meta: "^[ \\t]*#[ \\t]*\\w+|@\\w+" },
  php: { comments: [...cComments, ...hash], strings: quoted, words: words(cLike + " abstract and array as echo elseif endif extends final fn foreach function global implements interface isset match namespace or print readonly require require_once trait use unset var"), meta: "<\\?(?:php|=)?|\\?>|\\$\\w+" },
  ruby: { comments: hash, strings: quoted, words: words("alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield require require_relative attr_accessor attr_reader puts"), meta: ":\\w+|@{1,2}\\w+" },
  lua: { comments: ["--\\[\\[[^]*?(?:\\]\\]|$)", "--[^\\n]*"], strings: ["\\[\\[[^]*?(?:\\]\\]|$)", ...quoted], words: words("and break do else elseif end false for function goto if in local nil not or repeat return then true until while") },
  bash: { comments: ["(?<=^|\\s)#[^\\n]*"], strings: ['"(?:\\\\.|[^"\\\\])*"?', "'[^']*'?"], words: words("case do done elif else esac exit export fi for function if in local read return select set shift source then trap unset until while cd echo eval exec printf sudo test true false alias"), meta: "\\$(?:\\{[^}\\n]*\\}|[\\w@*#?$!-]+)|(?<=\\s)--?[\\w-]+" },
  json: { comments: cComments, strings: quoted.slice(0, 1), words: words("true false null"), keys: '"(?:\\\\.|[^"\\\\\\n])*"(?=\\s*:)' },
  yaml: { comments: ["(?<=^|\\s)#[^\\n]*"], strings: quoted, words: words("true false null yes no on off"), keys: "^[ \\t-]*[\\w./-]+(?=\\s*:(?:\\s|$))", meta: "^---|[&*!][\\w-]+" },
  ini: { comments: ["[#;][^\\n]*"], strings: quoted, words: words("true false"), keys: "^[ \\t]*[\\w.-]+(?=\\s*=)", meta: "^\\[[^\\]\\n]*\\]+" },
  sql: { comments: ["--[^\\n]*", "/\\*[^]*?(?:\\*/|$)"], strings: ["'(?:''|[^'])*'?", '"[^"\\n]*"?'], fold: true, words: words("add all alter and any as asc begin between by case cascade check column commit constraint create cross database default delete desc distinct drop else end except exists false foreign from full function group having if in index inner insert intersect into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then transaction trigger true union unique update using values view when where with bigint boolean char date decimal int integer json jsonb numeric real serial smallint text timestamp timestamptz uuid varchar") },
  css: { comments: ["/\\*[^]*?(?:\\*/|$)"], strings: quoted, words: words("important auto none inherit initial unset"), keys: "[\\w-]+(?=\\s*:[^;{}]*[;}])", meta: "@[\\w-]+|#[0-9a-fA-F]{3,8}\\b|\\.[\\w-]+(?=[^{};]*\\{)" },
  html: { comments: ["<!--[^]*?(?:-->|$)"], strings: quoted, words: words(""), keys: "[\\w:-]+(?==[\"'])", tag: "</?[\\w:-]+|/?>|<![^>]*>", plain: true },
  markdown: { comments: [], strings: ["`[^`\\n]+`"], words: words(""), tag: "^#{1,6} [^\\n]*", meta: "^\\s*(?:[-*+]|\\d+\\.) |\\*\\*[^*\\n]+\\*\\*" },
  docker: { comments: hash, strings: quoted, words: words("FROM RUN CMD LABEL EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD STOPSIGNAL HEALTHCHECK SHELL AS"), meta: "\\$\\{?\\w+\\}?|--[\\w-]+" },
};

const aliases = {
  javascript: "js", jsx: "js", ts: "js", tsx: "js", typescript: "js", mjs: "js", node: "js", golang: "go", py: "python", python3: "python", rs: "rust",
  cpp: "c", "c++": "c", h: "c", hpp: "c", cc: "c", cs: "c", csharp: "c", "c#": "c", java: "c", kotlin: "c", kt: "c", swift: "c", scala: "c", dart: "c", objc: "c", zig: "c",
  rb: "ruby", sh: "bash", shell: "bash", zsh: "bash", console: "bash", fish: "bash", make: "bash", makefile: "bash", json5: "json", jsonc: "json", yml: "yaml", toml: "ini", conf: "ini", properties: "ini",
  env: "ini", postgres: "sql", postgresql: "sql", mysql: "sql", sqlite: "sql", scss: "css", less: "css", xml: "html", svg: "html", vue: "html", md: "markdown", dockerfile: "docker", pgsql: "sql",
};

const made = new Map(); // language -> its expression

function expression(name) {
  if (made.has(name)) return made.get(name);
  const l = languages[name];
  const part = (group, list) => (list?.length ? [`(?<${group}>${list.join("|")})`] : []);
  const all = new RegExp([
    ...part("comment", l.comments), ...part("name", l.keys ? [l.keys] : []), ...part("tag", l.tag ? [l.tag] : []), ...part("string", l.strings),
    ...part("meta", l.meta ? [l.meta] : []), "(?<number>(?<![\\w.])(?:0[xX][\\da-fA-F_]+|0[bB][01_]+|\\d[\\d_]*(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)\\w*)", "(?<word>[\\p{L}_$][\\p{L}\\p{N}_$]*)(?:(?<call>(?=\\s*\\())|)",
  ].join("|"), "gmu");
  made.set(name, all);
  return all;
}

// highlight gives the nodes of a piece of code.
export function highlight(text, lang) {
  const asked = lang.toLowerCase();
  if (asked === "diff" || asked === "patch") return diff(text);
  const name = Object.hasOwn(languages, asked) ? asked : Object.hasOwn(aliases, asked) ? aliases[asked] : "";
  if (!name || text.length > longest) return [text];
  const l = languages[name];
  const out = [];
  let from = 0;
  for (const m of text.matchAll(expression(name))) {
    const c = classOf(m.groups, l);
    if (!c || m[0] === "") continue;
    if (m.index > from) out.push(text.slice(from, m.index));
    out.push(h("span", { class: c }, m[0]));
    from = m.index + m[0].length;
  }
  if (from < text.length) out.push(text.slice(from));
  return out;
}

function classOf(g, l) {
  for (const kind of ["comment", "name", "tag", "string", "meta", "number"]) if (g[kind] !== undefined) return `c-${kind}`;
  if (l.plain) return "";
  if (l.words.has(l.fold ? g.word.toLowerCase() : g.word)) return "c-word";
  return g.call !== undefined ? "c-name" : "";
}

function diff(text) {
  return text.split("\n").flatMap((line, i) => {
    const c = /^(\+\+\+|---|@@|diff |index )/.test(line) ? "c-meta" : line[0] === "+" ? "c-add" : line[0] === "-" ? "c-del" : "";
    return [i ? "\n" : "", c ? h("span", { class: c }, line) : line].filter((x) => x !== "");
  });
}
