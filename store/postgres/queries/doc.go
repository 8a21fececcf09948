// Package queries is the SQL of package postgres whose text never changes: one file per aggregate, and the Go that sqlc
// writes from it. After a change run `make queries`. Every value must be cleaned before it comes here: package postgres
// hands in a connection that does so.
package queries
