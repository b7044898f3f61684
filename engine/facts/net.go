package facts

import (
	"net/netip"
	"path"
	"strconv"
	"strings"

	"weir/engine/wire"
)

// maxHosts is how many hosts of one event are listed; a host that comes again is listed once.
const maxHosts = 256

// Net are the hosts that an event names. See the package documentation for the JSON.
type Net struct {
	Hosts     []Host
	Truncated bool
}

// Host is a host with how it was named.
type Host struct {
	Raw      string
	Scheme   string
	Name     string // "host" in the JSON
	Port     int
	Userinfo bool
	IP       bool
	Odd      bool // an address in an unusual form
	Scope    string
	Dynamic  bool
}

// Net gives the hosts in the arguments: in a command's words, else in any text argument but those that hold file content.
func (e *Event) Net() *Net {
	n := &hostFinder{out: &Net{}}
	args := e.arguments()
	for _, name := range args.names {
		s, isText := args.text(name)
		switch {
		case isText && name == "command":
			n.shell(e.Shell())
		case name == "content" || name == "edits" || name == "oldText" || name == "newText":
		case isText && strings.Contains(s, "://"):
			n.urls(s, false)
		case isText && (name == "host" || name == "hostname" || name == "domain"):
			n.host(s, "", s, false)
		default:
			for _, s := range args.lists[name] {
				n.urls(s, false)
			}
		}
	}
	return n.out
}

type hostFinder struct {
	out  *Net
	seen map[string]bool
}

func (n *hostFinder) add(h Host) {
	key := h.Raw + "\x00" + h.Name
	if n.seen[key] {
		return
	}
	if len(n.out.Hosts) == maxHosts {
		n.out.Truncated = true
		return
	}
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	n.seen[key] = true
	n.out.Hosts = append(n.out.Hosts, h)
}

// shell looks through the words of commands. Text that is printed or committed is data.
func (n *hostFinder) shell(s *Shell) {
	for i := range s.Commands {
		c := &s.Commands[i]
		for _, r := range c.Redirects {
			n.device(r.Target)
		}
		for _, a := range c.Assigns {
			n.urls(a.Value.Text, a.Value.Dynamic)
		}
		if len(c.Argv) == 0 {
			continue
		}
		name := path.Base(c.Argv[0].Text)
		switch name {
		case "echo", "printf", "grep", "rg", "sed", "awk":
			continue
		}
		if name == "git" && len(c.Argv) > 1 && (c.Argv[1].Text == "commit" || c.Argv[1].Text == "tag" || c.Argv[1].Text == "log") {
			continue
		}
		operands, value := 0, false
		spec, _ := wrapper(name) // ssh's options
		for _, w := range c.Argv[1:] {
			if value {
				value = false
				continue
			}
			if strings.Contains(w.Text, "://") {
				n.urls(w.Text, w.Dynamic)
				continue
			}
			n.device(w)
			if strings.HasPrefix(w.Text, "-") || strings.Trim(w.Text, "0123456789") == "" { // numbers are ports
				value = name == "ssh" && len(w.Text) == 2 && strings.Contains(spec.letters, w.Text[1:])
				continue
			}
			operands++
			n.operand(name, operands, w)
		}
	}
}

