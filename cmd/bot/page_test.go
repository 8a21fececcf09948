package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parleybot/parley/internal/testreport"
)

// The page in a real browser, with the real bot behind it: what a newcomer does in the first minutes, in one playground.
// The steps stand in one test since each needs what came before it, and a start of Chromium is slow.
func TestPage(t *testing.T) {
	browser := startChromium(t)
	started := time.Now()
	ollama, _ := fakeOllama(t, "llama-test")
	p := startPlayground(t, "-ollama", ollama)
	general, you := p.ids("general", "You")
	_, ada := p.ids("general", "Ada")
	w := openTab(t, browser, p.url, you)
	w.theme("dark")
	w.press(".step", "Talk")
	w.says("rehearsal model")
	testreport.Line("playground: %s from its start to the first answer on the page, the page's load included", time.Since(started).Round(10*time.Millisecond))
	mod := openTab(t, browser, p.url, ada)
	for _, c := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"tour", func(t *testing.T) { tourInBrowser(t, w) }},
		{"inspector", func(t *testing.T) { inspectorInBrowser(t, w) }},
		{"approval by the moderator", func(t *testing.T) { moderatorApproves(t, w, mod) }},
		{"kill", func(t *testing.T) { killByCommand(t, w) }},
		{"injection", func(t *testing.T) { injectionInBrowser(t, w, mod) }},
		{"two windows agree", func(t *testing.T) { windowsAgree(t, w, mod) }},
		{"reload", func(t *testing.T) { reloadKeepsState(t, w) }},
		{"faults", func(t *testing.T) { faultsInBrowser(t, w) }},
		{"model", func(t *testing.T) { modelInBrowser(t, w, mod) }},
		{"contrast", func(t *testing.T) { contrastInBrowser(t, w) }},
		{"keyboard", func(t *testing.T) { keyboardReachesAll(t, w) }},
		{"phone", func(t *testing.T) { phoneInBrowser(t, w) }},
		{"10,000 messages", func(t *testing.T) { manyMessages(t, p, w, mod, general, ada) }},
	} {
		t.Run(c.name, func(t *testing.T) { w.in(t); mod.in(t); c.run(t) })
	}
}

// tourInBrowser takes the whole tour; each step ticks when it has really happened.
func tourInBrowser(t *testing.T, w *tab) {
	ticked := func(step string) {
		t.Helper()
		w.until("the step "+step+" is ticked", `document.querySelector('[data-step="`+step+`"]').dataset.done === "true"`)
	}
	isTicked := func(step string) bool {
		return js[bool](w, `document.querySelector('[data-step="`+step+`"]').dataset.done === "true"`)
	}
	ticked("talk")
	for _, step := range []string{"tool", "memory", "approval", "deliberate", "kill"} {
		if isTicked(step) {
			t.Errorf("%s is ticked before it happened", step)
		}
		w.until("the step "+step+" can be pressed", `!document.querySelector('[data-step="`+step+`"]').disabled`)
		w.press(`[data-step="`+step+`"]`, "")
		if step == "approval" {
			w.says("Approval needed")
			if isTicked(step) {
				t.Error("the approval is ticked before anybody decided")
			}
			w.picture("approval-1280-dark")
			w.press("#messages .message button", "Approve")
		}
		ticked(step)
	}
	w.until("all is seen", `document.querySelector(".tour-head").innerText.includes("6 of 6")`)
	w.until("no step runs", `!document.querySelector(".step:disabled")`)
	w.picture("tour-1280-dark")
}

