package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/parleybot/parley/internal/testreport"
)

// The chat half of the page in a real browser: what it makes of texts, and how it holds a long channel.
func TestPageChat(t *testing.T) {
	browser := startChromium(t)
	p := startPlayground(t)
	general, you := p.ids("general", "You")
	w := openTab(t, browser, p.url, you)
	t.Run("markdown", func(t *testing.T) { w.in(t); markdownInBrowser(t, w) })
	t.Run("code", func(t *testing.T) { w.in(t); codeInBrowser(t, w) })
	t.Run("refusals", func(t *testing.T) { w.in(t); refusalsInBrowser(t, w) })
	t.Run("keyboard", func(t *testing.T) { w.in(t); keyboardInBrowser(t, w) })
	t.Run("long channel", func(t *testing.T) { w.in(t); longChannelInBrowser(t, w, general, you) })
}

// shape is a script that writes nodes down: tags with class and address, texts as they are.
const shape = `(nodes) => {
	const one = (n) => {
		if (n.nodeType === 3) return n.data;
		if (n.matches("svg, .copy")) return "";
		const name = n.tagName.toLowerCase() + (n.className ? "." + n.className.replaceAll(" ", ".") : "") + (n.href ? "=" + n.href : "");
		return "<" + name + ">" + [...n.childNodes].map(one).join("") + "</" + n.tagName.toLowerCase() + ">";
	};
	return nodes.map((n) => (typeof n === "string" ? n : one(n))).join("");
}`

func rendered(w *tab, text string) string {
	return js[string](w, fmt.Sprintf(`import("/markdown.js").then(({ render }) => (%s)(render(%q)))`, shape, text))
}

