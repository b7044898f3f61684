package main

import (
	"slices"
	"strconv"
	"strings"

	weir "weir/guest-sdk/go"
)

// facts answers what the host found out about a call.
func facts(f weir.Facts, of string) string {
	var lines []string
	truncated := false
	switch of {
	case "shell":
		shell, ok := f.Shell()
		if !ok {
			return "none"
		}
		lines = []string{shell.Reason}
		if shell.Understood {
			lines[0] = "understood"
		}
		for _, c := range shell.Commands {
			lines = append(lines, commandLine(c))
		}
	case "paths":
		paths, ok := f.Paths()
		if !ok {
			return "none"
		}
		lines, truncated = []string{orDash(paths.Workspace)}, paths.Truncated
		for _, p := range paths.Paths {
			lines = append(lines, strings.Join([]string{p.Op, orDash(p.Kind), letters("ioegd", p.Inside, p.Own, p.Exists, p.Glob, p.Dynamic), orDash(p.Real)}, " "))
		}
	case "net":
		net, ok := f.Net()
		if !ok {
			return "none"
		}
		truncated = net.Truncated
		for _, h := range net.Hosts {
			lines = append(lines, strings.Join([]string{orDash(h.Scheme), orDash(h.Host), strconv.Itoa(h.Port), letters("uaod", h.Userinfo, h.IP, h.Odd, h.Dynamic), orDash(h.Scope)}, " "))
		}
	case "secrets":
		secrets, ok := f.Secrets()
		if !ok {
			return "none"
		}
		truncated = secrets.Truncated
		for _, s := range secrets.Spans {
			lines = append(lines, span(s, s.Kind))
		}
		for _, s := range secrets.Base64 {
			lines = append(lines, span(s, "base64"))
		}
	}
	if truncated {
		lines = append(lines, "truncated")
	}
	return orDash(strings.Join(lines, "\n"))
}

func commandLine(c weir.ShellCommand) string {
	words := slices.Clone(c.Argv)
	for i := range words {
		if _, known := c.Word(i); !known {
			words[i] = "?"
		}
	}
	var redirects []string
	for _, r := range c.Redirects {
		redirects = append(redirects, r.Op+" "+r.Target)
	}
	parts := []string{orDash(strings.Join(words, " ")), orDash(strings.Join(redirects, ",")), orDash(strings.Join(c.In, "/")), orDash(c.Code)}
	if c.Dynamic {
		parts = append(parts, "dynamic")
	}
	return strings.Join(parts, " | ")
}

func span(s weir.Span, kind string) string {
	return strings.Join([]string{strconv.Itoa(s.Block), strconv.Itoa(s.Start), strconv.Itoa(s.End), kind}, " ")
}

// letters are those of all that are set.
func letters(all string, set ...bool) string {
	text := ""
	for i, is := range set {
		if is {
			text += all[i : i+1]
		}
	}
	return orDash(text)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
