package main

import (
	"context"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"peers/internal/peer"
)

// controller is the sample controller's, with nothing to do.
type controller struct {
	queue workqueue.TypedRateLimitingInterface[cache.ObjectName]
	done  *peer.Seen
}

func (c *controller) enqueue(object any) {
	name, err := cache.ObjectToName(object)
	peer.Must(err)
	c.queue.Add(name)
}

func (c *controller) runWorker(ctx context.Context) {
	for c.processNext(ctx) {
	}
}

func (c *controller) processNext(ctx context.Context) bool {
	name, isOver := c.queue.Get()
	if isOver {
		return false
	}
	defer c.queue.Done(name)
	if err := c.sync(ctx, name); err != nil {
		c.queue.AddRateLimited(name)
		return true
	}
	c.queue.Forget(name)
	return true
}

// sync is the reconcile: it does nothing and counts how often.
func (c *controller) sync(context.Context, cache.ObjectName) error {
	c.done.Count()
	return nil
}

// reconcileAll serves the work with a controller: all objects once, and then again after each has changed.
func reconcileAll(ctx context.Context, informer cache.SharedIndexInformer, told peer.Options) error {
	limiter := workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()
	c := &controller{queue: workqueue.NewTypedRateLimitingQueue(limiter), done: peer.NewSeen()}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, object any) { c.enqueue(object) },
	})
	if err != nil {
		return err
	}
	start := func(ctx context.Context, _ peer.Command) (peer.Facts, error) {
		go informer.RunWithContext(ctx)
		cache.WaitFor(ctx, "", informer.HasSyncedChecker())
		for range told.Workers {
			go c.runWorker(ctx)
		}
		return c.done.WaitForCount(told.Objects), nil
	}
	return peer.Serve(ctx, peer.Commands{
		"sync": start,
		"follow": func(context.Context, peer.Command) (peer.Facts, error) {
			return c.done.WaitForCount(2 * told.Objects), nil
		},
	})
}
