package engine

import (
	"context"

	"weir/engine/set"
)

// Digest compiles a module and gives its digest, the one that a set pins. Nothing of it runs. Of cfg it uses Host and Bundled;
// the errors are those of [Open].
func Digest(ctx context.Context, cfg Config, x *set.Extension) (string, error) {
	e := &Engine{cfg: cfg}
	module, err := e.compile(ctx, x, hostLimits(x.Limits))
	if err != nil {
		return "", err
	}
	return module.Digest(), nil
}
