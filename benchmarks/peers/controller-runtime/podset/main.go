// A peer of pyctrl's benchmarks: the PodSet operator on controller-runtime, with its defaults. KUBECONFIG has the cluster.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// stamp is the annotation with the monotonic nanoseconds of a write.
const stamp = "benchmarks/written"

// arrivals are the nanoseconds from writes to the first reconcile that saw them.
type arrivals struct {
	mutex     sync.Mutex
	last      map[string]string
	latencies []int64
}

func (a *arrivals) note(podset *PodSet) {
	written, ok := podset.Annotations[stamp]
	if !ok {
		return
	}
	var now unix.Timespec
	must(unix.ClockGettime(unix.CLOCK_MONOTONIC, &now))
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.last[podset.Name] == written {
		return
	}
	a.last[podset.Name] = written
	nanoseconds, _ := strconv.ParseInt(written, 10, 64)
	a.latencies = append(a.latencies, now.Nano()-nanoseconds)
}

// take returns what was noted since it was called last.
func (a *arrivals) take() []int64 {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	taken := a.latencies
	a.latencies = []int64{}
	return taken
}

func main() {
	workers := flag.Int("workers", 1, "MaxConcurrentReconciles")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	scheme := apiruntime.NewScheme()
	must(clientgoscheme.AddToScheme(scheme))
	must(addToScheme(scheme))
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	must(err)
	arrived := &arrivals{last: map[string]string{}, latencies: []int64{}}
	reconciler := &PodSetReconciler{Client: manager.GetClient(), scheme: scheme, arrived: arrived}
	must(reconciler.setUp(manager, *workers))
	serve(manager, arrived)
}

// serve obeys a line at a time until the input ends.
func serve(manager ctrl.Manager, arrived *arrivals) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	mark("ready", map[string]any{"versions": versions()})
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var told struct{ Do string }
		must(json.Unmarshal(lines.Bytes(), &told))
		switch told.Do {
		case "start":
			go func() { must(manager.Start(ctx)) }()
			manager.GetCache().WaitForCacheSync(ctx)
			mark("done", map[string]any{})
		case "latencies":
			mark("done", map[string]any{"nanoseconds": arrived.take()})
		}
	}
}

func mark(name string, told map[string]any) {
	told["mark"] = name
	must(json.NewEncoder(os.Stdout).Encode(told))
}

func versions() map[string]string {
	found := map[string]string{"go": runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "sigs.k8s.io/controller-runtime" {
				found[module.Path] = module.Version
			}
		}
	}
	return found
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
