// Package playground serves a simulated Discord as a web page, with the real bot in it: people talk, run commands and
// press buttons in a browser, and an inspector beside the chat shows what each turn did. Everything is embedded and
// listens on loopback only.
//
// The page shows what [discordsim] has and does what its people can do; the playground adds no behaviour of its own.
//
//	playground.go  Config, Open, Run: the life of the whole
//	listen.go      the address, and the next one when it is taken
//	town.go        the guild, its channels and its people
//	feed.go        what has happened, numbered and bounded, for any number of pages
//	turns.go       the events of the newest turns, for the inspector; wirelog.go the newest requests to Discord
//	model.go       which model answers, and the change to another
//	tour.go        which steps of the tour have happened; faults.go what can go wrong on purpose
//	scenecopy.go   a turn as a scene file that reproduces it; script.go and scenewords.go help
//	stream.go      one page's live connection
//	snapshot.go    all that a page shows, at one moment
//	wire.go        messages as pages get them
//	actions.go     what a page may do; message_action.go and interaction_action.go do it
//	guard.go       who may ask
//	web/           the page: plain HTML, CSS and JavaScript modules, no build step. style.css names every colour and
//	               colour_test.go checks that they can be read; store.js holds what a page knows, messages.js draws it
package playground
