// Package discordsim is a Discord server: it speaks the real gateway protocol and the REST routes that a bot uses, over
// loopback, for the playground, for scenes and for tests. A bot is pointed at it by its HTTP transport's host alone.
//
// A [Server] serves a [World]. Fixtures fill the world ([World.AddGuild], [World.AddChannel], ...), a [Person] acts in
// it (Say, Edit, Slash, Click, ...), and what happens is read through a [View], waited for with [World.Wait], or followed
// line by line with [World.Follow]. Nothing needs to sleep or poll.
//
// Where Discord is not consistent, the simulator takes the strict way, so that what passes here passes there.
//
// The files:
//
//	server.go               Config, Server, listening and closing
//	world.go                the state and its one lock; Wait and Look
//	fixture.go              guilds, roles, channels, members, emojis, stickers
//	id.go, permission.go    snowflakes; permission bits and how overwrites combine
//	message.go, mention.go  posting, editing, deleting, reacting; whom a message pings
//	attachment.go           files and the CDN that serves them
//	person.go               what people do: messages, reactions, threads
//	person_interaction.go   what people do: slash commands, clicks, modals
//	option.go               a command's options, checked and resolved
//	interaction.go          an interaction's life
//	command.go              registered application commands
//	gateway.go              one WebSocket connection
//	session.go              identify, resume and replay; sending events
//	gateway_fault.go        drops, zombies, op 7, op 9, close codes, events sent twice
//	intents.go              which events a session gets
//	rest.go                 what every REST request goes through
//	rest_*.go               the routes by family, bodies and errors
//	form_message.go         what Discord refuses in a message; component.go, select.go and url.go the same for its parts
//	refusal.go              what people are refused, in Discord's words
//	fault.go, ratelimit.go  REST faults on demand; 429
//	journal.go, view.go     what is recorded, and how it is read; info.go what a client shows of the world
//	wire_*.go               the JSON, one file per family
package discordsim
