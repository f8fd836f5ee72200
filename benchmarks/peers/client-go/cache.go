package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/listers"
	"k8s.io/client-go/tools/cache"

	"peers/internal/peer"
)

// readAll serves the work with the cache: one informer with one handler, as a controller has it.
func readAll(ctx context.Context, informer cache.SharedIndexInformer) error {
	watched := peer.NewSeen()
	registered, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { watched.Take(object.(metav1.Object), 1) },
		UpdateFunc: func(_, object any) { watched.Take(object.(metav1.Object), 0) },
	})
	if err != nil {
		return err
	}
	sync := func(ctx context.Context, _ peer.Command) (peer.Facts, error) {
		go informer.RunWithContext(ctx)
		cache.WaitFor(ctx, "", registered.HasSyncedChecker())
		return watched.WaitForVersion(0), nil
	}
	follow := func(_ context.Context, told peer.Command) (peer.Facts, error) {
		return watched.WaitForVersion(told.Until), nil
	}
	return peer.Serve(ctx, peer.Commands{
		"sync":   sync,
		"follow": follow,
		"get":    getter(informer.GetIndexer()),
		"label":  lister(informer.GetIndexer()),
		"index":  indexed(informer.GetIndexer()),
	})
}

// listerOf is what lister-gen writes.
func listerOf(indexer cache.Indexer) listers.ResourceIndexer[*peer.Widget] {
	return listers.New[*peer.Widget](indexer, peer.GroupVersion.WithResource("widgets").GroupResource())
}

// getter reads one object after the other, each a copy.
func getter(indexer cache.Indexer) func(context.Context, peer.Command) (peer.Facts, error) {
	var keys []cache.ObjectName
	return func(_ context.Context, told peer.Command) (peer.Facts, error) {
		if keys == nil {
			for _, object := range indexer.List() {
				keys = append(keys, cache.MetaObjectToName(object.(metav1.Object)))
			}
		}
		lister := listerOf(indexer)
		return peer.Timed(told.Seconds, func(number int) (int, error) {
			key := keys[number%len(keys)]
			found, err := listers.NewNamespaced(lister, key.Namespace).Get(key.Name)
			if err != nil {
				return 0, err
			}
			_ = found.DeepCopy()
			return 1, nil
		})
	}
}

// lister reads what has a label: it looks at all, without an index of labels.
func lister(indexer cache.Indexer) func(context.Context, peer.Command) (peer.Facts, error) {
	selector := labels.SelectorFromSet(labels.Set{"batch": "b-0"})
	return func(_ context.Context, told peer.Command) (peer.Facts, error) {
		return peer.Timed(told.Seconds, func(int) (int, error) {
			found, err := listerOf(indexer).List(selector)
			return len(copies(found)), err
		})
	}
}

func indexed(indexer cache.Indexer) func(context.Context, peer.Command) (peer.Facts, error) {
	return func(_ context.Context, told peer.Command) (peer.Facts, error) {
		return peer.Timed(told.Seconds, func(int) (int, error) {
			found, err := indexer.ByIndex(byPool, "p-0")
			widgets := make([]*peer.Widget, 0, len(found))
			for _, object := range found {
				widgets = append(widgets, object.(*peer.Widget))
			}
			return len(copies(widgets)), err
		})
	}
}

func copies(found []*peer.Widget) []*peer.Widget {
	copied := make([]*peer.Widget, 0, len(found))
	for _, widget := range found {
		copied = append(copied, widget.DeepCopy())
	}
	return copied
}
