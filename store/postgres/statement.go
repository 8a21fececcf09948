package postgres

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/parleybot/parley/store"
)

// args are the values of a statement by name: they are written @name in its text.
type args = pgx.NamedArgs

// runner is the pool or a transaction.
type runner interface {
	Exec(ctx context.Context, text string, values ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, text string, values ...any) (pgx.Rows, error)
}

// bind is the choke point: whatever is stored or searched for passes here and is cleaned.
func bind(values args) args {
	bound := make(args, len(values))
	for name, value := range values {
		bound[name] = clean(value)
	}
	return bound
}

func clean(value any) any {
	switch value := value.(type) {
	case string:
		return store.Clean(value)
	case []string:
		cleaned := make([]string, len(value))
		for i, text := range value {
			cleaned[i] = store.Clean(text)
		}
		return cleaned
	case json.RawMessage:
		if value == nil {
			return nil
		}
		return string(store.CleanJSON(value))
	case time.Time:
		if value.IsZero() {
			return nil
		}
		return value.UTC()
	default:
		if typed := reflect.ValueOf(value); typed.IsValid() && typed.Kind() == reflect.String {
			return store.Clean(typed.String())
		}
		return value
	}
}

// exec runs a statement and returns how many rows it changed.
func exec(ctx context.Context, on runner, text string, values args) (int64, error) {
	tag, err := on.Exec(ctx, text, bind(values))
	return tag.RowsAffected(), err
}

// query runs a statement and reads all of its rows.
func query[T any](ctx context.Context, on runner, text string, values args, read pgx.RowToFunc[T]) ([]T, error) {
	rows, err := on.Query(ctx, text, bind(values))
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(rows, read)
	if len(all) == 0 {
		return nil, err // as every engine answers for nothing
	}
	return all, err
}

// instant gives the zero time for NULL, and UTC.
func instant(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}
