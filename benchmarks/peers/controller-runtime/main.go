// A peer of pyctrl's benchmarks: controller-runtime's cache, its typed reads, and its controller, with their defaults.
package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"peers/internal/peer"
)

func main() {
	told := peer.Parse()
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	peer.Must(clientgoscheme.AddToScheme(scheme))
	peer.Must(peer.AddToScheme(scheme))
	config := &rest.Config{Host: told.Server}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if told.Work == "reconcile" {
		peer.Must(reconcileAll(ctx, config, scheme, told))
		return
	}
	var object client.Object = &peer.Widget{}
	if told.Kind == "pods" {
		object = &corev1.Pod{}
	}
	peer.Must(readAll(ctx, config, scheme, object, told.Work == "reads"))
}
