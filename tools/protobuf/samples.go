package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// sampled has every special type, and every group that kubectl sends as protobuf.
var sampled = []string{
	"v1 Pod", "v1 Namespace", "v1 Secret", "v1 ConfigMap", "v1 Service", "v1 Event", "v1 ResourceQuota", "v1 PersistentVolume",
	"v1 DeleteOptions", "v1 Binding", "apps/v1 ControllerRevision",
	"rbac.authorization.k8s.io/v1 ClusterRole", "policy/v1 PodDisruptionBudget", "policy/v1 Eviction",
	"authentication.k8s.io/v1 TokenRequest", "authentication.k8s.io/v1 SelfSubjectReview",
	"authentication.k8s.io/v1 TokenReview", "authorization.k8s.io/v1 SelfSubjectAccessReview",
	"autoscaling/v1 Scale", "autoscaling/v2 HorizontalPodAutoscaler", "coordination.k8s.io/v1 Lease",
	"networking.k8s.io/v1 Ingress", "resource.k8s.io/v1 ResourceSlice",
	"apiextensions.k8s.io/v1 CustomResourceDefinition", "apiregistration.k8s.io/v1 APIService",
}

// writeSamples writes each kind twice, with every field set and with none: its JSON and, in base64, its protobuf.
func writeSamples(scheme *runtime.Scheme) {
	var lines []string
	for _, name := range sampled {
		var version, kind string
		_, err := fmt.Sscanf(name, "%s %s", &version, &kind)
		check(err)
		of := schema.FromAPIVersionAndKind(version, kind)
		for _, filled := range []bool{true, false} {
			object, err := scheme.New(of)
			check(err)
			if filled {
				fill(reflect.ValueOf(object).Elem(), map[reflect.Type]int{})
			}
			object.GetObjectKind().SetGroupVersionKind(of)
			lines = append(lines, sample(scheme, object))
		}
	}
	printLines("[", lines, "]")
}

func sample(scheme *runtime.Scheme, object runtime.Object) string {
	encoded, err := runtime.Encode(protobuf.NewSerializer(scheme, scheme), object)
	check(err)
	return line(map[string]any{"json": object, "protobuf": base64.StdEncoding.EncodeToString(encoded)})
}

// fill sets every field to something that is not zero; a type that holds itself stays empty inside.
func fill(value reflect.Value, within map[reflect.Type]int) {
	if fillSpecial(value) {
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(value.Elem(), within)
	case reflect.Slice:
		count := 2
		if value.Type().Elem().Kind() == reflect.Struct {
			count = 1 // keeps the samples small
		}
		value.Set(reflect.MakeSlice(value.Type(), count, count))
		for index := range count {
			fill(value.Index(index), within)
		}
	case reflect.Map:
		key, element := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		fill(key, within)
		fill(element, within)
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(key, element)
	case reflect.Struct:
		fillStruct(value, within)
	case reflect.String:
		value.SetString("é")
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int32, reflect.Int64:
		value.SetInt(-300)
	case reflect.Float64:
		value.SetFloat(-0.5)
	case reflect.Uint8:
		value.SetUint(255)
	}
}

func fillStruct(value reflect.Value, within map[reflect.Type]int) {
	if within[value.Type()] == 1 {
		return
	}
	within[value.Type()]++
	defer func() { within[value.Type()]-- }()
	for index := range value.NumField() {
		if field := value.Type().Field(index); field.Tag.Get("protobuf") != "" {
			fill(value.Field(index), within)
		}
	}
}

func fillSpecial(value reflect.Value) bool {
	moment := time.Date(2024, 2, 29, 12, 34, 56, 7008000, time.UTC)
	switch into := value.Addr().Interface().(type) {
	case *meta.Time:
		into.Time = moment.Truncate(time.Second)
	case *meta.MicroTime:
		into.Time = moment
	case *meta.FieldsV1:
		into.SetRawString(`{"f:spec":{}}`)
	case *runtime.RawExtension:
		into.Raw = []byte(`{"a":[1,null]}`)
	case *apiextensions.JSON:
		into.Raw = []byte(`{"b":"c"}`)
	case *resource.Quantity:
		*into = resource.MustParse("1500m")
	case *intstr.IntOrString:
		*into = intstr.FromString("25%")
	case *json.RawMessage:
		*into = json.RawMessage(`{}`)
	default:
		return false
	}
	return true
}
