package main

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"peers/internal/peer"
)

// readAll serves the work with the cache: one informer with one handler, as a controller has it.
func readAll(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, object client.Object, withIndex bool) error {
	objects, err := cache.New(config, cache.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	watched := peer.NewSeen()
	var registered toolscache.ResourceEventHandlerRegistration
	sync := func(ctx context.Context, _ peer.Command) (peer.Facts, error) {
		if withIndex {
			pool := func(object client.Object) []string { return []string{object.(*peer.Widget).Spec.Pool} }
			if err := objects.IndexField(ctx, &peer.Widget{}, "spec.pool", pool); err != nil {
				return nil, err
			}
		}
		informer, err := objects.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, err
		}
		registered, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { watched.Take(object.(client.Object), 1) },
			UpdateFunc: func(_, object any) { watched.Take(object.(client.Object), 0) },
		})
		if err != nil {
			return nil, err
		}
		go func() { peer.Must(objects.Start(ctx)) }()
		toolscache.WaitForCacheSync(ctx.Done(), registered.HasSynced)
		return watched.WaitForVersion(0), nil
	}
	follow := func(_ context.Context, told peer.Command) (peer.Facts, error) {
		return watched.WaitForVersion(told.Until), nil
	}
	return peer.Serve(ctx, peer.Commands{
		"sync":   sync,
		"follow": follow,
		"get":    getter(objects),
		"label":  lister(objects, client.MatchingLabels{"batch": "b-0"}),
		"index":  lister(objects, client.MatchingFields{"spec.pool": "p-0"}),
	})
}

// getter reads one object after the other.
func getter(objects cache.Cache) func(context.Context, peer.Command) (peer.Facts, error) {
	var keys []client.ObjectKey
	return func(ctx context.Context, told peer.Command) (peer.Facts, error) {
		if keys == nil {
			var all peer.WidgetList
			if err := objects.List(ctx, &all); err != nil {
				return nil, err
			}
			for i := range all.Items {
				keys = append(keys, client.ObjectKeyFromObject(&all.Items[i]))
			}
		}
		return peer.Timed(told.Seconds, func(number int) (int, error) {
			var widget peer.Widget
			return 1, objects.Get(ctx, keys[number%len(keys)], &widget)
		})
	}
}

func lister(objects cache.Cache, option client.ListOption) func(context.Context, peer.Command) (peer.Facts, error) {
	return func(ctx context.Context, told peer.Command) (peer.Facts, error) {
		return peer.Timed(told.Seconds, func(int) (int, error) {
			var found peer.WidgetList
			err := objects.List(ctx, &found, option)
			return len(found.Items), err
		})
	}
}
