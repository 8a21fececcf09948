package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/parleybot/parley/store"
)

// statements prepares each SQL text once. The texts are constants of this package, so there are few.
type statements struct {
	prepare func(ctx context.Context, text string) (*sql.Stmt, error)
	known   sync.Map // SQL text to *sql.Stmt
}

func (s *statements) get(ctx context.Context, text string) (*sql.Stmt, error) {
	if known, ok := s.known.Load(text); ok {
		return known.(*sql.Stmt), nil
	}
	fresh, err := s.prepare(ctx, text)
	if err != nil {
		return nil, err
	}
	known, loaded := s.known.LoadOrStore(text, fresh)
	if loaded {
		return known.(*sql.Stmt), fresh.Close()
	}
	return fresh, nil
}

func (s *statements) close() error {
	var problems []error
	s.known.Range(func(text, known any) bool {
		s.known.Delete(text)
		problems = append(problems, known.(*sql.Stmt).Close())
		return true
	})
	return errors.Join(problems...)
}

// args are the values of a statement, in the order of its placeholders.
type args []any

// bind is the choke point: whatever is stored or searched for passes here and is cleaned.
func bind(values args) []any {
	bound := make([]any, len(values))
	for i, value := range values {
		bound[i] = clean(value)
	}
	return bound
}

func clean(value any) any {
	switch value := value.(type) {
	case sql.NamedArg:
		value.Value = clean(value.Value)
		return value
	case string:
		return store.Clean(value)
	case json.RawMessage:
		if value == nil {
			return nil
		}
		return string(store.CleanJSON(value))
	case time.Time:
		if value.IsZero() {
			return nil
		}
		return value.UnixMicro()
	default:
		if typed := reflect.ValueOf(value); typed.IsValid() && typed.Kind() == reflect.String {
			return store.Clean(typed.String())
		}
		return value
	}
}

// exec runs a statement and returns how many rows it changed.
func (s *statements) exec(ctx context.Context, text string, values args) (int64, error) {
	statement, err := s.get(ctx, text)
	if err != nil {
		return 0, err
	}
	result, err := statement.ExecContext(ctx, bind(values)...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// query runs a statement and calls scan for each of its rows.
func (s *statements) query(ctx context.Context, text string, values args, scan func(row) error) (err error) {
	statement, err := s.get(ctx, text)
	if err != nil {
		return err
	}
	rows, err := statement.QueryContext(ctx, bind(values)...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// leftOut is the error of a statement that has written nothing since its member was erased; see the triggers that the
// migrations make.
func leftOut(written int64, err error) error {
	if err == nil && written == 0 {
		return store.ErrErased
	}
	return err
}

// row is what a scan function may do with the current row.
type row interface{ Scan(targets ...any) error }

func noRow(row) error { return nil }

// instant reads a time column; NULL is the zero time.
type instant struct{ time.Time }

// Scan implements sql.Scanner.
func (i *instant) Scan(value any) error {
	switch value := value.(type) {
	case nil:
		i.Time = time.Time{}
	case int64:
		i.Time = time.UnixMicro(value).UTC()
	default:
		return fmt.Errorf("a time column holds a %T", value)
	}
	return nil
}