func markdownInBrowser(t *testing.T, w *tab) {
	line := func(s string) string { return "<div.line>" + s + "</div>" }
	spoiler := func(s string) string { return "<span.spoiler><span>" + s + "</span></span>" }
	for in, want := range map[string]string{
		"plain\ntext":                                   line("plain\ntext"),
		"**b** *i* __u__ ~~s~~":                         line("<strong>b</strong> <em>i</em> <u>u</u> <s>s</s>"),
		"***both*** ___two___":                          line("<em><strong>both</strong></em> <em><u>two</u></em>"),
		"**a *b* c**":                                   line("<strong>a <em>b</em> c</strong>"),
		"snake_case_name 2 * 3 * 4":                     line("snake_case_name 2 * 3 * 4"),
		"\\*no\\* `a*b*` ``x`y``":                       line("*no* <code>a*b*</code> <code>x`y</code>"),
		"**`**`**":                                      line("<strong><code>**</code></strong>"),
		"||hid **it**||":                                line(spoiler("hid <strong>it</strong>")),
		"# One\n## Two\n-# small":                       "<div.heading.h1>One</div><div.heading.h2>Two</div><div.subtext>small</div>",
		"#no heading":                                   line("#no heading"),
		"> a\n> - b\nc":                                 "<blockquote>" + line("a") + "<ul><li>" + line("b") + "</li></ul></blockquote>" + line("c"),
		">>> a\nb":                                      "<blockquote>" + line("a\nb") + "</blockquote>",
		"- a\n  - b\n- c":                               "<ul><li>" + line("a") + "<ul><li>" + line("b") + "</li></ul></li><li>" + line("c") + "</li></ul>",
		"1. a\n2. b":                                    "<ol><li>" + line("a") + "</li><li>" + line("b") + "</li></ol>",
		"a\n```\nx *y*\n# z\n```\nb":                    line("a") + "<pre.fence><code>x *y*\n# z</code></pre>" + line("b"),
		"- a\n```\n- b\n```":                            "<ul><li>" + line("a") + "</li></ul><pre.fence><code>- b</code></pre>",
		"```open":                                       line("```open"),
		"https://example.com/a_b_c.":                    line("<a=https://example.com/a_b_c>https://example.com/a_b_c</a>."),
		"(https://example.com/x_(y))":                   line("(<a=https://example.com/x_(y)>https://example.com/x_(y)</a>)"),
		"<https://example.com/>":                        line("<a=https://example.com/>https://example.com/</a>"),
		"[text](https://example.com/)":                  line("<a=https://example.com/>text</a>"),
		"[text](<https://example.com/> \"title\")":      line("<a=https://example.com/>text</a>"),
		"[x](javascript:alert(1))":                      line("[x](javascript:alert(1))"),
		"[x](https://user:pw@example.com/)":             line("[x](<a=https://user:pw@example.com/>https://user:pw@example.com/</a>)"),
		"[https://bank.example](https://evil.example/)": line("[<a=https://bank.example/>https://bank.example</a>](<a=https://evil.example/>https://evil.example/</a>)"),
		"[bank.com](https://evil.example/)":             line("[bank.com](<a=https://evil.example/>https://evil.example/</a>)"),
		"[\u200b](https://evil.example/)":               line("[\u200b](<a=https://evil.example/>https://evil.example/</a>)"),
		"<@1> <@&2> <#3> <:wave:4> </kill:5>":           line(`<span.mention>@unknown-user</span> <span.mention>@unknown-role</span> <span.mention>#unknown</span> <span.emoji>:wave:</span> <span.mention>/kill</span>`),
		"@everyone `@here`":                             line("<span.mention.me>@everyone</span> <code>@here</code>"),
		"🎉 🎉":                                           "<div.line.jumbo>🎉 🎉</div>",
		"<b>x</b><script>1</script>":                    line("<b>x</b><script>1</script>"),
	} {
		if got := rendered(w, in); got != want {
			t.Errorf("%q\n got %s\nwant %s", in, got, want)
		}
	}
	// Whatever is in a text, nothing of it is lost and it does not take long.
	for name, text := range map[string]string{
		"stars": strings.Repeat("*", 4000), "quotes": strings.Repeat("> ", 2000), "brackets": strings.Repeat("[a](", 1000),
		"lists": strings.Repeat("- ", 2000), "ticks": strings.Repeat("`a", 2000), "spoilers": strings.Repeat("||a", 1300),
		"nested": strings.Repeat("**_~~", 800), "fences": strings.Repeat("```\n", 1000), "angles": strings.Repeat("<@", 2000),
	} {
		took := js[float64](w, fmt.Sprintf(`import("/markdown.js").then(({ render }) => { const t = performance.now(); render(%q); return performance.now() - t; })`, text))
		if took > 3000 {
			t.Errorf("%s take %.0f ms", name, took)
		}
	}
}

func codeInBrowser(t *testing.T, w *tab) {
	for _, c := range []struct{ lang, in, want string }{
		{"go", "func f() { return 1 } // x", "<span.c-word>func</span> <span.c-name>f</span>() { <span.c-word>return</span> <span.c-number>1</span> } <span.c-comment>// x</span>"},
		{"py", "@d\ndef f(): return 'x' # y", "<span.c-meta>@d</span>\n<span.c-word>def</span> <span.c-name>f</span>(): <span.c-word>return</span> <span.c-string>'x'</span> <span.c-comment># y</span>"},
		{"json", `{"a": [1, true, "b"]}`, `{<span.c-name>"a"</span>: [<span.c-number>1</span>, <span.c-word>true</span>, <span.c-string>"b"</span>]}`},
		{"diff", "@@ -1 @@\n-a\n+b\n c", "<span.c-meta>@@ -1 @@</span>\n<span.c-del>-a</span>\n<span.c-add>+b</span>\n c"},
		{"html", `<a href="x">y</a>`, `<span.c-tag><a</span> <span.c-name>href</span>=<span.c-string>"x"</span><span.c-tag>></span>y<span.c-tag></a</span><span.c-tag>></span>`},
		{"sh", `echo "$x" # y`, `<span.c-word>echo</span> <span.c-string>"$x"</span> <span.c-comment># y</span>`},
		{"sql", "SELECT 1 -- x", "<span.c-word>SELECT</span> <span.c-number>1</span> <span.c-comment>-- x</span>"},
		{"nothing", "func f()", "func f()"},
		{"constructor", "x", "x"},
	} {
		got := js[string](w, fmt.Sprintf(`import("/highlight.js").then(({ highlight }) => (%s)(highlight(%q, %q)))`, shape, c.in, c.lang))
		if got != c.want {
			t.Errorf("%s: %q\n got %s\nwant %s", c.lang, c.in, got, c.want)
		}
	}
	// Every language reads every text whole.
	lost := js[[]string](w, `import("/highlight.js").then(({ highlight }) => {
		const text = "a 1 'b' \"c\" /* d */ // e\n# f\n<g h=\"i\"> @j $k -l --m [n]\n\t'unclosed \"too `+"\\`"+`";
		return "js go py rust c php ruby lua bash json yaml toml sql css html md dockerfile java ts".split(" ").filter((l) => highlight(text, l).map((n) => n.textContent ?? n).join("") !== text);
	})`)
	if len(lost) > 0 {
		t.Errorf("a text is not whole as %v", lost)
	}
}

