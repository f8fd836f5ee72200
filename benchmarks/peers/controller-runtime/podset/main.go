// A peer of pyctrl's benchmarks: the PodSet operator on controller-runtime, with its defaults. KUBECONFIG has the cluster.
package main

import (
	"context"
	"flag"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"peers/internal/peer"
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
	peer.Must(unix.ClockGettime(unix.CLOCK_MONOTONIC, &now))
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
	scheme := runtime.NewScheme()
	peer.Must(clientgoscheme.AddToScheme(scheme))
	peer.Must(addToScheme(scheme))
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	peer.Must(err)
	arrived := &arrivals{last: map[string]string{}, latencies: []int64{}}
	reconciler := &PodSetReconciler{Client: manager.GetClient(), scheme: scheme, arrived: arrived}
	peer.Must(reconciler.setUp(manager, *workers))
	peer.Must(serve(manager, arrived))
}

// serve obeys a line at a time until the input ends.
func serve(manager ctrl.Manager, arrived *arrivals) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	return peer.Serve(ctx, peer.Commands{
		"start": func(ctx context.Context, _ peer.Command) (peer.Facts, error) {
			go func() { peer.Must(manager.Start(ctx)) }()
			manager.GetCache().WaitForCacheSync(ctx)
			return peer.Facts{}, nil
		},
		"latencies": func(context.Context, peer.Command) (peer.Facts, error) {
			return peer.Facts{"nanoseconds": arrived.take()}, nil
		},
	})
}
