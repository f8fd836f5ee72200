package main

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// noOp does nothing and counts how often.
type noOp struct {
	mutex sync.Mutex
	news  *sync.Cond
	count int
}

func (r *noOp) Reconcile(context.Context, reconcile.Request) (reconcile.Result, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.count++
	r.news.Signal()
	return reconcile.Result{}, nil
}

func (r *noOp) waitFor(count int) facts {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for r.count < count {
		r.news.Wait()
	}
	return facts{"objects": r.count}
}

// reconcileAll serves the work with a controller: all objects once, and then again after each has changed.
func reconcileAll(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, objects, workers int) error {
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	reconciler := &noOp{}
	reconciler.news = sync.NewCond(&reconciler.mutex)
	err = ctrl.NewControllerManagedBy(manager).
		For(&Widget{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(reconciler)
	if err != nil {
		return err
	}
	return serve(ctx, commands{
		"sync": func(ctx context.Context, _ command) (facts, error) {
			go func() { must(manager.Start(ctx)) }()
			return reconciler.waitFor(objects), nil
		},
		"follow": func(context.Context, command) (facts, error) { return reconciler.waitFor(2 * objects), nil },
	})
}