// inspectorInBrowser looks at what the tour's turns left: checks, windows, requests, and a turn copied as a scene.
func inspectorInBrowser(t *testing.T, w *tab) {
	w.press(".turn", "call create_long_term_memory")
	w.until("the refusal by the allowlist", `document.querySelector(".gates .refused")?.innerText.includes("allowlist")`)
	w.until("the plan", `document.querySelector(".detail").innerText.includes("Deliberate mode offers nothing")`)
	w.press(".turn", "remember that I took the tour")
	w.until("an opened window", `[...document.querySelectorAll(".windows tbody tr")].some((r) => r.innerText.includes("create_long_term_memory") && r.innerText.includes("closed") && r.innerText.includes("4 left"))`)
	w.until("what put it on the list", `document.querySelector(".allowed").innerText.includes("trigger “remember*”")`)
	w.until("two round trips with their tokens", `document.querySelectorAll(".iteration").length === 2 && document.querySelector(".iteration h4").innerText.includes(" out")`)
	w.press(".turn", "risky_note")
	w.until("who approved", `document.querySelector(".asked").innerText.match(/approved.*by You/s)`)
	w.press(".detail details summary", "Discord requests meanwhile")
	w.until("its requests", `document.querySelectorAll(".detail details.wire").length > 2`)
	w.picture("inspector-1280-dark")
	w.press(".detail button", "Copy as a scene")
	w.until("the scene", `document.querySelector("dialog.scene textarea").value.includes("You clicks Approve")`)
	w.picture("scene-1280-dark")
	w.press("dialog.scene button", "Close")
	w.press(".tab", "Requests")
	w.until("the log", `document.querySelectorAll(".wire-log .wire").length > 20`)
	w.picture("requests-1280-dark")
	w.press(".tab", "Turns")
	w.press(".strip label", "follow the newest")
}

// moderatorApproves: a member's call is approved by the moderator, in the moderator's own window.
func moderatorApproves(t *testing.T, w, mod *tab) {
	w.write(`@Parley call risky_note {"text":"for the moderator"}; then; say Ada agreed`)
	mod.says("for the moderator")
	mod.press("#messages .message button", "Approve")
	w.says("Ada agreed")
	w.until("the inspector says who decided", `document.querySelector(".asked")?.innerText.match(/approved.*by Ada/s)`)
	if !js[bool](w, `[...document.querySelectorAll("#messages .message")].some((m) => m.innerText.includes("Approved by @Ada"))`) {
		t.Error("the card does not say who approved")
	}
}

// killByCommand stops an answer that is being written by typing /kill.
func killByCommand(t *testing.T, w *tab) {
	w.write("@Parley slow 100ms; say alpha beta gamma delta epsilon zeta eta theta iota kappa lambda my ny xi omikron pi rho sigma tau upsilon phi chi psi omega")
	w.says("beta")
	w.write("/kill")
	w.until("the turn is stopped", `document.querySelector(".turn .badge").innerText === "stopped"`)
	w.says("Stopped by @You")
	if js[bool](w, `[...document.querySelectorAll("#messages .message")].pop().innerText.includes("omega")`) {
		t.Error("the answer went on to its end")
	}
}

// injectionInBrowser: nothing that people or models write becomes an element or a link that runs.
func injectionInBrowser(t *testing.T, w, mod *tab) {
	const evil = `<img src=x onerror="window.hit=1"><script>window.hit=1</script><b id=evil>bold</b> [press](javascript:window.hit=1) ` +
		`[x](data:text/html,<script>window.hit=1</script>) <a href="javascript:window.hit=1">here</a> javascript:window.hit=1 &lt;i&gt;`
	w.write(evil)
	w.says("window.hit=1")
	w.write("@Parley say " + strings.ReplaceAll(evil, ";", `\;`) + ` end of evil`)
	w.says("end of evil")
	w.write(`@Parley think ` + strings.ReplaceAll(evil, ";", `\;`) + `; call risky_` + `note {"text":"<img src=x onerror=window.hit=1> **b**"}; then; say <script>window.hit=1</script> over`)
	mod.until("the card", `[...document.querySelectorAll("#messages .message")].pop().innerText.includes("Deny with reason")`)
	mod.press("#messages .message button", "Deny")
	w.until("it is denied", `document.querySelector(".turn .badge").innerText === "denied"`)
	for _, tab := range []*tab{w, mod} {
		if js[bool](tab, `Boolean(window.hit) || Boolean(document.querySelector("#evil, #messages script, #inspector script, [onerror], #messages img[src='x'], #inspector img"))`) {
			t.Error("markup in a text became part of the page")
		}
		if bad := js[string](tab, `[...document.querySelectorAll("a[href]")].map((a) => a.href).filter((x) => !/^https?:/.test(x)).join(" ")`); bad != "" {
			t.Errorf("links that run: %s", bad)
		}
	}
	w.press(".tab", "Requests")
	js[bool](w, `(document.querySelectorAll(".wire-log details").forEach((d) => { d.open = true; }), true)`)
	w.until("the requests hold it as text", `document.querySelector(".wire-log").textContent.includes("window.hit=1")`)
	w.press(".tab", "Turns")
	if js[bool](w, `Boolean(window.hit) || Boolean(document.querySelector("#inspector script, #inspector img"))`) {
		t.Error("markup in a request became part of the page")
	}
}

