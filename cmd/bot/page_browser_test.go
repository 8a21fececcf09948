package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/parleybot/parley/internal/testreport"
)

// stepWithin is how long the page may take to show what a test waits for.
const stepWithin = 20 * time.Second

// chromium is the browser of this machine. Without one the test is skipped, aloud; CI accepts no such skip.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	const text = "no Chromium (Debian's package chromium, or CHROMIUM=path): the playground's page was not tried in a browser"
	if os.Getenv("REQUIRE_SERVICES") == "1" {
		t.Fatal(text)
	}
	testreport.Line("SKIPPED: %s", text)
	t.Skip(text)
	return ""
}

// startChromium gives a context in which tabs can be opened. The browser ends with the test.
func startChromium(t *testing.T) context.Context {
	t.Helper()
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(t.TempDir())}
	for name, value := range map[string]any{
		"headless": "new", "no-sandbox": true, "disable-gpu": true, "disable-quic": true, "no-first-run": true, "disable-background-networking": true,
		"disable-component-update": true, "disable-sync": true, "disable-extensions": true, "disable-dev-shm-usage": true, "mute-audio": true,
		"force-color-profile": "srgb", "hide-scrollbars": true, "disable-background-timer-throttling": true,
		"disable-backgrounding-occluded-windows": true, "disable-renderer-backgrounding": true, "force-prefers-color-scheme": "dark",
	} {
		options = append(options, chromedp.Flag(name, value))
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	browser, leave := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		if err := chromedp.Cancel(browser); err != nil {
			t.Logf("closing Chromium: %v", err)
		}
		leave()
		stop()
	})
	if err := chromedp.Run(browser); err != nil {
		t.Fatalf("starting Chromium: %v", err)
	}
	return browser
}

// tab is one window on the playground. What the page logs as an error, or asks of another server, fails the test.
type tab struct {
	t    *testing.T
	ctx  context.Context //nolint:containedctx // the tab's own
	mu   sync.Mutex
	said []string
}

// openTab opens the page as somebody in a window of its own, 1280 by 800 and dark.
func openTab(t *testing.T, browser context.Context, url, person string) *tab {
	t.Helper()
	// A window, so that none is a tab hidden behind another: those draw nothing.
	id, err := target.CreateTarget("about:blank").WithNewWindow(true).Do(cdp.WithExecutor(browser, chromedp.FromContext(browser).Browser))
	if err != nil {
		t.Fatalf("opening a window: %v", err)
	}
	ctx, leave := chromedp.NewContext(browser, chromedp.WithTargetID(id))
	w := &tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(ev any) {
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			w.note("exception: " + e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError && !strings.Contains(e.Entry.Text, "the server responded with a status of 4") { // refusals are part of the play
				w.note("log: " + e.Entry.Text)
			}
		case *network.EventRequestWillBeSent:
			if u := e.Request.URL; !strings.HasPrefix(u, url) && !strings.HasPrefix(u, "blob:") && !strings.HasPrefix(u, "data:") {
				w.note("it asked for " + u)
			}
		}
	})
	t.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, s := range w.said {
			t.Errorf("the page of %s: %s", person, s)
		}
		leave()
	})
	if err := chromedp.Run(ctx); err != nil { // by itself: the window lives as long as the context that opens it
		t.Fatalf("opening a window: %v", err)
	}
	w.run("open the page", network.Enable(), log.Enable(), emulation.SetFocusEmulationEnabled(true), emulation.SetDeviceMetricsOverride(1280, 800, 1, false), chromedp.Navigate(url+"#person="+person))
	w.until("the page is there", `document.querySelector("#composer textarea") && document.querySelector(".step")`)
	return w
}

// in gives the tab to a subtest.
func (w *tab) in(t *testing.T) {
	outer := w.t
	w.t = t
	t.Cleanup(func() { w.t = outer })
}

func (w *tab) note(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, text)
}

func (w *tab) run(what string, actions ...chromedp.Action) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, stepWithin)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

