package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/parleybot/parley/store"
)

const lockName = "parley.lock"

// errHeld is what tryLock answers when another process (or another store in this one) has the lock.
var errHeld = errors.New("held by another process")

// lock keeps a second process out of a data folder. The operating system drops it when the process ends, however it
// ends; the file itself stays, since removing it would let two processes hold two different files of one name.
type lock struct{ file *os.File }

// acquire locks the folder or says who has it.
func acquire(dir string) (*lock, error) {
	path := filepath.Join(dir, lockName)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the data folder %s: %w; make the file writable for the user that runs Parley", path, err)
	}
	if err := tryLock(file); err != nil {
		defer func() { _ = file.Close() }() // nothing was written
		if !errors.Is(err, errHeld) {
			return nil, fmt.Errorf("lock the data folder with %s: %w", path, err)
		}
		return nil, fmt.Errorf("the data folder %s is in use by another Parley%s; stop that one, or give this one its own folder in DATA_DIR: %w",
			dir, holder(path), store.ErrUnavailable)
	}
	// The number is only for the message above; a lock without it is as good.
	if err := file.Truncate(0); err == nil {
		_, _ = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return &lock{file: file}, nil
}

// holder reads who has the lock, for people.
func holder(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}

// release unlocks before it closes: a child process that is just being started shares the open file until it has become
// another program, and closing alone would leave the folder locked that long.
func (l *lock) release() error { return errors.Join(unlock(l.file), l.file.Close()) }
