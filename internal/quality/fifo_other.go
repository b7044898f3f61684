//go:build !unix

package main

import "errors"

func fifo(string) error { return errors.New("this system has no named pipes in folders") }
