// Package discordspec holds REST exchanges with the simulator against Discord's published API description: every request
// of the bot and every answer of the simulator. It is for tests only, and says so when the description, which is no part
// of this repository, is not there.
//
//	description.go   the OpenAPI document: found, loaded once per process, its schemas compiled once each
//	validator.go     Validator: one exchange against its operation
//	difference.go    where Discord is known to take or give something else than it describes
package discordspec
