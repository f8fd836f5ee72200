// Package peer is what the peers in Go share: the contract of a peer, and the custom resource of every peer.
package peer

import (
	"bufio"
	"context"
	"encoding/json"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// Command is a line of the input: what to do, and until when.
type Command struct {
	Do      string  `json:"do"`
	Until   int64   `json:"until"`
	Seconds float64 `json:"seconds"`
}

// Facts are what a mark tells beside its name.
type Facts map[string]any

// Commands are what is done for each, by name.
type Commands map[string]func(context.Context, Command) (Facts, error)

// Serve says that all is ready, and obeys a line at a time until the input ends.
func Serve(ctx context.Context, known Commands) error {
	if err := mark("ready", Facts{"versions": versions()}); err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var told Command
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

func mark(name string, told Facts) error {
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

// Timed reads again and again for so long, each time with the next number.
func Timed(seconds float64, read func(number int) (int, error)) (Facts, error) {
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
	return Facts{"count": count, "objects": objects}, nil
}

// Must ends the program when something failed.
func Must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
