// Package migrations embeds the SQL that brings a database to the schema this binary knows: one folder per dialect,
// forward only, numbered. A file that was released is never changed; a change is a new file.
package migrations

import (
	"embed"
	"io/fs"
)

var (
	//go:embed sqlite/*.sql
	sqliteFiles embed.FS
	//go:embed postgres/*.sql
	postgresFiles embed.FS
)

// SQLite returns the migrations of the embedded store, as goose reads them.
func SQLite() fs.FS { return folder(sqliteFiles, "sqlite") }

// Postgres returns the migrations of PostgreSQL, as goose reads them.
func Postgres() fs.FS { return folder(postgresFiles, "postgres") }

// folder cuts one dialect's files out of an embedded tree. The folder is part of the binary, so its absence is a
// programmer's error.
func folder(files embed.FS, name string) fs.FS {
	sub, err := fs.Sub(files, name)
	if err != nil {
		panic("migrations: no folder " + name + ": " + err.Error())
	}
	return sub
}