// operand is a word without scheme: programs that take hosts bare have them in known places.
func (n *hostFinder) operand(name string, at int, w Word) {
	switch name {
	case "ssh", "telnet", "nc", "ncat", "netcat", "ping", "ping6", "dig", "host", "nslookup", "traceroute", "whois", "ftp", "mosh":
		if at == 1 && !strings.ContainsAny(w.Text, "/=") {
			n.host(w.Text, "", w.Text, w.Dynamic)
		}
	case "curl", "wget", "http", "https", "xh", "aria2c":
		if hasHostShape(w.Text) {
			n.host(w.Text, "http", cutHost(w.Text), w.Dynamic)
		}
	case "scp", "rsync", "git", "sftp":
		if host, _, ok := strings.Cut(w.Text, ":"); ok && remote(w.Text) {
			n.host(w.Text, "", host, w.Dynamic)
		} else if name == "sftp" && at == 1 {
			n.host(w.Text, "", w.Text, w.Dynamic)
		}
	case "socat":
		kind, rest, ok := strings.Cut(w.Text, ":")
		if ok && (strings.HasPrefix(strings.ToLower(kind), "tcp") || strings.HasPrefix(strings.ToLower(kind), "udp") || strings.EqualFold(kind, "openssl")) && !strings.Contains(strings.ToLower(kind), "listen") {
			rest, _, _ = strings.Cut(rest, ",")
			n.host(w.Text, "", rest, w.Dynamic)
		}
	}
}

// device is bash's /dev/tcp/HOST/PORT.
func (n *hostFinder) device(w Word) {
	rest, ok := strings.CutPrefix(w.Text, "/dev/tcp/")
	scheme := "tcp"
	if !ok {
		rest, ok = strings.CutPrefix(w.Text, "/dev/udp/")
		scheme = "udp"
	}
	if !ok {
		return
	}
	host, port, _ := strings.Cut(rest, "/")
	n.host(w.Text, scheme, host+":"+port, w.Dynamic)
}

func cutHost(s string) string {
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		return s[:i]
	}
	return s
}

// hasHostShape says whether a word without scheme is a host rather than a file: example.com/x, localhost:8080, an address.
func hasHostShape(s string) bool {
	host := cutHost(s)
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	name, port, hasPort := strings.Cut(host, ":")
	if hasPort && port != "" && strings.Trim(port, "0123456789") == "" {
		return name != ""
	}
	if strings.HasPrefix(host, "[") || name == "localhost" {
		return true
	}
	if _, ok := oddIPv4(name); ok {
		return strings.Contains(name, ".") || len(name) > 6
	}
	dot := strings.LastIndexByte(name, '.')
	return dot > 0 && len(name)-dot > 2 && host != s || dot > 0 && strings.Count(name, ".") > 0 && isTopLevel(name[dot+1:])
}

// isTopLevel knows the top-level names that are not also endings of files.
func isTopLevel(s string) bool {
	switch strings.ToLower(s) {
	case "com", "org", "net", "io", "dev", "app", "ai", "co", "edu", "gov", "de", "uk", "fr", "eu", "us", "info", "xyz", "me", "site", "online", "cloud", "internal", "local":
		return true
	}
	return false
}

// urls finds SCHEME://… in a text.
func (n *hostFinder) urls(s string, dynamic bool) {
	for from := 0; ; {
		at := strings.Index(s[from:], "://")
		if at < 0 {
			return
		}
		at += from
		start := at
		for start > 0 && isSchemeByte(s[start-1]) {
			start--
		}
		end := at + 3
		for end < len(s) && strings.IndexByte(" \t\r\n\"'<>`|\\^{}", s[end]) < 0 {
			end++
		}
		if start < at {
			scheme := strings.ToLower(s[start:at])
			authority := cutHost(s[at+3 : end])
			n.host(s[start:end], scheme, authority, dynamic)
		}
		from = end
	}
}

func isSchemeByte(c byte) bool {
	l := c | 0x20
	return l >= 'a' && l <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'
}

