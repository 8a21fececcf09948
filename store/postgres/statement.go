package postgres

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/postgres/queries"
)

// args are the values of a statement by name: they are written @name in its text.
type args = pgx.NamedArgs

// runner is the pool or a transaction.
type runner = queries.DBTX

// cleaned is a runner that cleans the values of the generated queries.
type cleaned struct{ on runner }

// Exec implements queries.DBTX.
func (c cleaned) Exec(ctx context.Context, text string, values ...any) (pgconn.CommandTag, error) {
	return c.on.Exec(ctx, text, cleanAll(values)...)
}

// Query implements queries.DBTX.
func (c cleaned) Query(ctx context.Context, text string, values ...any) (pgx.Rows, error) {
	return c.on.Query(ctx, text, cleanAll(values)...)
}

// QueryRow implements queries.DBTX.
func (c cleaned) QueryRow(ctx context.Context, text string, values ...any) pgx.Row {
	return c.on.QueryRow(ctx, text, cleanAll(values)...)
}

func cleanAll(values []any) []any {
	bound := make([]any, len(values))
	for i, value := range values {
		bound[i] = clean(value)
	}
	return bound
}

// transact runs do in one transaction: it is committed when do returns nil, and undone otherwise.
func (db *DB) transact(ctx context.Context, options pgx.TxOptions, do func(ask *queries.Queries, tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, db.pool, options, func(tx pgx.Tx) error { return do(queries.New(cleaned{tx}), tx) })
}

// bind is cleanAll for the statements that are written by hand. Whatever is stored or searched for passes one of the two.
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
		if value == nil {
			return nil
		}
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

// leftOut is the error of a statement that has written nothing since its member was erased; see the migration of erased().
func leftOut(written int64, err error) error {
	if err == nil && written == 0 {
		return store.ErrErased
	}
	return err
}

// moment is a time for a column that may be NULL: nil for the zero time.
func moment(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return &at
}

// most is a limit as the server takes it: not below none.
func most(limit int) int32 {
	return int32(min(max(limit, 0), math.MaxInt32)) //nolint:gosec // bounded
}

// each makes records of rows; nothing stays nil, as every engine answers for nothing.
func each[Row, Record any](rows []Row, record func(Row) Record) []Record {
	if len(rows) == 0 {
		return nil
	}
	records := make([]Record, len(rows))
	for i, row := range rows {
		records[i] = record(row)
	}
	return records
}

// instant gives the zero time for NULL, and UTC.
func instant(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}
