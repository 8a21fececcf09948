// Package scene runs scenes: plain text files in which simulated people talk to the real bot, a scripted model answers,
// Discord fails on cue, and the author says what must be seen. docs/scenes.md tells the language.
//
//	lex.go, pattern.go        a line in tokens; the forms of steps and how they are matched
//	parse.go, cast.go         a file in steps; the names it may use
//	verb.go                   the table of verbs: the whole language
//	load.go, main.go          many scenes; the command
//	run.go, stage.go          one scene; all that belongs to its run
//	port.go, boot.go          what starts the bot; the bot's lives
//	setting.go, people.go     steps: the stage and the people
//	model_verbs.go            steps: the model and the bot's process
//	model.go, completion.go   the model's server and how it plays an answer
//	fault.go                  steps: what goes wrong at Discord
//	see.go, expect*.go        steps: what must be
//	never.go                  steps: what must never be
//	turnlog.go, botlog.go     what the bot tells of itself
//	watch.go, tape.go         what happens at Discord; the transcript
//	names.go, signal.go       names for ids; waking those who wait
package scene
