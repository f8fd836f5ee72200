package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "apps.jicki.cn", Version: "v1alpha1"}

// PodSet is that of examples/podset. DeepCopy is written as controller-gen writes it.
type PodSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PodSetSpec   `json:"spec,omitempty"`
	Status            PodSetStatus `json:"status,omitempty"`
}

type PodSetSpec struct {
	Size int32 `json:"size"`
}

type PodSetStatus struct {
	Nodes []string `json:"nodes"`
}

type PodSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PodSet `json:"items"`
}

func addToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &PodSet{}, &PodSetList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
}

func (in *PodSet) DeepCopyInto(out *PodSet) {
	*out = *in
	out.TypeMeta = in.TypeMeta
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec = in.Spec
	if in.Status.Nodes != nil {
		out.Status.Nodes = make([]string, len(in.Status.Nodes))
		copy(out.Status.Nodes, in.Status.Nodes)
	}
}

func (in *PodSet) DeepCopy() *PodSet {
	if in == nil {
		return nil
	}
	out := new(PodSet)
	in.DeepCopyInto(out)
	return out
}

func (in *PodSet) DeepCopyObject() runtime.Object {
	return in.DeepCopy()
}

func (in *PodSetList) DeepCopyObject() runtime.Object {
	if in == nil {
		return nil
	}
	out := new(PodSetList)
	*out = *in
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	if in.Items != nil {
		out.Items = make([]PodSet, len(in.Items))
		for i := range in.Items {
			in.Items[i].DeepCopyInto(&out.Items[i])
		}
	}
	return out
}
