//go:build http

package main

import (
	"fmt"
	"sort"
	"strings"

	pdk "github.com/extism/go-pdk"
)

// fetch gets the URL of the input.
//
//go:wasmexport fetch
func fetch() int32 {
	resp := pdk.NewHTTPRequest(pdk.MethodGet, pdk.InputString()).SetHeader("X-Asked", "yes").Send()
	var names []string
	for name, value := range resp.Headers() {
		names = append(names, strings.ToLower(name)+"="+value)
	}
	sort.Strings(names)
	pdk.OutputString(fmt.Sprintf("%d %q %v", resp.Status(), resp.Body(), names))
	return 0
}
