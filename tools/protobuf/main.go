// Writes down, for pyctrl's embedded API server, how the built-in kinds of Kubernetes look as protobuf.
//
//	cd tools/protobuf
//	go run . messages > ../../src/pyctrl/_schemas/protobuf.json
//	go run . samples > ../../tests/unit/apiserver/serializer/protobuf_samples.json
//
// The facts come from the struct tags of Kubernetes' own Go types, by reflection, for the kinds that
// src/pyctrl/_schemas describes. Needed only when go.mod moves to another release of Kubernetes.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

func main() {
	log.SetFlags(0)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		kubernetes.AddToScheme, apiextensions.AddToScheme, apiregistration.AddToScheme,
	} {
		check(add(scheme))
	}
	kinds := kindsIn(scheme, served("../../src/pyctrl/_schemas"))
	switch strings.Join(os.Args[1:], " ") {
	case "messages":
		writeMessages(kinds)
	case "samples":
		writeSamples(scheme)
	default:
		log.Fatal("say which: messages or samples")
	}
}

// served names the group versions that there are schemas for, as group_version.json files.
func served(directory string) map[schema.GroupVersion]bool {
	files, err := os.ReadDir(directory)
	check(err)
	found := map[schema.GroupVersion]bool{}
	for _, file := range files {
		group, version, ok := strings.Cut(strings.TrimSuffix(file.Name(), ".json"), "_")
		if !ok || !strings.HasSuffix(file.Name(), ".json") {
			continue
		}
		if group == "core" {
			group = ""
		}
		found[schema.GroupVersion{Group: group, Version: version}] = true
	}
	return found
}

// line writes one JSON value without a trailing newline, and without escaping what only HTML minds.
func line(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(value))
	return strings.TrimSuffix(text.String(), "\n")
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func printLines[T any](before string, lines []T, after string) {
	fmt.Println(before)
	for index, each := range lines {
		comma := ","
		if index == len(lines)-1 {
			comma = ""
		}
		fmt.Printf("%v%s\n", each, comma)
	}
	fmt.Println(after)
}
