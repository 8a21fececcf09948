package scene

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// Ending is what scene files are called.
const Ending = ".scene"

// Load reads scene files, and all of a folder's. All mistakes are returned at once.
func Load(paths ...string) ([]*Scene, error) {
	var scenes []*Scene
	var problems []error
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			problems = append(problems, err)
		}
		for _, f := range files {
			sc, err := loadFile(f)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			scenes = append(scenes, sc)
		}
	}
	return scenes, errors.Join(problems...)
}

func loadFile(path string) (*Scene, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the scene: %w", err)
	}
	return Parse(path, string(text))
}

func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("finding scenes: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(p) == Ending {
			files = append(files, p)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("finding scenes: no %s file in %s", Ending, path)
	}
	slices.Sort(files)
	return files, err
}

// beside is how many scenes run at once at least: they mostly wait.
const beside = 8

// RunAll plays scenes, a few at once, and tells each result in the order of the scenes, as soon as its turn has come.
func RunAll(ctx context.Context, scenes []*Scene, o Options, told func(Result)) {
	next := make(chan int)
	results := make([]chan Result, len(scenes))
	for i := range results {
		results[i] = make(chan Result, 1)
	}
	var players sync.WaitGroup
	for range min(len(scenes), max(beside, runtime.GOMAXPROCS(0))) {
		players.Go(func() {
			for i := range next {
				results[i] <- Run(ctx, scenes[i], o)
			}
		})
	}
	players.Go(func() {
		defer close(next)
		for i := range scenes {
			next <- i
		}
	})
	for _, r := range results {
		told(<-r)
	}
	players.Wait()
}