// shownTexts is what a window shows of the current channel's messages that everybody sees.
const shownTexts = `[...document.querySelectorAll("#messages .message:not(.ephemeral)")].slice(-15).map((m) => m.id + " " + (m.querySelector(".markup")?.innerText || "")).join("\n")`

// windowsAgree: two people in one channel see the same, at once, and the same tour.
func windowsAgree(t *testing.T, w, mod *tab) {
	mod.write("a word from Ada 4711")
	w.says("a word from Ada 4711")
	w.write("and one from You 4712")
	mod.says("and one from You 4712")
	one, two := js[string](w, shownTexts), js[string](mod, shownTexts)
	if one != two || one == "" {
		t.Errorf("one window shows\n%s\nthe other\n%s", one, two)
	}
	mod.until("the tour is the same", `document.querySelector(".tour-head").innerText.includes("6 of 6")`)
	mod.until("the turns are the same", `document.querySelectorAll(".turn:not(.decision)").length >= 8`)
}

// reloadKeepsState: person, channel, colours, panels and what was done are there again.
func reloadKeepsState(t *testing.T, w *tab) {
	w.theme("light")
	w.press(".channel", "random")
	w.until("the channel", `document.querySelector("h1").innerText === "random"`)
	w.press(".tab", "Faults")
	w.press(".tour-toggle", "")
	w.until("the tour is folded", `!document.querySelector(".step")`)
	w.run("reload", chromedp.Reload())
	w.until("all is as it was", `document.querySelector("h1")?.innerText === "random" && document.documentElement.dataset.theme === "light" &&
		document.querySelector("#tab-faults")?.getAttribute("aria-selected") === "true" && !document.querySelector(".step") &&
		document.querySelector(".tour-head")?.innerText.includes("6 of 6") && location.hash.includes("person=")`)
	w.press(".tour-toggle", "")
	w.press(".tab", "Turns")
	w.press(".channel", "general")
	w.says("4712")
	w.until("its turns are there again", `document.querySelectorAll(".turn:not(.decision)").length >= 8`)
	w.picture("reloaded-1280-light")
}

// faultsInBrowser uses the menu; what goes wrong is seen. The rest of the menu is tried without a browser.
func faultsInBrowser(t *testing.T, w *tab) {
	w.press(".tab", "Faults")
	w.picture("faults-1280-light")
	w.press(".fault button", "429")
	w.says("this is the second")
	w.press(".fault button", "Cut arguments")
	w.says("nothing was executed")
	w.press(".tab", "Turns")
	w.until("the gate that refused", `document.querySelector(".gates .refused")?.innerText.includes("arguments whole")`)
	w.press(".tab", "Requests")
	w.until("the refused try", `[...document.querySelectorAll(".wire-log .wire")].some((x) => x.innerText.includes("429") && x.innerText.includes("fault"))`)
	w.press(".tab", "Turns")
	if js[int](w, `document.querySelectorAll(".fault").length`) != 5 {
		t.Error("the fault menu is not whole")
	}
}

// modelInBrowser chooses another model on the page; both windows say who answers, and the tour waits for the built-in one.
func modelInBrowser(t *testing.T, w, mod *tab) {
	w.until("another model is offered", `document.querySelector(".model-bar").innerText.includes("others are here to choose")`)
	js[bool](w, `(() => { const s = document.querySelector("#model-choice"); s.value = "ollama:llama-test"; s.dispatchEvent(new Event("change")); return true; })()`)
	for _, tab := range []*tab{w, mod} {
		tab.until("the page says who answers", `document.querySelector(".answers").innerText === "llama-test answers" && document.querySelector("#model-choice").value === "ollama:llama-test"`)
		tab.until("the tour waits", `document.querySelector('[data-step="talk"]').disabled && document.querySelector(".look").innerText.includes("played by the built-in model")`)
	}
	w.write("@Parley who are you?")
	mod.says("I am llama-test.")
	w.until("its turn names it", `document.querySelector(".detail dl").innerText.includes("llama-test")`)
	w.press("#tour .linklike", "Use the built-in one")
	w.until("the built-in one is back", `document.querySelector(".answers").innerText.includes("rehearsal answers") && !document.querySelector('[data-step="talk"]').disabled`)
}

