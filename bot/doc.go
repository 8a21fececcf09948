// Package bot is the Discord edge: it keeps the gateway connection alive, turns Discord's events into inbounds, shows
// turns in channels, and answers slash commands, buttons and modals. It alone knows Discord's library, and it uses that
// library for the gateway only: the library's REST half hides rate-limit waits, answers and its own retries, so requests
// go through this package's sender and limiter over net/http.
//
// Everything that a turn needs from here is declared by package turn; [Bot] implements turn.Edge. What this package needs
// from turns is [Turns].
package bot
