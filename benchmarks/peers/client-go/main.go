// A peer of pyctrl's benchmarks: client-go's shared informer, lister and work queue, as its sample controller has them.
//
// Its defaults: GOGC 100, GOMAXPROCS all cores; asks for gzip; streams lists, else all at once; no resync. Pods come
// from the generated clientset and its informer factory, which ask for protobuf; widgets by JSON into typed structs,
// through what client-gen and informer-gen would write. Who reads copies, as one must before changing anything.
package main

import (
	"context"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"peers/internal/peer"
)

func main() {
	told := peer.Parse()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	config := &rest.Config{Host: told.Server}
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	if told.Work == "reads" {
		indexers[byPool] = poolOf
	}
	informer, err := informerOf(config, told.Kind, indexers)
	peer.Must(err)
	if told.Work == "reconcile" {
		peer.Must(reconcileAll(ctx, informer, told))
		return
	}
	peer.Must(readAll(ctx, informer))
}

func informerOf(config *rest.Config, kind string, indexers cache.Indexers) (cache.SharedIndexInformer, error) {
	if kind == "pods" {
		clientset, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		return informers.NewSharedInformerFactory(clientset, 0).Core().V1().Pods().Informer(), nil
	}
	widgets, err := newWidgets(config)
	if err != nil {
		return nil, err
	}
	return newWidgetInformer(widgets, indexers), nil
}