// contrastInBrowser computes the contrast of every text on the page as it is drawn, in both themes and all panels.
func contrastInBrowser(t *testing.T, w *tab) {
	for _, theme := range []string{"light", "dark"} {
		w.theme(theme)
		for _, panel := range []string{"Requests", "Faults", "Turns"} {
			w.press(".tab", panel)
			if bad := js[[]string](w, contrastScript); len(bad) > 0 {
				t.Errorf("%s, %s: texts that are hard to read:\n%s", theme, panel, strings.Join(bad, "\n"))
			}
		}
	}
}

// contrastScript lists the visible texts whose contrast with what is behind them is below WCAG's level AA.
const contrastScript = `(() => {
	const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
	const lum = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
	const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
	const behind = (e) => {
		const layers = [];
		for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] > 0) layers.push(c); if (c[3] === 1) break; }
		return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
	};
	const bad = new Set();
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || !e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || e.closest(":disabled, .unseen, noscript, script")) continue;
		const s = getComputedStyle(e), back = behind(e), fore = over(parse(s.color), back);
		const [a, b] = [lum(fore), lum(back)].sort((x, y) => y - x), ratio = (a + .05) / (b + .05);
		const size = parseFloat(s.fontSize), large = size >= 24 || (size >= 18.66 && Number(s.fontWeight) >= 700);
		if (ratio < (large ? 3 : 4.5)) bad.add(ratio.toFixed(2) + " " + e.tagName + "." + e.className + ": " + walk.currentNode.data.trim().slice(0, 40));
	}
	return [...bad];
})()`

// keyboardReachesAll walks the page with Tab: every control is reached, and where the focus is can be seen.
func keyboardReachesAll(t *testing.T, w *tab) {
	const controls = `[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter((e) =>
		e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true }) && !e.closest("[inert]"))`
	all := js[int](w, `(window.walked = new Set(), window.dim = new Set(), document.activeElement?.blur(), `+controls+`.length)`)
	steps := 3*all + 60 // of a list of messages the one that was in focus last is a stop
	for range steps {
		w.run("Tab", chromedp.KeyEvent(kb.Tab))
		js[bool](w, `(() => {
			const e = document.activeElement;
			if (!e || e === document.body) return true;
			walked.add(e);
			const s = getComputedStyle(e), wrap = e.closest("#composer .box, .field-box, .composer") || e.parentElement;
			const ringed = (x) => { const c = getComputedStyle(x); return c.outlineStyle !== "none" && parseFloat(c.outlineWidth) >= 1; };
			const field = e.matches("textarea, input, select") && [e, wrap, wrap?.parentElement].some((x) => x && getComputedStyle(x).borderColor === getComputedStyle(document.documentElement).getPropertyValue("--focus"));
			if (!ringed(e) && !field && ![wrap, wrap?.parentElement].some((x) => x && (ringed(x) || x.matches(":focus-within") && getComputedStyle(x).boxShadow !== "none" || x.matches("#composer *")))) {
				dim.add(e.tagName + "." + e.className + " " + (e.getAttribute("aria-label") || e.textContent).slice(0, 30));
			}
			return true;
		})()`)
		if js[bool](w, controls+`.every((e) => walked.has(e) || e.matches(".message, .toolbar *, #present *"))`) {
			break
		}
	}
	// A message's tools are there while it is in focus, and the way to the present while it is out of sight.
	missed := js[[]string](w, controls+`.filter((e) => !walked.has(e) && !e.matches(".message, .toolbar *, #present *")).map((e) => e.tagName + "." + e.className + " " + (e.getAttribute("aria-label") || e.textContent).slice(0, 40))`)
	if len(missed) > 0 {
		t.Errorf("Tab does not reach (of %d, in %d steps):\n%s", all, steps, strings.Join(missed, "\n"))
	}
	if !js[bool](w, `[...walked].some((e) => e.matches(".toolbar *"))`) {
		t.Error("Tab does not reach the tools of a message")
	}
	if dim := js[[]string](w, `[...dim]`); len(dim) > 0 {
		t.Errorf("the focus cannot be seen on:\n%s", strings.Join(dim, "\n"))
	}
}

