// A peer of pyctrl's benchmarks: controller-runtime's cache, its typed reads, and its controller, with their defaults.
package main

import (
	"context"
	"flag"
	"log"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

func main() {
	server := flag.String("server", "", "URL of the API server")
	work := flag.String("work", "", "cache, reads or reconcile")
	kind := flag.String("kind", "widgets", "widgets or pods")
	_ = flag.String("lists", "stream", "the server says whether it streams lists")
	objects := flag.Int("objects", 0, "how many there are")
	workers := flag.Int("workers", 1, "MaxConcurrentReconciles")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	must(clientgoscheme.AddToScheme(scheme))
	must(addToScheme(scheme))
	config := &rest.Config{Host: *server}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if *work == "reconcile" {
		must(reconcileAll(ctx, config, scheme, *objects, *workers))
		return
	}
	var object client.Object = &Widget{}
	if *kind == "pods" {
		object = &corev1.Pod{}
	}
	must(readAll(ctx, config, scheme, object, *work == "reads"))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
