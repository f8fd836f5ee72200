package main

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// PodSetReconciler has a Deployment of the PodSet's size, and the names of its pods in the status. It is built like the
// example of kubebuilder's Getting Started and the operator tutorials that have PodSets: read, create what is not
// there, update what differs, and write the status only when it changed. Without their requeue after each write, since
// what was written comes back as an event; and with the pods' own events, since the status has their names.
type PodSetReconciler struct {
	client.Client
	scheme  *runtime.Scheme
	arrived *arrivals
}

// byPodSet is an index of pods, as kubebuilder's tutorial has one of Jobs: with labels only, the cache would look
// through all pods of the namespace for each list.
const byPodSet = "podset"

func podSetOf(pod client.Object) string {
	return pod.GetLabels()["podSet_cr"]
}

func labelsFor(name string) map[string]string {
	return map[string]string{"app": "podSet", "podSet_cr": name}
}

// Reconcile reads from the cache, and writes what differs.
func (r *PodSetReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var podset PodSet
	if err := r.Get(ctx, request.NamespacedName, &podset); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	r.arrived.note(&podset)
	if !podset.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	if err := r.scale(ctx, &podset); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.report(ctx, &podset)
}

func (r *PodSetReconciler) scale(ctx context.Context, podset *PodSet) error {
	var deployment appsv1.Deployment
	err := r.Get(ctx, client.ObjectKeyFromObject(podset), &deployment)
	if apierrors.IsNotFound(err) {
		wanted := deploymentFor(podset)
		if err := controllerutil.SetControllerReference(podset, wanted, r.scheme); err != nil {
			return err
		}
		log.FromContext(ctx).Info("created deployment", "replicas", podset.Spec.Size)
		return r.Create(ctx, wanted)
	}
	if err != nil {
		return err
	}
	if *deployment.Spec.Replicas == podset.Spec.Size {
		return nil
	}
	deployment.Spec.Replicas = &podset.Spec.Size
	log.FromContext(ctx).Info("scaled deployment", "replicas", podset.Spec.Size)
	return r.Update(ctx, &deployment)
}

func (r *PodSetReconciler) report(ctx context.Context, podset *PodSet) error {
	var pods corev1.PodList
	err := r.List(ctx, &pods, client.InNamespace(podset.Namespace), client.MatchingFields{byPodSet: podset.Name})
	if err != nil {
		return err
	}
	names := []string{}
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp.IsZero() {
			names = append(names, pods.Items[i].Name)
		}
	}
	slices.Sort(names)
	if slices.Equal(names, podset.Status.Nodes) {
		return nil
	}
	podset.Status.Nodes = names
	return r.Status().Update(ctx, podset)
}

func deploymentFor(podset *PodSet) *appsv1.Deployment {
	labels := labelsFor(podset.Name)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: podset.Name, Namespace: podset.Namespace},
		Spec: appsv1.DeploymentSpec{
			Replicas: &podset.Spec.Size,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name:    "podset",
					Image:   "busybox",
					Command: []string{"sleep", "3600"},
					Ports:   []corev1.ContainerPort{{Name: "podset", ContainerPort: 1234}},
				}}},
			},
		},
	}
}

// setUp has no predicates, as the scaffold has none: GenerationChangedPredicate would spare the reconcile after each
// write of the status, and hide changes of annotations, by which latency is measured.
func (r *PodSetReconciler) setUp(manager ctrl.Manager, workers int) error {
	index := func(pod client.Object) []string { return []string{podSetOf(pod)} }
	if err := manager.GetFieldIndexer().IndexField(context.Background(), &corev1.Pod{}, byPodSet, index); err != nil {
		return err
	}
	request := func(_ context.Context, pod client.Object) []reconcile.Request {
		name := podSetOf(pod)
		if name == "" {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}}}
	}
	return ctrl.NewControllerManagedBy(manager).
		For(&PodSet{}).
		Owns(&appsv1.Deployment{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(request)).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(r)
}