// phoneInBrowser: at 390 px nothing has to be scrolled sideways, with and without the drawers.
func phoneInBrowser(t *testing.T, w *tab) {
	w.size(390, 844)
	wide := func(what string) {
		t.Helper()
		if bad := js[[]string](w, `(() => {
			const out = [];
			if (document.documentElement.scrollWidth > innerWidth) out.push("the page is " + document.documentElement.scrollWidth + " px wide");
			for (const e of document.querySelectorAll("#chat, #messages, #inspector, #sidebar, .detail, .turns, .wire-log, .panel, #tour")) {
				if (e.checkVisibility() && e.scrollWidth > e.clientWidth + 1) out.push((e.id || e.className) + " scrolls sideways: " + e.scrollWidth + " in " + e.clientWidth);
			}
			return out;
		})()`); len(bad) > 0 {
			t.Errorf("%s: %s", what, strings.Join(bad, "; "))
		}
	}
	if js[bool](w, `document.querySelector("#present").checkVisibility()`) {
		w.press("#present button", "")
		w.until("the newest is in sight", `!document.querySelector("#present").checkVisibility()`)
	}
	for _, theme := range []string{"dark", "light"} {
		w.theme(theme)
		wide("the chat")
		w.picture("chat-390-" + theme)
		w.press("#tools button[aria-controls=inspector]", "")
		for _, panel := range []string{"Requests", "Faults", "Turns"} {
			w.press(".tab", panel)
			wide("the inspector, " + panel)
		}
		w.picture("inspector-390-" + theme)
		w.press("#inspector header button[aria-label='Close the inspector']", "")
		w.press("#chat-header button[aria-controls=sidebar]", "")
		wide("the sidebar")
		w.picture("sidebar-390-" + theme)
		w.run("close the drawer", chromedp.KeyEvent(kb.Escape))
		w.until("the drawer is closed", `!document.body.classList.contains("sidebar-open")`)
	}
	w.size(1280, 800)
}

// manyMessages: a channel with 10,000 messages opens quickly, and is quick to write and to look back in.
func manyMessages(t *testing.T, p *played, w, mod *tab, channel, person string) {
	const count, writers = 10_000, 4
	mod.run("leave", chromedp.Navigate("about:blank"))
	w.run("leave", chromedp.Navigate("about:blank"))
	began := time.Now()
	var wg sync.WaitGroup
	failed := make(chan string, writers)
	for n := range writers {
		wg.Go(func() {
			for i := range count / writers {
				status, text := p.try("say", map[string]any{"person": person, "channel": channel, "text": fmt.Sprintf("message %d of writer %d", i, n)})
				if status != http.StatusOK {
					failed <- text
					return
				}
			}
		})
	}
	wg.Wait()
	select {
	case text := <-failed:
		t.Fatalf("writing: %s", text)
	default:
	}
	filled := time.Since(began)
	began = time.Now()
	w.run("come back", chromedp.Navigate(p.url+"#channel="+channel))
	w.says(fmt.Sprintf("message %d of writer", count/writers-1))
	opened := time.Since(began)
	began = time.Now()
	w.write("still here?")
	w.says("still here?")
	sent := time.Since(began)
	before := js[int](w, `document.querySelectorAll("#messages .message").length`)
	began = time.Now()
	js[bool](w, `(document.querySelector("#messages").scrollTop = 0, true)`)
	w.until("older ones are loaded", fmt.Sprintf(`document.querySelectorAll("#messages .message").length > %d`, before))
	older := time.Since(began)
	nodes := js[int](w, `document.querySelectorAll("*").length`)
	testreport.Line("playground: %d messages written in %s; the channel then opens in %s, a message is sent and seen in %s, older ones are there after %s; %d elements on the page",
		count, filled.Round(time.Millisecond), opened.Round(time.Millisecond), sent.Round(time.Millisecond), older.Round(time.Millisecond), nodes)
	if opened > 10*time.Second || sent > 5*time.Second || older > 5*time.Second || nodes > 30_000 {
		t.Errorf("with %d messages: %s to open, %s to send, %s to look back, %d elements", count, opened, sent, older, nodes)
	}
	w.picture("10000-1280-light")
}
