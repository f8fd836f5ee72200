package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"peers/internal/peer"
)

// byPool is the index that the program makes.
const byPool = "pool"

func poolOf(object any) ([]string, error) {
	return []string{object.(*peer.Widget).Spec.Pool}, nil
}

// widgets is the client that client-gen writes for a custom resource, of all namespaces.
type widgets = *gentype.ClientWithList[*peer.Widget, *peer.WidgetList]

func newWidgets(config *rest.Config) (widgets, error) {
	scheme := runtime.NewScheme()
	if err := peer.AddToScheme(scheme); err != nil {
		return nil, err
	}
	configured := rest.CopyConfig(config)
	configured.GroupVersion = &peer.GroupVersion
	configured.APIPath = "/apis"
	configured.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(scheme, serializer.NewCodecFactory(scheme)).WithoutConversion()
	client, err := rest.RESTClientFor(configured)
	if err != nil {
		return nil, err
	}
	return gentype.NewClientWithList[*peer.Widget, *peer.WidgetList](
		"widgets",
		client,
		runtime.NewParameterCodec(scheme),
		metav1.NamespaceAll,
		func() *peer.Widget { return &peer.Widget{} },
		func() *peer.WidgetList { return &peer.WidgetList{} },
	), nil
}

// newWidgetInformer is what informer-gen writes.
func newWidgetInformer(client widgets, indexers cache.Indexers) cache.SharedIndexInformer {
	return cache.NewSharedIndexInformerWithOptions(
		cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return client.List(ctx, options)
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				return client.Watch(ctx, options)
			},
		}, client),
		&peer.Widget{},
		cache.SharedIndexInformerOptions{Indexers: indexers},
	)
}
