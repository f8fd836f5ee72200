package main

import (
	"context"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// seen counts objects and remembers the last version that an event handler was told of.
type seen struct {
	mutex   sync.Mutex
	news    *sync.Cond
	objects int
	version int64
}

func newSeen() *seen {
	s := &seen{}
	s.news = sync.NewCond(&s.mutex)
	return s
}

func (s *seen) take(object any, added int) {
	version, _ := strconv.ParseInt(object.(client.Object).GetResourceVersion(), 10, 64)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.objects += added
	s.version = max(s.version, version)
	s.news.Broadcast()
}

func (s *seen) waitFor(version int64) facts {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for s.version < version {
		s.news.Wait()
	}
	return facts{"objects": s.objects}
}

// readAll serves the work with the cache: one informer with one handler, as a controller has it.
func readAll(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, object client.Object, withIndex bool) error {
	objects, err := cache.New(config, cache.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	watched := newSeen()
	var registered toolscache.ResourceEventHandlerRegistration
	sync := func(ctx context.Context, _ command) (facts, error) {
		if withIndex {
			pool := func(object client.Object) []string { return []string{object.(*Widget).Spec.Pool} }
			if err := objects.IndexField(ctx, &Widget{}, "spec.pool", pool); err != nil {
				return nil, err
			}
		}
		informer, err := objects.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, err
		}
		registered, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { watched.take(object, 1) },
			UpdateFunc: func(_, object any) { watched.take(object, 0) },
		})
		if err != nil {
			return nil, err
		}
		go func() { must(objects.Start(ctx)) }()
		toolscache.WaitForCacheSync(ctx.Done(), registered.HasSynced)
		return watched.waitFor(0), nil
	}
	follow := func(_ context.Context, told command) (facts, error) { return watched.waitFor(told.Until), nil }
	return serve(ctx, commands{
		"sync":   sync,
		"follow": follow,
		"get":    getter(objects),
		"label":  lister(objects, client.MatchingLabels{"batch": "b-0"}),
		"index":  lister(objects, client.MatchingFields{"spec.pool": "p-0"}),
	})
}

// getter reads one object after the other.
func getter(objects cache.Cache) func(context.Context, command) (facts, error) {
	var keys []client.ObjectKey
	return func(ctx context.Context, told command) (facts, error) {
		if keys == nil {
			var all WidgetList
			if err := objects.List(ctx, &all); err != nil {
				return nil, err
			}
			for i := range all.Items {
				keys = append(keys, client.ObjectKeyFromObject(&all.Items[i]))
			}
		}
		return timed(told.Seconds, func(number int) (int, error) {
			var widget Widget
			return 1, objects.Get(ctx, keys[number%len(keys)], &widget)
		})
	}
}

func lister(objects cache.Cache, option client.ListOption) func(context.Context, command) (facts, error) {
	return func(ctx context.Context, told command) (facts, error) {
		return timed(told.Seconds, func(int) (int, error) {
			var found WidgetList
			err := objects.List(ctx, &found, option)
			return len(found.Items), err
		})
	}
}
