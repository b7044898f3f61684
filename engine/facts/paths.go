package facts

type Paths struct{}

func (p *Paths) appendJSON(b []byte) []byte { return append(b, `{"paths":[]}`...) }
func (e *Event) Paths() *Paths              { return &Paths{} }
func (c *Computer) resolveConfig()          {}

type Net struct{}

func (p *Net) appendJSON(b []byte) []byte { return append(b, `{"hosts":[]}`...) }
func (e *Event) Net() *Net                { return &Net{} }

type Secrets struct{}

func (p *Secrets) appendJSON(b []byte) []byte { return append(b, `{"spans":[],"base64":[]}`...) }
func (e *Event) Secrets() *Secrets            { return &Secrets{} }
