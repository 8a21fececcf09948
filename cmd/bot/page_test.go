package main

import (
	"testing"
	"time"

	"github.com/parleybot/parley/internal/testreport"
)

// The page in a real browser, with the real bot behind it: what a newcomer does in the first two minutes.
func TestPage(t *testing.T) {
	browser := startChromium(t)
	started := time.Now()
	p := startPlayground(t)
	_, you := p.ids("general", "You")
	w := openTab(t, browser, p.url, you)
	w.press(".step", "Talk")
	w.says("rehearsal model")
	testreport.Line("playground: %s from its start to the first answer on the page, the page's load included", time.Since(started).Round(10*time.Millisecond))

	t.Run("tour", func(t *testing.T) { tourInBrowser(t, w) })
}

// tourInBrowser takes the whole tour; each step ticks when it has really happened.
func tourInBrowser(t *testing.T, w *tab) {
	ticked := func(step string) {
		t.Helper()
		w.until("the step "+step+" is ticked", `document.querySelector('[data-step="`+step+`"]').dataset.done === "true"`)
	}
	ticked("talk")
	for _, step := range []string{"tool", "memory", "approval", "deliberate", "kill"} {
		if js[bool](w, `document.querySelector('[data-step="`+step+`"]').dataset.done === "true"`) {
			t.Errorf("%s is ticked before it happened", step)
		}
		w.until("the step "+step+" can be pressed", `!document.querySelector('[data-step="`+step+`"]').disabled`)
		w.press(`[data-step="`+step+`"]`, "")
		if step == "approval" {
			w.says("Approval needed")
			if js[bool](w, `document.querySelector('[data-step="approval"]').dataset.done === "true"`) {
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