// js evaluates an expression; a promise is waited for.
func js[T any](w *tab, expression string) (out T) {
	w.t.Helper()
	w.run(expression, chromedp.Evaluate(expression, &out, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return out
}

// until waits for a condition of the page. It looks again when something has changed in it, at most once every 50 ms so
// that the looking is no load, and never sleeps.
func (w *tab) until(what, condition string) {
	w.t.Helper()
	ok := js[bool](w, fmt.Sprintf(`new Promise((resolve) => {
		const ok = () => { try { return Boolean(%s); } catch { return false; } };
		if (ok()) return resolve(true);
		const end = (v) => { o.disconnect(); clearInterval(timer); clearTimeout(late); resolve(v); };
		let changed = true, rounds = 0;
		const o = new MutationObserver(() => { changed = true; });
		o.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
		// Some things change without the document, so now and then it looks anyway.
		const timer = setInterval(() => { if (changed || ++rounds %% 4 === 0) { changed = false; if (ok()) end(true); } }, 50);
		const late = setTimeout(() => end(ok()), 15000);
	})`, condition))
	if !ok {
		w.picture("failed")
		w.t.Fatalf("%s: never true: %s\nthe page:\n%s", what, condition, js[string](w, `document.body.innerText.slice(0, 4000)`))
	}
}

// press clicks the last visible element that a selector finds and whose text is part or, if there is none, contains it.
func (w *tab) press(selector, part string) {
	w.t.Helper()
	find := fmt.Sprintf(`((all) => all.filter((e) => e.textContent.trim() === %[2]q).pop() || all.pop())(
		[...document.querySelectorAll(%[1]q)].filter((e) => e.checkVisibility() && !e.disabled && e.textContent.includes(%[2]q)))`, selector, part)
	w.until("there is "+selector+" "+part, find)
	js[bool](w, "("+find+".click(), true)")
}

// size makes the window so large.
func (w *tab) size(width, height int64) {
	w.t.Helper()
	w.run("resize", emulation.SetDeviceMetricsOverride(width, height, 1, width < 600))
	w.until("the size", fmt.Sprintf(`innerWidth === %d`, width))
}

// picture writes what the window shows into the test's artifacts.
func (w *tab) picture(name string) {
	w.t.Helper()
	var png []byte
	ctx, cancel := context.WithTimeout(w.ctx, stepWithin)
	defer cancel()
	if err := chromedp.Run(ctx, chromedp.CaptureScreenshot(&png)); err != nil {
		w.t.Errorf("taking the picture %s: %v", name, err)
		return
	}
	if err := os.WriteFile(filepath.Join(w.t.ArtifactDir(), name+".png"), png, 0o600); err != nil {
		w.t.Error(err)
	}
}

// theme changes to dark or light.
func (w *tab) theme(name string) {
	w.t.Helper()
	if js[string](w, `document.documentElement.dataset.theme`) != name {
		w.press("#tools button[aria-label='Use "+name+" colours']", "")
		w.until("the theme", fmt.Sprintf(`document.documentElement.dataset.theme === %q`, name))
	}
}

// write types a message into the composer and sends it with Enter, as a person does.
func (w *tab) write(text string) {
	w.t.Helper()
	w.run("write", chromedp.Focus("#composer textarea", chromedp.ByQuery))
	js[bool](w, fmt.Sprintf(`(() => { const f = document.querySelector("#composer textarea"); f.value = %q; f.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`, text))
	w.enter()
}

// enter presses Enter as a keyboard does: a page that prevents the key gets no line break after it.
func (w *tab) enter() {
	w.t.Helper()
	key := func(kind input.KeyType) *input.DispatchKeyEventParams {
		return input.DispatchKeyEvent(kind).WithKey("Enter").WithCode("Enter").WithWindowsVirtualKeyCode(13)
	}
	w.run("press Enter", key(input.KeyDown).WithText("\r"), key(input.KeyUp))
}

// says waits for a message whose text contains part.
func (w *tab) says(part string) {
	w.t.Helper()
	w.until("a message says "+part, fmt.Sprintf(`[...document.querySelectorAll("#messages .message")].some((m) => m.textContent.includes(%q))`, part))
}
