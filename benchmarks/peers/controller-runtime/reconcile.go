package main

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"peers/internal/peer"
)

// noOp does nothing and counts how often.
type noOp struct{ *peer.Seen }

func (r noOp) Reconcile(context.Context, reconcile.Request) (reconcile.Result, error) {
	r.Count()
	return reconcile.Result{}, nil
}

// reconcileAll serves the work with a controller: all objects once, and then again after each has changed.
func reconcileAll(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, told peer.Options) error {
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	reconciler := noOp{peer.NewSeen()}
	err = ctrl.NewControllerManagedBy(manager).
		For(&peer.Widget{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: told.Workers}).
		Complete(reconciler)
	if err != nil {
		return err
	}
	return peer.Serve(ctx, peer.Commands{
		"sync": func(ctx context.Context, _ peer.Command) (peer.Facts, error) {
			go func() { peer.Must(manager.Start(ctx)) }()
			return reconciler.WaitForCount(told.Objects), nil
		},
		"follow": func(context.Context, peer.Command) (peer.Facts, error) {
			return reconciler.WaitForCount(2 * told.Objects), nil
		},
	})
}
