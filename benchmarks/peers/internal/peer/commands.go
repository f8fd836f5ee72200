package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// command is a line of the input: what to do, and until when.
type command struct {
	Do      string  `json:"do"`
	Until   int64   `json:"until"`
	Seconds float64 `json:"seconds"`
}

// facts are what a mark tells beside its name.
type facts map[string]any

type commands map[string]func(context.Context, command) (facts, error)

// serve says that all is ready, and obeys a line at a time until the input ends.
func serve(ctx context.Context, known commands) error {
	if err := mark("ready", facts{"versions": versions()}); err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var told command
		if err := json.Unmarshal(lines.Bytes(), &told); err != nil {
			return err
		}
		done, err := known[told.Do](ctx, told)
		if err != nil {
			return err
		}
		if err := mark("done", done); err != nil {
			return err
		}
	}
	return lines.Err()
}

func mark(name string, told facts) error {
	told["mark"] = name
	return json.NewEncoder(os.Stdout).Encode(told)
}

// versions tells what the program is made of.
func versions() map[string]string {
	found := map[string]string{"go": runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			switch module.Path {
			case "sigs.k8s.io/controller-runtime", "k8s.io/client-go":
				found[module.Path] = module.Version
			}
		}
	}
	return found
}

// timed reads again and again for so long, each time with the next number.
func timed(seconds float64, read func(number int) (int, error)) (facts, error) {
	until := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	count, objects := 0, 0
	for count == 0 || time.Now().Before(until) {
		got, err := read(count)
		if err != nil {
			return nil, err
		}
		count++
		objects += got
	}
	return facts{"count": count, "objects": objects}, nil
}