// What Discord refuses is told with its code and text, and what was written is not lost.
func refusalsInBrowser(t *testing.T, w *tab) {
	long := strings.Repeat("x", 2001)
	w.write(long)
	w.until("the refusal is told", `document.querySelector("#toasts").innerText.includes("Invalid Form Body (50035)") && document.querySelector("#toasts").innerText.includes("BASE_TYPE_MAX_LENGTH")`)
	w.until("the text is back", `document.querySelector("#text").value.length === 2001`)
	js[bool](w, `(() => {
		const f = document.querySelector("#text"), d = new DataTransfer();
		f.value = "";
		f.dispatchEvent(new Event("input"));
		d.items.add(new File([new Uint8Array(10 * 1024 * 1024 + 1)], "big.bin"));
		f.dispatchEvent(new ClipboardEvent("paste", { clipboardData: d, bubbles: true, cancelable: true }));
		return true;
	})()`)
	w.until("the file waits", `document.querySelectorAll(".chip").length === 1`)
	w.press("button[aria-label^='Send']", "")
	w.until("the file is refused", `document.querySelector("#toasts").innerText.includes("Request entity too large (40005)")`)
	w.press(".chip button", "")
	js[bool](w, `(document.querySelectorAll("#toasts .close").forEach((b) => b.click()), true)`)
	if n := js[int](w, `document.querySelectorAll(".chip, .toast").length`); n != 0 {
		t.Errorf("%d files or notices are left", n)
	}
}

// A thread, a reaction and a reply without a pointer.
func keyboardInBrowser(t *testing.T, w *tab) {
	w.write("by keyboard")
	w.says("by keyboard")
	key := func(name string) {
		t.Helper()
		js[bool](w, fmt.Sprintf(`(document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: %q, bubbles: true, cancelable: true })), true)`, name))
	}
	last := `[...document.querySelectorAll("#messages .message")].findLast((m) => m.innerText.includes("by keyboard"))`
	focus := func() { t.Helper(); js[bool](w, "("+last+".focus(), true)") }
	focus()
	key("+")
	w.until("the emojis are there", `document.activeElement.closest(".picker")`)
	key("Enter")
	w.until("the reaction is there", last+`.querySelector(".reactions .mine")`)
	focus()
	key("r")
	w.until("the reply is begun", `document.querySelector(".above .bar") && document.activeElement.id === "text"`)
	w.write("a reply by keyboard")
	w.says("a reply by keyboard")
	focus()
	key("t")
	w.until("the name is asked for", `document.activeElement.closest("dialog[open]")`)
	js[bool](w, `(document.activeElement.value = "keyboard thread", document.activeElement.form.requestSubmit(), true)`)
	w.until("the thread is open", `document.querySelector("#here h1").textContent === "keyboard thread"`)
	w.write("@Parley say an answer in the thread")
	w.says("an answer in the thread")
	w.press(".channel", "general")
	w.until("the thread stands under its message", `document.querySelector(".thread-card")?.innerText.includes("keyboard thread")`)
	// A reload finds the person, the channel and what was begun.
	js[bool](w, `(() => { const f = document.querySelector("#text"); f.value = "a draft"; f.dispatchEvent(new Event("input")); return true; })()`)
	w.run("reload", chromedp.Reload())
	w.until("the draft is there after the reload", `document.querySelector("#text").value === "a draft" && document.querySelector(".channel.current").innerText.includes("general")`)
	js[bool](w, `(() => { const f = document.querySelector("#text"); f.value = ""; f.dispatchEvent(new Event("input")); return true; })()`)
}

