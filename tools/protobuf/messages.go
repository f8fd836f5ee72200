package main

import (
	"encoding/json"
	"fmt"
	"log"
	"reflect"
	"sort"
	"strconv"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// special are types whose JSON is not that of their fields.
var special = map[reflect.Type]string{
	reflect.TypeFor[meta.Time]():            "time",
	reflect.TypeFor[meta.MicroTime]():       "microtime",
	reflect.TypeFor[meta.FieldsV1]():        "json",
	reflect.TypeFor[runtime.RawExtension](): "json",
	reflect.TypeFor[apiextensions.JSON]():   "json",
	reflect.TypeFor[resource.Quantity]():    "quantity",
	reflect.TypeFor[intstr.IntOrString]():   "intorstring",
}

// unions are written as one of their fields; the reader knows which.
var unions = map[reflect.Type]bool{
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrArray]():       true,
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrBool]():        true,
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrStringArray](): true,
}

type message interface{ Unmarshal(data []byte) error }

// kindsIn gives the kinds that may be the body of a request: no lists, and of options only DeleteOptions.
func kindsIn(scheme *runtime.Scheme, served map[schema.GroupVersion]bool) map[schema.GroupVersionKind]reflect.Type {
	found := map[schema.GroupVersionKind]reflect.Type{}
	for kind, of := range scheme.AllKnownTypes() {
		_, is := reflect.New(of).Interface().(message)
		name := kind.Kind
		skipped := strings.HasSuffix(name, "List") || strings.HasSuffix(name, "Options") || name == "WatchEvent"
		if is && served[kind.GroupVersion()] && !skipped {
			found[kind] = of
		}
	}
	for _, group := range []schema.GroupVersion{{Version: "v1"}, meta.SchemeGroupVersion} {
		found[group.WithKind("DeleteOptions")] = reflect.TypeFor[meta.DeleteOptions]()
	}
	return found
}

func writeMessages(kinds map[schema.GroupVersionKind]reflect.Type) {
	book := messages{}
	var entries []string
	for kind, of := range kinds {
		version, name := kind.ToAPIVersionAndKind()
		entries = append(entries, fmt.Sprintf("%s:%s", line(version+" "+name), line(book.add(of))))
	}
	sort.Strings(entries)
	var described []string
	for name, fields := range book {
		described = append(described, fmt.Sprintf("%s:%s", line(name), line(fields)))
	}
	sort.Strings(described)
	printLines(`{"kinds":{`, entries, "},")
	printLines(`"messages":{`, described, "}}")
}

// messages describe each message by its fields, "NUMBER NAME [list|map|inline] TYPE[?]" with commas between;
// a field that ends in "?" is left out of JSON when it is zero, which Go never does to a struct.
type messages map[string]string

func (book messages) add(of reflect.Type) string {
	name := messageName(of)
	if _, known := book[name]; known {
		return name
	}
	book[name] = "" // before its fields, which may be of this type
	if _, own := reflect.New(of).Interface().(json.Marshaler); own && !unions[of] {
		log.Fatalf("%v has a JSON of its own that the reader does not know", of)
	}
	var fields []string
	for index := range of.NumField() {
		field := of.Field(index)
		if tag := field.Tag.Get("protobuf"); tag != "" && field.Tag.Get("json") != "-" {
			fields = append(fields, book.field(field, strings.Split(tag, ",")))
		}
	}
	book[name] = strings.Join(fields, ",")
	return name
}

func (book messages) field(field reflect.StructField, tag []string) string {
	number, err := strconv.Atoi(tag[1])
	check(err)
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	of, pointer := field.Type, field.Type.Kind() == reflect.Pointer
	if pointer {
		of = of.Elem()
	}
	if name == "" && options == "inline" {
		return fmt.Sprintf("%d - inline %s", number, book.add(of))
	}
	if name == "" {
		name = strings.TrimPrefix(tag[3], "name=")
	}
	text := fmt.Sprintf("%d %s %s", number, name, book.shape(of))
	_, isMessage := book[text[strings.LastIndex(text, " ")+1:]]
	if strings.Contains(options, "omitempty") && !pointer && (!isMessage || of.Kind() != reflect.Struct) {
		text += "?"
	}
	return text
}

// shape names a type, with list or map before it; a named slice of strings is a message of its own.
func (book messages) shape(of reflect.Type) string {
	_, isMessage := reflect.New(of).Interface().(message)
	switch {
	case special[of] != "":
		return special[of]
	case of.Kind() == reflect.Slice && isMessage && of.Elem().Kind() == reflect.String:
		return "strings"
	case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Uint8:
		return "bytes"
	case of.Kind() == reflect.Slice:
		return "list " + book.shape(of.Elem())
	case of.Kind() == reflect.Map && of.Key().Kind() == reflect.String:
		return "map " + book.shape(of.Elem())
	case of.Kind() == reflect.Struct && isMessage:
		return book.add(of)
	}
	scalars := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "bool", reflect.Float64: "double",
		reflect.Int32: "int", reflect.Int64: "int",
	}
	if scalars[of.Kind()] == "" {
		log.Fatalf("no way to describe %v", of)
	}
	return scalars[of.Kind()]
}

// messageName is short and tells groups apart: core.v1.Pod, meta.v1.ObjectMeta.
func messageName(of reflect.Type) string {
	path := strings.Split(of.PkgPath(), "/")
	return strings.Join(append(path[max(0, len(path)-2):], of.Name()), ".")
}
