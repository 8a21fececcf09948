// Package layout holds the tests that keep the import table: who may import whom, which library is known to which
// package, and how packages may be named. There is no code to import here.
package layout