// longMessages are enough for many times what a page holds; the simulator keeps at least ten thousand of a channel.
const longMessages = 700

// longChannelInBrowser goes back through a long channel and returns, while messages come in.
func longChannelInBrowser(t *testing.T, w *tab, channel, person string) {
	w.until("the channel is there", `document.querySelector(".message")`)
	say := func(from, to int) {
		t.Helper()
		body, err := json.Marshal(map[string]string{"channel": channel, "person": person})
		if err != nil {
			t.Fatal(err)
		}
		js[bool](w, fmt.Sprintf(`(async () => {
			for (let i = %d; i < %d; i++) {
				const r = await fetch("/api/say", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...%s, text: "number " + i + "." }) });
				if (!r.ok) return false;
			}
			return true;
		})()`, from, to, body))
	}
	for from := 0; from < longMessages; from += 100 {
		say(from, from+100)
	}
	w.says(fmt.Sprintf("number %d.", longMessages-1))
	if n := js[int](w, `document.querySelectorAll("#messages .message").length`); n > 400 {
		t.Errorf("%d messages are drawn", n)
	}
	started := time.Now()
	js[bool](w, `(async () => {
		const box = document.querySelector("#messages");
		while (!box.innerText.includes("number 150.")) {
			box.scrollTop = 0;
			await new Promise((r) => setTimeout(r, 5));
		}
		return true;
	})()`)
	testreport.Line("playground: %d messages of a channel of %d scrolled back in %s", longMessages-150, longMessages, time.Since(started).Round(10*time.Millisecond))
	if n := js[int](w, `document.querySelectorAll("#messages .message").length`); n > 400 {
		t.Errorf("%d messages are drawn after going back", n)
	}
	w.until("it says that these are old", `!document.querySelector("#present").hidden`)
	// What is read stays where it is while messages come in.
	w.until("nothing more is loaded", `document.querySelector("#messages").scrollTop > 600`)
	at := `(() => { const box = document.querySelector("#messages").getBoundingClientRect(); const m = [...document.querySelectorAll("#messages .message")].find((e) => e.getBoundingClientRect().top >= box.top); return m.id + " " + Math.round(m.getBoundingClientRect().top - box.top); })()`
	before := js[string](w, at)
	say(longMessages, longMessages+3)
	w.until("they are counted", `document.querySelector("#present").innerText.includes("3 new messages")`)
	if after := js[string](w, at); after != before {
		t.Errorf("while messages came in, %s became %s", before, after)
	}
	w.press("#present button", "")
	w.says(fmt.Sprintf("number %d.", longMessages+2))
	w.until("it is at the end", `document.querySelector("#present").hidden`)
	same := js[bool](w, `import("/store.js").then(({ state }) => {
		const held = state.messages.get(state.current).map((m) => m.id);
		const drawn = [...document.querySelectorAll("#messages > .slot")].map((s) => s.dataset.slot);
		return new Set(held).size === held.length && held.join() === drawn.join();
	})`)
	if !same {
		t.Error("what is drawn is not what is held")
	}
	// Home of a reply that is far away.
	js[bool](w, `import("/messages.js").then(({ jump }) => fetch("/api/history?person=`+person+`&channel=`+channel+`&before=1").then(() => {
		return import("/store.js").then(async ({ state }) => {
			let first = state.messages.get(state.current)[0].id;
			for (let i = 0; i < 8; i++) first = (await (await fetch("/api/history?person=`+person+`&channel=`+channel+`&before=" + first)).json()).messages[0].id;
			await jump(first);
			return true;
		});
	}))`)
	w.until("the old message has the focus", `document.activeElement.matches("#messages .message") && !document.querySelector("#present").hidden`)
}
