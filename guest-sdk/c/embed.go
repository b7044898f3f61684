package c

import _ "embed"

//go:embed weir.h
var header string

// Header returns weir.h, for tools that copy it into a project.
func Header() string { return header }
