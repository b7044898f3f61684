package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir/engine"
	"weir/engine/script"
	js "weir/guest-sdk/js"
	"weir/wasmhost"
)

func newPack(s streams) *cobra.Command {
	var out string
	var types bool
	cmd := &cobra.Command{
		Use:   "pack POLICY",
		Short: "Make a module of a policy in TypeScript or JavaScript",
		Long: "Bundles a policy (.ts, .mts, .js, .mjs) with the files that it imports and the engine that runs it into one module. It is\n" +
			"the same policy as when the file itself is given to `weir run -e` or named in a set; a module can be pinned and handed on.\n" +
			"The module is loaded and asked what it is before it is written. What looks like a mistake is shown as a warning.",
		Example: "  weir ext pack policy.ts -o policy.wasm\n  weir ext pack --types > weir.d.ts",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if types {
				if len(args) > 0 || out != "" {
					return usageError(errors.New("--types stands alone"))
				}
				_, err := fmt.Fprint(s.out, js.Types())
				return err
			}
			if len(args) == 0 {
				return usageError(errors.New("no policy is named"))
			}
			return pack(cmd.Context(), s, args[0], out)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write (default: the policy's name with .wasm, in this folder)")
	cmd.Flags().BoolVar(&types, "types", false, "print the type declarations of the module \"weir\" instead")
	return cmd
}

func pack(ctx context.Context, s streams, policy, out string) (err error) {
	name := strings.TrimSuffix(filepath.Base(policy), filepath.Ext(policy))
	if out == "" {
		out = name + ".wasm"
	}
	if !script.Is(policy) {
		return usageError(fmt.Errorf("%s: a policy ends in .ts, .mts, .js or .mjs", policy))
	}
	if script.Is(out) {
		return usageError(fmt.Errorf("--output %s: a module ends in .wasm", out))
	}
	bundle, err := script.Load(policy)
	if err != nil {
		return usageError(err)
	}
	for _, w := range bundle.Warnings() {
		fmt.Fprintln(s.err, printable("warning: "+w.Error()))
	}
	wasm, err := script.Pack(bundle)
	if err != nil {
		return usageError(err)
	}
	host, err := newHost(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close(ctx)) }()
	module, err := host.Compile(ctx, name, wasm, wasmhost.Limits{})
	if err != nil {
		return err
	}
	d, err := engine.Describe(ctx, name, module)
	if err != nil {
		return usageError(err)
	}
	if err := replaceFile(out, wasm); err != nil {
		return usageError(err)
	}
	asks := "no capabilities"
	if c := module.Capabilities(); len(c) > 0 {
		asks = "asks for " + strings.Join(c, ", ")
	}
	hooks := "no hooks"
	if len(d.Hooks) > 0 {
		hooks = "hooks " + strings.Join(d.HookNames(), ", ")
	}
	fmt.Fprintln(s.out, printable(fmt.Sprintf("%s: %s %s, %s, %s, %d bytes\nsha256 %s", out, d.Name, d.Version, hooks, asks, len(wasm), module.Digest())))
	return nil
}

// replaceFile writes a file so that it appears whole or not at all.
func replaceFile(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, werr := tmp.Write(data)
	err = errors.Join(werr, tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