// host normalises USER@HOST:PORT.
func (n *hostFinder) host(raw, scheme, authority string, dynamic bool) {
	h := Host{Raw: raw, Scheme: scheme, Dynamic: dynamic}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		h.Userinfo = true
		authority = authority[at+1:]
	}
	name, port := authority, ""
	if strings.HasPrefix(name, "[") {
		end := strings.IndexByte(name, ']')
		if end < 0 {
			return
		}
		port = strings.TrimPrefix(name[end+1:], ":")
		name = name[1:end]
	} else if strings.Count(name, ":") == 1 {
		name, port, _ = strings.Cut(name, ":")
	}
	h.Port = defaultPort(scheme)
	if p, err := strconv.ParseUint(port, 10, 16); err == nil {
		h.Port = int(p)
	}
	name = strings.ToLower(unescape(name))
	name = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".").Replace(name) // what browsers and curl take for dots
	name = strings.TrimRight(name, ".")
	if name == "" {
		return
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		var ok bool
		if addr, ok = oddIPv4(name); ok {
			err, h.Odd = nil, true
		}
	}
	if err == nil {
		if addr.Is4In6() {
			addr, h.Odd = addr.Unmap(), true
		}
		addr = addr.WithZone("")
		h.IP, h.Name, h.Scope = true, addr.String(), scope(addr)
		n.add(h)
		return
	}
	h.Name = punycode(name)
	if h.Name == "localhost" || strings.HasSuffix(h.Name, ".localhost") {
		h.Scope = "loopback"
	}
	n.add(h)
}

func defaultPort(scheme string) int {
	switch scheme {
	case "http", "ws":
		return 80
	case "https", "wss":
		return 443
	case "ftp":
		return 21
	case "ssh", "git+ssh", "sftp":
		return 22
	case "git":
		return 9418
	}
	return 0
}

func scope(a netip.Addr) string {
	switch {
	case a.IsUnspecified():
		return "unspecified"
	case a.IsLoopback():
		return "loopback"
	case a.IsLinkLocalUnicast():
		return "linklocal"
	case a.IsMulticast():
		return "multicast"
	case a.IsPrivate():
		return "private"
	}
	return "public"
}

// oddIPv4 reads what inet_aton(3) takes: one to four parts, each decimal, octal or hexadecimal, the last filling what is left.
// The usual form is not odd and not read here.
func oddIPv4(s string) (netip.Addr, bool) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, p := range parts {
		if p == "" || p[0] < '0' || p[0] > '9' || strings.ContainsRune(p, '_') {
			return netip.Addr{}, false
		}
		base := 10
		switch {
		case strings.HasPrefix(p, "0x"):
			p, base = p[2:], 16
		case len(p) > 1 && p[0] == '0':
			base = 8
		}
		v, err := strconv.ParseUint(p, base, 32)
		if err != nil {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			if v > 255 {
				return netip.Addr{}, false
			}
			value = value<<8 | v
			continue
		}
		bits := 8 * (5 - len(parts))
		if v >= 1<<bits {
			return netip.Addr{}, false
		}
		value = value<<bits | v
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// unescape resolves %XX in a host.
func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(v))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

func (n *Net) appendJSON(b []byte) []byte {
	b = append(b, `{"hosts":[`...)
	for i := range n.Hosts {
		if i > 0 {
			b = append(b, ',')
		}
		h := &n.Hosts[i]
		b = append(b, `{"raw":`...)
		b = wire.AppendString(b, h.Raw)
		b = append(b, `,"scheme":`...)
		b = wire.AppendString(b, h.Scheme)
		b = append(b, `,"host":`...)
		b = wire.AppendString(b, h.Name)
		b = append(b, `,"port":`...)
		b = strconv.AppendInt(b, int64(h.Port), 10)
		b = append(b, `,"userinfo":`...)
		b = strconv.AppendBool(b, h.Userinfo)
		b = append(b, `,"ip":`...)
		b = strconv.AppendBool(b, h.IP)
		b = append(b, `,"odd":`...)
		b = strconv.AppendBool(b, h.Odd)
		b = append(b, `,"scope":`...)
		b = wire.AppendString(b, h.Scope)
		if h.Dynamic {
			b = append(b, `,"dynamic":true`...)
		}
		b = append(b, '}')
	}
	b = append(b, ']')
	if n.Truncated {
		b = append(b, `,"truncated":true`...)
	}
	return append(b, '}')
}
